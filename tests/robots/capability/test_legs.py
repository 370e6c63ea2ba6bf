"""Hips, knees and ankles."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.capability.excursion import largest_excursion
from balance.robots.capability.legs import bent_knees, legs

Array = NDArray[np.float64]


def stretch(robot: Robot, knee: int, angle: float) -> float:
    """Distance of hip and ankle of a leg with its knee at ``angle``, m."""
    q = robot.q_nominal.copy()
    q[robot.model.joints[knee].idx_q] = angle
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    hip = next(
        j for j in reversed(list(robot.model.supports[knee])[:-1])
        if np.linalg.norm(data.oMi[j].translation - data.oMi[knee].translation) > 0.1
    )  # fmt: skip
    shank = next(
        j for j in range(knee + 1, robot.model.njoints)
        if knee in list(robot.model.supports[j])
        and np.linalg.norm(data.oMi[j].translation - data.oMi[knee].translation) > 0.1
    )  # fmt: skip
    return float(np.linalg.norm(data.oMi[hip].translation - data.oMi[shank].translation))


def test_a_leg_is_longest_when_its_knee_is_straight(any_robot: Robot) -> None:
    for leg in legs(any_robot, any_robot.soles):
        longest = stretch(any_robot, leg.knee, leg.straight)
        for away in (-0.1, -0.02, 0.02, 0.1):
            assert stretch(any_robot, leg.knee, leg.straight + away) < longest
        assert longest == pytest.approx(leg.length, rel=0.01)


def test_knees_do_not_bend_the_other_way(any_robot: Robot) -> None:
    """iCub's could: its range goes beyond straight."""
    lower, upper = bent_knees(any_robot, any_robot.soles)
    nominal = any_robot.q_nominal[7:]
    assert (lower <= nominal + 1e-9).all() and (nominal <= upper + 1e-9).all()
    found = largest_excursion(any_robot, np.array([1.0, 0.0]), step=0.2)
    for leg in legs(any_robot, any_robot.soles):
        angle = found.q[any_robot.model.joints[leg.knee].idx_q]
        assert leg.bent * (angle - leg.straight) > -0.03  # rad, what a step may be off by
