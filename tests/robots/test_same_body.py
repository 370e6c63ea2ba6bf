"""Soles and toes: one body, two surfaces, one force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from balance.robots import Robot, load_robot
from balance.robots.same_body import SharedCorners, carries_foot, shared_corners

NAMES = ("left sole", "right sole", "right toe", "right knee")


def surfaces(robot: Robot) -> Robot:
    known = {surface.name: surface for surface in robot.surfaces}
    return replace(robot, soles=tuple(known[name] for name in NAMES))


@pytest.fixture(scope="module")
def robot() -> Robot:
    return surfaces(load_robot("toro"))


def tilted(robot: Robot) -> pin.Data:
    """Placements of a robot whose right foot is on its toes."""
    q = robot.q_nominal.copy()
    q[7 + robot.joint_names.index("right_ankle_pitch")] += 0.6
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    return data


def about_the_origin(robot: Robot, data: pin.Data, wrenches: np.ndarray) -> np.ndarray:
    """The sum of all wrenches at the world's origin, by hand."""
    total = np.zeros(6)
    for sole, wrench in zip(robot.soles, wrenches, strict=True):
        R = sole.axes(sole.pose(data).rotation)
        force, place = R @ wrench[:3], sole.pose(data).translation
        total[:3] += force
        total[3:] += R @ wrench[3:] + np.cross(place, force)
    return total


def test_toes_have_the_front_corners_of_the_sole_and_knees_share_nothing(robot: Robot) -> None:
    assert SharedCorners(robot).pairs == [(1, 2)]
    assert {(i, j) for i, _, j in shared_corners(robot)} == {(1, 2), (2, 1)}
    front = [corner for i, corner, _ in shared_corners(robot) if i == 1]
    assert sorted(front) == [0, 1]


@pytest.mark.parametrize("bears", [1, 2])
def test_the_one_that_is_meant_to_bear_has_all_of_the_force_and_nothing_is_lost(
    robot: Robot, bears: int
) -> None:
    data, rng = tilted(robot), np.random.default_rng(3)
    wrenches, bearing = rng.normal(size=(4, 6)), np.zeros(4)
    bearing[bears] = 1.0
    found = SharedCorners(robot).attribute(data, wrenches, bearing)
    assert (found[3 - bears] == 0.0).all()
    before, after = (about_the_origin(robot, data, one) for one in (wrenches, found))
    assert np.abs(after - before).max() < 1e-12
    assert (found[[0, 3]] == wrenches[[0, 3]]).all()


def test_where_neither_is_meant_to_bear_each_keeps_its_own(robot: Robot) -> None:
    wrenches = np.random.default_rng(4).normal(size=(4, 6))
    found = SharedCorners(robot).attribute(tilted(robot), wrenches, np.zeros(4))
    assert (found == wrenches).all()


def test_toes_are_of_a_body_with_a_foot_and_knees_and_hands_are_not(robot: Robot) -> None:
    legs = {surface.name for surface in robot.surfaces if carries_foot(robot, surface)}
    assert {"left toe", "right toe", "left sole"} <= legs
    assert not {"left knee", "right thigh", "left flat hand", "right fist"} & legs
