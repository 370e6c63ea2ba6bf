"""The orientation error and its spring, against Pinocchio's quaternions and logarithm."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from balance.control.parts.orientation import relative_quaternion, rotation_vector, spring_torque

Array = NDArray[np.float64]

EXACT = 1e-14
PAIRS = 500


def pairs() -> tuple[Array, Array]:
    """Unit quaternions of either sign, (PAIRS, 4) each."""
    rng = np.random.default_rng(11)
    desired, actual = Rotation.random(2 * PAIRS, rng=rng).as_quat().reshape(2, PAIRS, 4)
    return desired * rng.choice([-1.0, 1.0], (PAIRS, 1)), actual


def test_error_is_the_relative_rotation_with_a_non_negative_scalar() -> None:
    for desired, actual in zip(*pairs(), strict=True):
        delta, eps = relative_quaternion(desired, actual)
        R = pin.Quaternion(desired).matrix().T @ pin.Quaternion(actual).matrix()
        assert delta >= 0.0
        np.testing.assert_allclose(pin.Quaternion(np.append(eps, delta)).matrix(), R, atol=EXACT)
        np.testing.assert_allclose(rotation_vector(delta, eps), pin.log3(R), atol=1e-7)


def test_rotation_vector_is_accurate_near_zero() -> None:
    for angle in (0.0, 1e-13, 1e-9, 1e-4):
        eps = np.sin(0.5 * angle) * np.array([0.0, 0.6, 0.8])
        vector = rotation_vector(float(np.cos(0.5 * angle)), eps)
        np.testing.assert_allclose(vector, angle * np.array([0.0, 0.6, 0.8]), rtol=1e-12)


def test_spring_is_linear_in_small_angles_and_pulls_back() -> None:
    K_R = np.diag([500.0, 400.0, 100.0])
    angle = 1e-6 * np.array([1.0, -2.0, 3.0])
    delta, eps = relative_quaternion(
        np.array([0, 0, 0, 1.0]), pin.Quaternion(pin.exp3(angle)).coeffs()
    )
    np.testing.assert_allclose(spring_torque(K_R, delta, eps), -K_R @ angle, rtol=1e-5)
