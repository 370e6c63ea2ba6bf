"""The setpoint's way from posture to posture."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.control.phases.course import (
    COM_ACCELERATION,
    JOINT_RATE,
    Course,
    Quintic,
    SetpointTrack,
    StaticPosture,
)

STEP = 1e-5  # s, of finite differences


def posture(x: float, turn: float, joint: float) -> StaticPosture:
    rotation = pin.rpy.rpyToMatrix(0.0, turn, 0.3 * turn)
    return StaticPosture(np.array([x, 0.1 * x, 0.9]), rotation, 1.0 + x, np.array([joint, 0.2]))


def test_a_quintic_goes_on_from_the_motion_it_is_given_and_comes_to_rest() -> None:
    start, rate, bend, end = (np.array([value]) for value in (1.0, -2.0, 3.0, 4.0))
    path = Quintic(start, rate, bend, end, 0.7)
    assert np.allclose(np.ravel(path.at(0.0)), [1.0, -2.0, 3.0], atol=1e-12)
    assert np.allclose(np.ravel(path.at(0.7)), [4.0, 0.0, 0.0], atol=1e-12)
    assert np.allclose(np.ravel(path.at(0.7 - 1e-9)), [4.0, 0.0, 0.0], atol=1e-5)
    middle = [path.at(0.3 + step)[0][0] for step in (-STEP, 0.0, STEP)]
    assert path.at(0.3)[1][0] == pytest.approx((middle[2] - middle[0]) / (2 * STEP), rel=1e-6)


@pytest.mark.parametrize("time", [0.2, 0.9, 1.7])
def test_rates_of_a_course_are_the_differences_of_its_places(time: float) -> None:
    """Also after it was sent elsewhere on its way."""
    course = Course(posture(0.0, 0.0, 0.0))
    course.go(0.0, posture(0.2, 0.8, 1.0))
    course.go(0.6, posture(-0.1, -0.5, 0.4))
    if time < 0.6:
        course = Course(posture(0.0, 0.0, 0.0))
        course.go(0.0, posture(0.2, 0.8, 1.0))
    before, here, after = (course.at(time + step) for step in (-STEP, 0.0, STEP))
    assert np.allclose((after.com - before.com) / (2 * STEP), here.com_velocity, atol=1e-6)
    turned = pin.log3(after.rotation @ before.rotation.T) / (2 * STEP)
    assert np.allclose(turned, here.angular_velocity, atol=1e-6)
    joints = (course.joints_at(time + STEP)[0] - course.joints_at(time - STEP)[0]) / (2 * STEP)
    assert np.allclose(joints, course.joints_at(time)[1], atol=1e-6)


def test_a_course_that_is_sent_elsewhere_does_not_jump() -> None:
    course = Course(posture(0.0, 0.0, 0.0))
    course.go(0.0, posture(0.2, 0.0, 1.0))
    was, joints = course.at(0.5), course.joints_at(0.5)
    course.go(0.5, posture(-0.1, 0.6, 0.0))
    now = course.at(0.5)
    assert np.allclose(now.com, was.com, atol=1e-12)
    assert np.allclose(now.com_velocity, was.com_velocity, atol=1e-12)
    assert np.allclose(now.rotation, was.rotation, atol=1e-12)
    assert np.allclose(course.joints_at(0.5), joints, atol=1e-12)


def test_a_course_keeps_its_bounds_and_ends_at_its_goal() -> None:
    course, goal = Course(posture(0.0, 0.0, 0.0)), posture(0.3, 0.4, 1.5)
    course.go(1.0, goal)
    times = np.linspace(1.0, course.end, 400)
    fastest = max(np.abs(course.joints_at(time)[1]).max() for time in times)
    hardest = max(float(np.linalg.norm(course.at(time).com_acceleration)) for time in times)
    assert fastest <= JOINT_RATE * (1 + 1e-3) and hardest <= COM_ACCELERATION * (1 + 1e-3)
    end = course.at(course.end)
    assert np.allclose(end.com, goal.com) and np.allclose(end.rotation, goal.rotation)
    assert not end.moving and course.height_at(course.end) == pytest.approx(goal.height)


def test_a_track_tells_the_setpoint_of_the_last_step() -> None:
    course = Course(posture(0.0, 0.0, 0.0))
    course.go(0.0, posture(0.2, 0.0, 1.0))
    track = SetpointTrack(course.at(0.0))
    for index in range(5):
        track.add(0.1 * index, course.at(0.1 * index))
    assert track.at(0.2) is track.at(0.25) and track.at(9.0) is track.at(0.4)
    assert np.array_equal(track.at(0.3).com, course.at(0.30000000000000004).com)
