"""What legs allow a step to be."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.errors import RobotError
from balance.robots import Robot, load_robot
from balance.robots.capability import StepNumbers, step_numbers
from balance.robots.capability.flywheel import TOP_SPEED


@pytest.fixture(scope="module")
def steps(toro: Robot) -> StepNumbers:
    return step_numbers(toro)


def test_a_leg_is_as_long_as_its_thigh_and_shank(toro: Robot, steps: StepNumbers) -> None:
    data = toro.model.createData()
    pin.forwardKinematics(toro.model, data, toro.q_nominal)
    hip, knee, ankle = (
        data.oMi[toro.model.getJointId(name)].translation
        for name in ("left_hip_yaw", "left_knee", "left_ankle_roll")
    )
    length = np.linalg.norm(hip - knee) + np.linalg.norm(knee - ankle)
    assert steps.leg_length == pytest.approx(length, rel=0.02)
    assert steps.reach < 2.0 * steps.leg_length
    assert steps.narrowest < steps.widest


def test_a_foot_is_no_faster_than_straight_legs_at_top_speed(
    toro: Robot, steps: StepNumbers
) -> None:
    hip, knee = (
        TOP_SPEED * toro.rated_speeds[toro.joint_names.index(name)]
        for name in ("left_hip_pitch", "left_knee")
    )
    # Both joints turn the lower leg, the hip the whole one; the other leg moves the base.
    assert steps.foot_speed[0] < 2.0 * (hip * steps.leg_length + knee * 0.5 * steps.leg_length)
    assert steps.foot_speed[0] > hip * 0.5 * steps.leg_length
    np.testing.assert_allclose(steps.foot_speed, np.roll(steps.foot_speed, 4), rtol=1e-6)
    assert (steps.foot_acceleration > 10.0).all() and (steps.foot_acceleration < 100.0).all()


def test_left_and_right_are_told_apart(steps: StepNumbers) -> None:
    assert (steps.left, steps.right) == ("left sole", "right sole")


def test_a_robot_on_four_feet_takes_no_steps_here() -> None:
    with pytest.raises(RobotError, match="two feet; 'solo12' stands on 4"):
        step_numbers(load_robot("solo12"))
