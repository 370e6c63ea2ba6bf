"""Surfaces that may meet several faces: the floor, and the tops of objects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from balance.config import PlantConfig
from balance.robots import Robot, load_robot
from balance.robots.objects import WorldObject
from balance.simulation.plants import make_plant
from balance.simulation.plants.patches import ABSENT_M, Patches

BOX = WorldObject("box", pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.1])), (0.15, 0.3), 0.1)
AXES = np.eye(3)
CORNERS = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, -0.05, 0.0], [-0.1, 0.05, 0.0]])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return replace(load_robot("toro"), objects=(BOX,))


def points(centre: tuple[float, float, float]) -> np.ndarray:
    return np.concatenate([AXES, [centre], CORNERS + centre])


def heights(patches: Patches, centre: tuple[float, float, float]) -> list[float]:
    local = points(centre)
    patches.localise(local)
    return [round(float(z), 9) for z in local[4:, 2]]


def test_a_sole_meets_what_is_under_its_centre(robot: Robot) -> None:
    patches = Patches(robot, robot.soles[0])
    assert heights(patches, (0.0, 0.0, 0.02)) == [0.02] * 4
    assert heights(patches, (0.3, 0.0, 0.15)) == [0.05] * 4
    assert heights(patches, (0.0, 0.0, 0.15)) == [0.15] * 4


def test_a_sole_on_the_ground_stays_on_its_face(robot: Robot) -> None:
    """Slid over a box's edge it stands on nothing; it does not fall through to the floor."""
    patches = Patches(robot, robot.soles[0])
    assert heights(patches, (0.3, 0.0, 0.1)) == [0.0] * 4
    beyond = heights(patches, (0.1, 0.0, 0.1))
    assert beyond == [-0.0 + 0.0, 0.0, ABSENT_M, ABSENT_M]


def test_a_palm_meets_the_wall_that_it_faces_and_not_the_floor(robot: Robot) -> None:
    turned = pin.rpy.rpyToMatrix(0.0, -np.pi / 2, 0.0)
    wall = WorldObject("wall", pin.SE3(turned, np.array([0.6, 0.0, 1.0])), (0.5, 0.5), 0.04)
    palm = next(s for s in robot.surfaces if s.name == "right palm")
    patches = Patches(replace(robot, objects=(wall,)), palm)
    local = np.concatenate([turned.T, [[0.5, 0.0, 1.2]], CORNERS @ turned.T + [0.5, 0.0, 1.2]])
    patches.localise(local)
    assert np.allclose(local[4:, 2], 0.1, atol=1e-12)


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_a_robot_stands_with_a_foot_on_a_box(engine: str) -> None:
    """Put down on floor and box from 1 mm above, it bears its weight on both, and stays there."""
    robot = load_robot("toro")
    box = WorldObject("box", pin.SE3(np.eye(3), np.array([0.0, -0.113, 0.05])), (0.2, 0.1), 0.05)
    height = np.array([0.0, 0.05])
    q = robot.standing_posture(sole_heights=height)
    stiff = replace(robot, objects=(box,), q_nominal=q, in_turns=True)
    q_high = q.copy()
    q_high[2] += 1e-3
    plant = make_plant(PlantConfig(engine=engine, collisions="ground"), stiff)
    plant.reset(q_high, np.zeros(robot.model.nv))
    for _ in range(150):
        hold = 2000.0 * (q[7:] - plant.q[7:]) - 50.0 * plant.v[6:]
        plant.step(hold)
    total = plant.contact_wrenches[:, 2]
    assert (total > 0.15 * robot.mass * 9.81).all()
    assert total.sum() == pytest.approx(robot.mass * 9.81, rel=0.1)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, plant.q)
    assert [sole.pose(data).translation[2] for sole in robot.soles] == pytest.approx(
        height, abs=2e-3
    )
