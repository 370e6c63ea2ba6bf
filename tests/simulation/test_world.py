"""What stands around a robot, and that nothing is in anything when a run starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.config.paths import data_folder
from balance.errors import ConfigError
from balance.robots import Robot
from balance.robots.stance import robot_of
from balance.simulation.ground import ground_motion
from balance.simulation.mismatch import simulated_robot
from balance.simulation.world import FLOOR, PLATE_MARGIN_M, Obstacle, check_start, obstacles

TORO = sorted(path.stem for path in data_folder("configs").glob("toro_*.yaml"))


def standing(name: str) -> tuple[Robot, tuple[Obstacle, ...]]:
    config = load_config(name)
    robot = simulated_robot(robot_of(config), config)
    return robot, obstacles(robot, ground_motion(robot, config))


@pytest.mark.parametrize("name", TORO)
def test_shipped_experiments_start_with_nothing_in_anything(name: str) -> None:
    check_start(*standing(name), "all")


def test_a_hand_in_a_thigh_is_named_with_its_depth() -> None:
    robot, around = standing("toro_push")
    q = robot.q_nominal.copy()
    for joint, angle in {"left_shoulder_1": 0.4, "left_shoulder_2": -0.35}.items():
        q[robot.model.joints[robot.model.getJointId(joint)].idx_q] = angle
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    bent = replace(robot, q_nominal=q)
    with pytest.raises(ConfigError, match=r"starts with the body '\w+' in '\w+' by [\d.]+ mm"):
        check_start(bent, around, "all")
    check_start(bent, around, "ground")


def test_a_floor_through_the_feet_is_named_with_the_depth() -> None:
    robot, (floor, *_) = standing("toro_push")
    higher = replace(floor, pose=pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.012])))
    with pytest.raises(ConfigError, match=r"'\w+_foot' in the ground by 10 mm \(and 1 more\)"):
        check_start(robot, (higher,), "ground")
    check_start(robot, (higher,), "none")


def test_a_plate_through_the_trunk_is_named() -> None:
    robot, around = standing("toro_push")
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q_nominal)
    trunk = next(shape for shape in robot.shapes if shape.body == "trunk")
    middle = pin.SE3(np.eye(3), data.oMi[trunk.joint].act(trunk.placement.translation))
    plate = Obstacle("plate of left palm", middle, (0.1, 0.1))
    with pytest.raises(ConfigError, match=r"starts with the body '\w+' in the plate of left palm"):
        check_start(robot, (*around, plate), "ground")


def test_a_plate_lies_along_the_sole_that_is_on_it() -> None:
    robot, (floor, *plates) = standing("toro_slope")
    assert floor.name == FLOOR
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    for sole, plate in zip(robot.soles, plates, strict=True):
        pose = sole.pose(data)
        assert plate.surfaces == (sole.name,)
        np.testing.assert_allclose(plate.pose.translation, pose.translation, atol=1e-6)
        np.testing.assert_allclose(plate.pose.rotation, pose.rotation, atol=1e-6)
        sides = sole.half_length + PLATE_MARGIN_M, sole.half_width + PLATE_MARGIN_M
        assert plate.half_size == pytest.approx(sides)
