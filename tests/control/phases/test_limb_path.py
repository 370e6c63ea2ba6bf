"""The way of a limb to its next contact."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.control.phases.limb_path import SEEK_SPEED, LimbPath, OverWay, PostureWay
from balance.robots import load_robot

STEP = 1e-5  # s, of finite differences
FRAME = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.05, -0.02, 0.11]))
START = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, 0.2), np.array([0.0, 0.1, 0.0]))
ON_BOX = pin.SE3(np.eye(3), np.array([0.3, 0.1, 0.15]))
ON_WALL = pin.SE3(pin.rpy.rpyToMatrix(0.0, -np.pi / 2, 0.0), np.array([0.5, 0.1, 1.0]))


def path(goal: pin.SE3, clearance: float = 0.04, seeks: bool = True) -> LimbPath:
    return LimbPath(OverWay(START, goal, clearance, seeks), goal, 1.0, 2.0, FRAME, seeks)


def surface(one: LimbPath, time: float) -> pin.SE3:
    target = one.at(time)
    return pin.SE3(target.rotation, target.position) * FRAME.inverse()


@pytest.mark.parametrize("goal", [ON_BOX, ON_WALL])
def test_it_leads_from_start_to_goal_at_rest(goal: pin.SE3) -> None:
    one = path(goal)
    assert surface(one, 1.0).isApprox(START, 1e-9)
    assert surface(one, 3.0).isApprox(goal, 1e-9)
    for time in (1.0, 3.0):
        assert np.abs(one.at(time).velocity).max() < 1e-9


@pytest.mark.parametrize("time", [1.3, 1.85, 2.3, 3.4])
def test_velocity_and_acceleration_are_differences_of_the_way(time: float) -> None:
    one = path(ON_WALL)
    before, here, after = (one.at(time + step) for step in (-STEP, 0.0, STEP))
    linear = (after.position - before.position) / (2 * STEP)
    angular = pin.log3(after.rotation @ before.rotation.T) / (2 * STEP)
    assert np.allclose(np.append(linear, angular), here.velocity, atol=1e-6)
    bend = (after.velocity - before.velocity) / (2 * STEP)
    assert np.allclose(bend, here.acceleration, atol=1e-5)


def test_it_rises_before_it_crosses_the_edge_of_a_box() -> None:
    """Of a box whose side is 8 cm before the goal, nothing within 4 cm below the clearance."""
    one = path(ON_BOX, clearance=0.04)
    places = np.array([surface(one, time).translation for time in np.linspace(1.0, 3.0, 400)])
    over = places[:, 0] > 0.22 - 0.095  # its toe is past the side
    assert places[over, 2].min() > 0.15 - 1e-9 and places[:, 2].max() > 0.15 + 0.039


def test_it_goes_on_slowly_where_it_meets_nothing_and_stops_where_it_meets_something() -> None:
    one = path(ON_WALL)
    speed = one.at(4.5).velocity[:3]
    assert np.allclose(speed, -SEEK_SPEED * ON_WALL.rotation[:, 2], atol=1e-6)
    here = surface(one, 4.5)
    one.stop(here)
    assert surface(one, 9.0).isApprox(here, 1e-9) and one.stopped
    assert not one.at(9.0).moving


def test_a_limb_that_stays_in_the_air_seeks_nothing() -> None:
    one = path(ON_BOX, seeks=False)
    assert surface(one, 9.0).isApprox(ON_BOX, 1e-9)
    assert not one.descends(2.9) and path(ON_BOX).descends(2.9)


def test_a_hand_goes_where_its_joints_lead_it_and_keeps_clear_at_both_ends() -> None:
    robot = load_robot("toro")
    palm = next(surface for surface in robot.surfaces if surface.name == "right palm")
    goal = robot.q_nominal.copy()
    goal[robot.model.joints[robot.model.getJointId("right_elbow")].idx_q] = 1.5
    data, ends = robot.model.createData(), []
    for q in (robot.q_nominal, goal):
        pin.framesForwardKinematics(robot.model, data, q)
        ends.append(palm.pose(data))
    way = PostureWay(robot, palm, (robot.q_nominal, goal), ends[0], (0.0, 0.05))
    for s, end in zip((0.0, 1.0), ends, strict=True):
        motion = way.at(s)
        assert np.allclose(motion.place, end.translation, atol=1e-9)
        assert np.allclose(motion.rotation, end.rotation, atol=1e-9)
        assert np.abs(motion.velocity).max() < 1e-9
    plain = PostureWay(robot, palm, (robot.q_nominal, goal), ends[0], (0.0, 0.0))
    off = (way.at(0.6).place - plain.at(0.6).place) @ ends[1].rotation[:, 2]
    assert off == pytest.approx(0.05, abs=1e-9)
    step = (way.at(0.4 + 1e-6).place - way.at(0.4 - 1e-6).place) / 2e-6
    assert np.allclose(step, way.at(0.4).velocity, atol=1e-5)
