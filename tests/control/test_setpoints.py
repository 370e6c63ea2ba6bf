"""Setpoints move smoothly: their velocities and accelerations are those of their positions."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import SetpointConfig
from balance.control.parts.setpoints import SetpointPath, minimum_jerk

Array = NDArray[np.float64]

STEP = 1e-5  # s, of finite differences
FIRST, SECOND = 1e-8, 1e-4  # errors of first and second differences, relative to the path's size

COM, R_0 = np.array([0.01, 0.02, 0.9]), pin.rpy.rpyToMatrix(0.1, -0.2, 3.0)
MOVES = [
    SetpointConfig(
        time_s=0.5, duration_s=1.0, com_m=(0.03, -0.02, -0.05), base_rpy_rad=(0.1, 0.3, 0.5)
    ),
    SetpointConfig(
        time_s=2.0, duration_s=0.5, com_m=(0.0, 0.02, 0.0), base_rpy_rad=(-0.2, 0.0, 1.5)
    ),
]


@pytest.fixture(scope="module")
def path() -> SetpointPath:
    return SetpointPath(COM, R_0, MOVES[::-1])


TIMES = np.concatenate([np.linspace(0.5, 1.5, 41)[1:-1], np.linspace(2.0, 2.5, 41)[1:-1]])


@pytest.mark.parametrize("time", TIMES)
def test_velocity_and_acceleration_are_derivatives_of_the_position(
    path: SetpointPath, time: float
) -> None:
    before, here, after = (path.at(time + step) for step in (-STEP, 0.0, STEP))
    velocity = (after.com - before.com) / (2.0 * STEP)
    acceleration = (after.com - 2.0 * here.com + before.com) / STEP**2
    np.testing.assert_allclose(here.com_velocity, velocity, atol=FIRST)
    np.testing.assert_allclose(here.com_acceleration, acceleration, atol=SECOND)
    # World axes: R(t + h) = exp(h omega) R(t).
    omega = pin.log3(after.rotation @ before.rotation.T) / (2.0 * STEP)
    np.testing.assert_allclose(here.angular_velocity, omega, atol=1e-7)
    np.testing.assert_allclose(pin.Quaternion(here.quaternion).matrix(), here.rotation, atol=1e-12)


@pytest.mark.parametrize("time", [0.5, 1.5, 2.0, 2.5])
def test_path_joins_its_rests_without_a_jump(path: SetpointPath, time: float) -> None:
    """A minimum-jerk move starts and ends with neither velocity nor acceleration."""
    near = 1e-6
    before, after = path.at(time - near), path.at(time + near)
    np.testing.assert_allclose(after.com, before.com, atol=1e-15)
    np.testing.assert_allclose(after.rotation, before.rotation, atol=1e-14)
    np.testing.assert_allclose(after.com_velocity, before.com_velocity, atol=1e-10)
    np.testing.assert_allclose(after.com_acceleration, before.com_acceleration, atol=1e-4)
    np.testing.assert_allclose(after.angular_velocity, before.angular_velocity, atol=1e-9)


@pytest.mark.parametrize(("time", "move"), [(0.0, None), (1.7, 0), (9.0, 1)])
def test_rests_are_offsets_from_the_nominal_posture(
    path: SetpointPath, time: float, move: int | None
) -> None:
    offset = np.zeros(3) if move is None else np.array(MOVES[move].com_m)
    rpy = (0.0, 0.0, 0.0) if move is None else MOVES[move].base_rpy_rad
    desired = path.at(time)
    np.testing.assert_allclose(desired.com, COM + offset, atol=1e-15)
    np.testing.assert_allclose(desired.rotation, R_0 @ pin.rpy.rpyToMatrix(*rpy), atol=1e-15)
    for rate in (desired.com_velocity, desired.com_acceleration, desired.angular_velocity):
        assert not rate.any()
    assert not desired.moving


def test_minimum_jerk_runs_from_rest_to_rest() -> None:
    for s, position in ((0.0, 0.0), (1.0, 1.0)):
        assert minimum_jerk(s) == pytest.approx((position, 0.0, 0.0), abs=1e-15)
    assert minimum_jerk(0.5)[0] == pytest.approx(0.5, abs=1e-15)
