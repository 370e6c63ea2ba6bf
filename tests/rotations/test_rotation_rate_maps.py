"""Rate maps against the printed forms, finite differences, Pinocchio and the generic form."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy import cos, sin
from numpy.typing import NDArray

from balance.rotations import (
    CHARTS,
    Chart,
    angular_velocity_jacobian,
    angular_velocity_jacobian_rate,
    get_chart,
    skew,
    unskew,
)

Array = NDArray[np.float64]

ROUND_OFF = 1e-14
STEP = 1e-7  # keeps unit-norm coordinates within the tolerance of the checks
FINITE_DIFFERENCE = 1e-7
ALL = pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS.keys())


@pytest.fixture(scope="module")
def generator() -> np.random.Generator:
    return np.random.default_rng(11)


def regular_coordinates(chart: Chart, rotations: Array) -> tuple[Array, Array]:
    """Coordinates with an inverse rate map below 1e4, and the norm of that map."""
    chi = chart.from_matrix(rotations)
    if chart.name.startswith("euler"):
        chi = chi[np.abs(np.linalg.det(chart.rate_map(chi))) > 1e-4]
    if chart.name == "angle_axis":
        chi = chi[chi[:, 0] > 1e-4]
    return chi, np.linalg.norm(chart.inverse_rate_map(chi), axis=(1, 2))


def printed_euler_maps(name: str, chi: Array) -> tuple[Array, Array]:
    """E and E^-1 as printed in RobotDynamicsETH (2.86)-(2.93)."""
    a, b, _ = chi
    if name == "euler_zyx":
        z, y = a, b
        E = [[0, -sin(z), cos(y) * cos(z)], [0, cos(z), cos(y) * sin(z)], [1, 0, -sin(y)]]
        E_inv = [
            [cos(z) * sin(y) / cos(y), sin(y) * sin(z) / cos(y), 1],
            [-sin(z), cos(z), 0],
            [cos(z) / cos(y), sin(z) / cos(y), 0],
        ]
    elif name == "euler_xyz":
        x, y = a, b
        E = [[1, 0, sin(y)], [0, cos(x), -cos(y) * sin(x)], [0, sin(x), cos(x) * cos(y)]]
        E_inv = [
            [1, sin(x) * sin(y) / cos(y), -cos(x) * sin(y) / cos(y)],
            [0, cos(x), sin(x)],
            [0, -sin(x) / cos(y), cos(x) / cos(y)],
        ]
    elif name == "euler_zyz":
        z, y = a, b
        E = [[0, -sin(z), cos(z) * sin(y)], [0, cos(z), sin(z) * sin(y)], [1, 0, cos(y)]]
        E_inv = [
            [-cos(y) * cos(z) / sin(y), -cos(y) * sin(z) / sin(y), 1],
            [-sin(z), cos(z), 0],
            [cos(z) / sin(y), sin(z) / sin(y), 0],
        ]
    else:
        z, x = a, b
        E = [[0, cos(z), sin(z) * sin(x)], [0, sin(z), -cos(z) * sin(x)], [1, 0, cos(x)]]
        E_inv = [
            [-cos(x) * sin(z) / sin(x), cos(x) * cos(z) / sin(x), 1],
            [cos(z), sin(z), 0],
            [sin(z) / sin(x), -cos(z) / sin(x), 0],
        ]
    return np.array(E, dtype=float), np.array(E_inv, dtype=float)


@pytest.mark.parametrize("name", ["euler_zyx", "euler_xyz", "euler_zyz", "euler_zxz"])
def test_euler_rate_maps_are_the_printed_ones(name: str, random_rotations: Array) -> None:
    chart = get_chart(name)
    chi, size = regular_coordinates(chart, random_rotations[:2_000])
    for c, E, E_inv, norm in zip(
        chi, chart.rate_map(chi), chart.inverse_rate_map(chi), size, strict=True
    ):
        printed, printed_inverse = printed_euler_maps(name, c)
        assert np.abs(E - printed).max() < ROUND_OFF
        assert np.abs(E_inv - printed_inverse).max() < ROUND_OFF * norm**2


def test_the_quaternion_rate_map_is_the_printed_one(random_rotations: Array) -> None:
    """RobotDynamicsETH (2.97)-(2.99)."""
    chart = get_chart("quaternion_scalar_first")
    for xi in chart.from_matrix(random_rotations[:500]):
        w, x, y, z = xi
        H = np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
        assert np.abs(chart.rate_map(xi) - 2.0 * H).max() < ROUND_OFF
        assert np.abs(chart.inverse_rate_map(xi) - 0.5 * H.T).max() < ROUND_OFF


def test_the_angle_axis_rate_map_is_the_printed_one(random_rotations: Array) -> None:
    """RobotDynamicsETH (2.102)-(2.103)."""
    chart = get_chart("angle_axis")
    for chi in chart.from_matrix(random_rotations[:500]):
        theta, n = chi[0], skew(chi[1:])
        E = np.column_stack([chi[1:], sin(theta) * np.eye(3) + (1 - cos(theta)) * n])
        E_inv = np.vstack([chi[1:], -0.5 * sin(theta) / (1 - cos(theta)) * n @ n - 0.5 * n])
        assert np.abs(chart.rate_map(chi) - E).max() < ROUND_OFF
        assert np.abs(chart.inverse_rate_map(chi) - E_inv).max() < 1e-12 / theta**2


def test_the_rotation_vector_rate_map_is_the_printed_one(random_rotations: Array) -> None:
    """RobotDynamicsETH (2.104)-(2.107), also beyond pi."""
    chart = get_chart("rotation_vector")
    for phi in 1.9 * chart.from_matrix(random_rotations[:500]):
        t, x = np.linalg.norm(phi), skew(phi)
        E = np.eye(3) + x * (1 - cos(t)) / t**2 + x @ x * (t - sin(t)) / t**3
        E_inv = np.eye(3) - 0.5 * x + x @ x / t**2 * (1 - 0.5 * t * sin(t) / (1 - cos(t)))
        assert np.abs(chart.rate_map(phi) - E).max() < 1e-12 / t
        assert np.abs(chart.inverse_rate_map(phi) - E_inv).max() < 1e-12 / (1 - cos(t))


@ALL
def test_the_inverse_rate_map_is_a_right_inverse(chart: Chart, rotations: Array) -> None:
    chi, norm = regular_coordinates(chart, rotations)
    assert len(chi) > 20_000
    error = np.abs(chart.rate_map(chi) @ chart.inverse_rate_map(chi) - np.eye(3)).max(axis=(1, 2))
    assert (error < ROUND_OFF * norm).all()


@ALL
def test_the_inverse_rate_map_respects_the_constraint(chart: Chart, rotations: Array) -> None:
    chi, norm = regular_coordinates(chart, rotations)
    leak = np.abs(chart.constraint_rows(chi) @ chart.inverse_rate_map(chi))
    assert (leak.max(axis=(1, 2), initial=0.0) < ROUND_OFF * norm).all()


@ALL
def test_partials_equal_finite_differences(chart: Chart, random_rotations: Array) -> None:
    chi = chart.from_matrix(random_rotations[:5_000])
    for i, e in enumerate(STEP * np.eye(chart.size)):
        difference = (chart.to_matrix(chi + e) - chart.to_matrix(chi - e)) / (2 * STEP)
        assert np.abs(chart.partials(chi)[..., i] - difference).max() < FINITE_DIFFERENCE


@ALL
def test_partials_rate_equals_finite_differences(
    chart: Chart, random_rotations: Array, generator: np.random.Generator
) -> None:
    chi = chart.from_matrix(random_rotations[:5_000])
    rate = generator.normal(size=chi.shape)
    ahead, behind = (chart.partials(chi + s * STEP * rate) for s in (1.0, -1.0))
    difference = (ahead - behind) / (2 * STEP)
    assert np.abs(chart.partials_rate(chi, rate) - difference).max() < 5 * FINITE_DIFFERENCE


@ALL
def test_angular_velocity_is_the_rate_of_the_matrix(
    chart: Chart, rotations: Array, generator: np.random.Generator
) -> None:
    """RobotDynamicsETH (2.72): [omega]x = dR/dt R^T, with dR/dt by the chain rule."""
    chi, norm = regular_coordinates(chart, rotations)
    omega = generator.normal(size=(len(chi), 3))
    rate = np.einsum("nij,nj->ni", chart.inverse_rate_map(chi), omega)
    R_dot = np.einsum("nijk,nk->nij", chart.partials(chi), rate)
    spin = R_dot @ np.swapaxes(chart.to_matrix(chi), 1, 2)
    assert (np.abs(spin - skew(omega)).max(axis=(1, 2)) < 1e-13 * norm).all()
    assert (np.abs(unskew(spin) - omega).max(axis=1) < 1e-13 * norm).all()


@ALL
def test_the_generic_jacobian_agrees_with_the_closed_form(chart: Chart, rotations: Array) -> None:
    """Bouyarmane2012 (10): everywhere for minimal charts, on admissible rates for the others."""
    chi, norm = regular_coordinates(chart, rotations)
    generic, closed = angular_velocity_jacobian(chart, chi), chart.rate_map(chi)
    if chart.size == 3 or "quaternion" in chart.name:
        assert np.abs(generic - closed).max() < ROUND_OFF
    admissible = chart.inverse_rate_map(chi)
    error = np.abs((generic - closed) @ admissible).max(axis=(1, 2))
    assert (error < ROUND_OFF * norm).all()


def test_the_mapping_printed_for_quaternions_agrees_on_admissible_rates(
    random_rotations: Array,
) -> None:
    """Bouyarmane2012 (11)-(12), as printed, differ from the homogeneous form off the sphere."""
    chart = get_chart("quaternion_scalar_first")
    for xi in chart.from_matrix(random_rotations[:300]):
        a, b, g, d = xi
        dR1 = np.array(
            [[4 * a, 4 * b, 0, 0], [2 * d, 2 * g, 2 * b, 2 * a], [-2 * g, 2 * d, -2 * a, 2 * b]]
        )
        dR2 = np.array(
            [[-2 * d, 2 * g, 2 * b, -2 * a], [4 * a, 0, 4 * g, 0], [2 * b, 2 * a, 2 * d, 2 * g]]
        )
        dR3 = np.array(
            [[2 * g, 2 * d, 2 * a, 2 * b], [-2 * b, -2 * a, 2 * d, 2 * g], [4 * a, 0, 0, 4 * d]]
        )
        R1, R2, R3 = chart.to_matrix(xi).T
        J = np.outer(R3, R2) @ dR1 + np.outer(R2, R1) @ dR3 + np.outer(R1, R3) @ dR2
        difference = J - chart.rate_map(xi)
        assert np.abs(difference @ chart.inverse_rate_map(xi)).max() < ROUND_OFF


@ALL
def test_the_rate_of_the_generic_jacobian_equals_finite_differences(
    chart: Chart, random_rotations: Array, generator: np.random.Generator
) -> None:
    chi = chart.from_matrix(random_rotations[:2_000])
    rate = generator.normal(size=chi.shape)
    ahead, behind = (angular_velocity_jacobian(chart, chi + s * STEP * rate) for s in (1.0, -1.0))
    difference = (ahead - behind) / (2 * STEP)
    exact = angular_velocity_jacobian_rate(chart, chi, rate)
    assert np.abs(exact - difference).max() < 1e-6


def test_rate_maps_equal_pinocchio(random_rotations: Array) -> None:
    """Pinocchio's maps give the angular velocity in body axes; R brings it to fixed axes."""
    so3 = pin.liegroups.SO3()
    R = random_rotations
    quaternion, vector, euler = (
        get_chart(name) for name in ("quaternion", "rotation_vector", "euler_zyx")
    )
    xyzw, phi, zyx = (chart.from_matrix(R) for chart in (quaternion, vector, euler))
    body_to_quaternion = quaternion.inverse_rate_map(xyzw) @ R
    vector_map, vector_inverse = vector.rate_map(phi), vector.inverse_rate_map(phi)
    euler_map = euler.rate_map(zyx)
    for i in range(len(R)):
        assert np.abs(so3.tangentMap(xyzw[i]) - body_to_quaternion[i]).max() < ROUND_OFF
        assert np.abs(R[i] @ pin.Jexp3(phi[i]) - vector_map[i]).max() < ROUND_OFF
        rpy = zyx[i, ::-1].copy()
        rpy_map = pin.rpy.computeRpyJacobian(rpy, pin.ReferenceFrame.WORLD)
        assert np.abs(rpy_map[:, ::-1] - euler_map[i]).max() < ROUND_OFF
        if i % 10 == 0 and np.linalg.norm(phi[i]) < 3.0:
            assert np.abs(pin.Jlog3(R[i]) - vector_inverse[i] @ R[i]).max() < 1e-12
            rate = np.array([0.3, -1.2, 0.7])
            jacobian_rate = angular_velocity_jacobian_rate(euler, zyx[i], rate[::-1])
            expected = pin.rpy.computeRpyJacobianTimeDerivative(rpy, rate, pin.ReferenceFrame.WORLD)
            assert np.abs(expected[:, ::-1] - jacobian_rate).max() < 1e-13


def test_an_elementary_rotation_has_its_angle_rate_as_angular_velocity() -> None:
    """RobotDynamicsETH example 2.5.1, (2.77)-(2.81)."""
    chart = get_chart("euler_xyz")
    np.testing.assert_allclose(chart.rate_map([0.7, 0.0, 0.0]) @ [1.3, 0.0, 0.0], [1.3, 0.0, 0.0])
