"""Quaternion algebra: the worked example of the notes, the group laws, Pinocchio's Lie group."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from balance.rotations import (
    get_chart,
    quaternion_from_matrix,
    quaternion_inverse,
    quaternion_left_matrix,
    quaternion_product,
    quaternion_right_matrix,
    quaternion_rotate,
    quaternion_to_matrix,
)

Array = NDArray[np.float64]

ROUND_OFF = 1e-14

unit_quaternions = (
    arrays(float, 4, elements=st.floats(-1.0, 1.0))
    .filter(lambda xi: np.linalg.norm(xi) > 1e-3)
    .map(lambda xi: xi / np.linalg.norm(xi))
)
vectors = arrays(float, 3, elements=st.floats(-10.0, 10.0))
laws = settings(deadline=None, derandomize=True, max_examples=200)


def test_a_vector_is_rotated_as_in_the_worked_example() -> None:
    """RobotDynamicsETH example 2.4.1, (2.65)-(2.69): pi/3 about x, the y axis seen from B."""
    xi_AB = 0.5 * np.array([np.sqrt(3.0), 1.0, 0.0, 0.0])
    from_angle = get_chart("angle_axis").to_matrix([np.pi / 3, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(
        quaternion_from_matrix(from_angle, scalar_first=True), xi_AB, atol=ROUND_OFF
    )
    xi_BA = quaternion_inverse(xi_AB, scalar_first=True)
    np.testing.assert_allclose(xi_BA, 0.5 * np.array([np.sqrt(3.0), -1.0, 0.0, 0.0]))
    r_B = quaternion_rotate(xi_BA, [0.0, 1.0, 0.0], scalar_first=True)
    np.testing.assert_allclose(r_B, [0.0, 0.5, -np.sqrt(3.0) / 2], atol=ROUND_OFF)
    left = quaternion_left_matrix(xi_BA, scalar_first=True)
    right = quaternion_right_matrix(xi_AB, scalar_first=True)
    s = np.sqrt(3.0)
    np.testing.assert_allclose(
        2 * left, [[s, 1, 0, 0], [-1, s, 0, 0], [0, 0, s, 1], [0, 0, -1, s]], atol=ROUND_OFF
    )
    np.testing.assert_allclose(
        2 * right, [[s, -1, 0, 0], [1, s, 0, 0], [0, 0, s, 1], [0, 0, -1, s]], atol=ROUND_OFF
    )
    pure = left @ right @ [0.0, 0.0, 1.0, 0.0]
    np.testing.assert_allclose(pure, [0.0, 0.0, 0.5, -s / 2], atol=ROUND_OFF)


@given(a=unit_quaternions, b=unit_quaternions, c=unit_quaternions)
@laws
def test_the_product_is_associative_and_keeps_the_norm(a: Array, b: Array, c: Array) -> None:
    left = quaternion_product(quaternion_product(a, b), c)
    right = quaternion_product(a, quaternion_product(b, c))
    np.testing.assert_allclose(left, right, atol=ROUND_OFF)
    assert abs(np.linalg.norm(left) - 1.0) < ROUND_OFF


@given(a=unit_quaternions, b=unit_quaternions)
@laws
def test_the_product_is_the_product_of_the_matrices(a: Array, b: Array) -> None:
    product = quaternion_to_matrix(quaternion_product(a, b))
    np.testing.assert_allclose(
        product, quaternion_to_matrix(a) @ quaternion_to_matrix(b), atol=ROUND_OFF
    )


@given(a=unit_quaternions, b=unit_quaternions)
@laws
def test_left_and_right_matrices_are_the_product(a: Array, b: Array) -> None:
    """RobotDynamicsETH (2.58), (2.60), in both orders of the components."""
    for scalar_first in (False, True):
        product = quaternion_product(a, b, scalar_first=scalar_first)
        left = quaternion_left_matrix(a, scalar_first=scalar_first)
        right = quaternion_right_matrix(b, scalar_first=scalar_first)
        np.testing.assert_allclose(left @ b, product, atol=ROUND_OFF)
        np.testing.assert_allclose(right @ a, product, atol=ROUND_OFF)


@given(a=unit_quaternions)
@laws
def test_the_inverse_gives_the_identity(a: Array) -> None:
    identity = quaternion_product(a, quaternion_inverse(a))
    np.testing.assert_allclose(identity, [0.0, 0.0, 0.0, 1.0], atol=ROUND_OFF)


@given(a=unit_quaternions, r=vectors)
@laws
def test_rotating_a_vector_is_multiplying_by_the_matrix(a: Array, r: Array) -> None:
    expected = Rotation.from_quat(a).apply(r)
    np.testing.assert_allclose(quaternion_rotate(a, r), expected, atol=1e-13)


@given(a=unit_quaternions)
@laws
def test_a_quaternion_is_recovered_up_to_sign(a: Array) -> None:
    recovered = quaternion_from_matrix(quaternion_to_matrix(a))
    assert recovered[3] >= 0.0
    assert min(np.abs(recovered - a).max(), np.abs(recovered + a).max()) < ROUND_OFF


@pytest.mark.parametrize("scalar_first", [False, True])
def test_products_equal_scipy_over_a_batch(scalar_first: bool) -> None:
    rng = np.random.default_rng(21)
    first, second = Rotation.random(20_000, rng=rng), Rotation.random(20_000, rng=rng)
    ours = quaternion_product(
        first.as_quat(scalar_first=scalar_first),
        second.as_quat(scalar_first=scalar_first),
        scalar_first=scalar_first,
    )
    theirs = (first * second).as_quat(scalar_first=scalar_first)
    sign = np.sign((ours * theirs).sum(axis=1, keepdims=True))
    assert np.abs(ours - sign * theirs).max() < ROUND_OFF


def test_integrate_and_difference_equal_the_lie_group_of_pinocchio() -> None:
    so3 = pin.liegroups.SO3()
    rng = np.random.default_rng(22)
    vector = get_chart("rotation_vector")
    xi = Rotation.random(10_000, rng=rng).as_quat()
    step = rng.normal(size=(10_000, 3)) * 10.0 ** rng.uniform(-12.0, -0.2, (10_000, 1))
    moved = quaternion_product(xi, quaternion_from_matrix(vector.to_matrix(step)))
    relative = quaternion_to_matrix(quaternion_product(quaternion_inverse(xi), moved))
    difference = vector.from_matrix(relative)
    for a, b, v, ours in zip(xi, moved, step, difference, strict=True):
        theirs = so3.integrate(a, v)
        assert min(np.abs(theirs - b).max(), np.abs(theirs + b).max()) < ROUND_OFF
        if np.linalg.norm(v) < 3.0:
            assert np.abs(ours - so3.difference(a, b)).max() < 1e-11


def test_the_unchecked_path_gives_the_same_quaternion() -> None:
    R = Rotation.random(100, rng=np.random.default_rng(23)).as_matrix()
    np.testing.assert_array_equal(quaternion_from_matrix(R), quaternion_from_matrix(R, check=False))
