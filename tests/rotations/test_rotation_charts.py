"""Charts to and from rotation matrices, against SciPy and Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from balance.rotations import (
    CHARTS,
    Chart,
    convert,
    elementary_rotation,
    get_chart,
    nearest_rotation,
)

Array = NDArray[np.float64]

ROUND_OFF = 5e-15
ALL = pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS.keys())
EULER = pytest.mark.parametrize("sequence", ["ZYX", "XYZ", "ZYZ", "ZXZ"])


def test_the_registry_holds_the_charts_of_the_notes() -> None:
    assert set(CHARTS) == {
        "rotation_matrix",
        "quaternion",
        "quaternion_scalar_first",
        "angle_axis",
        "rotation_vector",
        "euler_zyx",
        "euler_xyz",
        "euler_zyz",
        "euler_zxz",
    }


@ALL
def test_every_rotation_is_recovered_from_its_coordinates(chart: Chart, rotations: Array) -> None:
    recovered = chart.to_matrix(chart.from_matrix(rotations))
    assert np.abs(recovered - rotations).max() < ROUND_OFF


@ALL
def test_leading_axes_do_not_change_the_values(chart: Chart, random_rotations: Array) -> None:
    R = random_rotations[:6]
    grid = R.reshape(2, 3, 3, 3)
    chi = chart.from_matrix(grid)
    assert chi.shape == (2, 3, chart.size)
    omega_map, partials = chart.rate_map(chi), chart.partials(chi)
    rate = chart.partials_rate(chi, chi[::-1])
    for i in range(2):
        for j in range(3):
            single = chart.from_matrix(grid[i, j])
            np.testing.assert_allclose(chi[i, j], single, rtol=0.0, atol=ROUND_OFF)
            np.testing.assert_allclose(omega_map[i, j], chart.rate_map(single), atol=ROUND_OFF)
            np.testing.assert_allclose(partials[i, j], chart.partials(single), atol=ROUND_OFF)
            expected = chart.partials_rate(single, chi[1 - i, j])
            np.testing.assert_allclose(rate[i, j], expected, atol=1e-13)


@ALL
def test_results_do_not_share_memory_with_arguments(chart: Chart) -> None:
    R = elementary_rotation(2, 0.3)
    chi = chart.from_matrix(R)
    for result in (chart.to_matrix(chi), chart.project(chi), chart.partials(chi)):
        assert not np.shares_memory(result, chi)
    assert not np.shares_memory(chi, R)


@ALL
def test_no_samples_are_a_valid_batch(chart: Chart) -> None:
    chi = chart.from_matrix(np.empty((0, 3, 3)))
    assert chi.shape == (0, chart.size)
    assert chart.inverse_rate_map(chi).shape == (0, chart.size, 3)


@pytest.mark.parametrize("scalar_first", [False, True])
def test_quaternions_equal_scipy(scalar_first: bool, rotations: Array) -> None:
    chart = get_chart("quaternion_scalar_first" if scalar_first else "quaternion")
    ours = chart.from_matrix(rotations)
    theirs = Rotation.from_matrix(rotations).as_quat(canonical=True, scalar_first=scalar_first)
    scalar = ours[:, 0 if scalar_first else 3]
    assert (scalar >= 0.0).all()
    # At pi the sign is free, so compare up to sign there.
    sign = np.where((np.abs(scalar) < 1e-12) & ((ours * theirs).sum(1) < 0.0), -1.0, 1.0)
    assert np.abs(ours - sign[:, None] * theirs).max() < ROUND_OFF
    expected = Rotation.from_quat(theirs, scalar_first=scalar_first).as_matrix()
    assert np.abs(chart.to_matrix(theirs) - expected).max() < ROUND_OFF


def test_rotation_vectors_equal_scipy(rotations: Array) -> None:
    ours = get_chart("rotation_vector").from_matrix(rotations)
    theirs = Rotation.from_matrix(rotations).as_rotvec()
    length = np.linalg.norm(ours, axis=1)
    assert (length <= np.pi + ROUND_OFF).all()
    flip = (length > np.pi - 1e-12) & ((ours * theirs).sum(1) < 0.0)
    assert np.abs(ours - np.where(flip, -1.0, 1.0)[:, None] * theirs).max() < 2 * ROUND_OFF


def test_small_rotation_vectors_keep_their_relative_precision() -> None:
    rng = np.random.default_rng(3)
    phi = rng.normal(size=(5_000, 3)) * 10.0 ** rng.uniform(-300.0, -1.0, (5_000, 1))
    chart = get_chart("rotation_vector")
    error = np.linalg.norm(chart.from_matrix(chart.to_matrix(phi)) - phi, axis=1)
    assert (error <= 4e-15 * np.abs(phi).max(axis=1)).all()


def test_angle_and_axis_equal_scipy(rotations: Array) -> None:
    chi = get_chart("angle_axis").from_matrix(rotations)
    assert np.abs(np.linalg.norm(chi[:, 1:], axis=1) - 1.0).max() < ROUND_OFF
    assert np.abs(chi[:, 0] - Rotation.from_matrix(rotations).magnitude()).max() < ROUND_OFF
    expected = Rotation.from_rotvec(chi[:, :1] * chi[:, 1:]).as_matrix()
    assert np.abs(expected - rotations).max() < ROUND_OFF


@EULER
def test_euler_angles_equal_scipy(sequence: str, rotations: Array) -> None:
    chart = get_chart(f"euler_{sequence.lower()}")
    ours = chart.from_matrix(rotations)
    assert np.abs(Rotation.from_euler(sequence, ours).as_matrix() - rotations).max() < ROUND_OFF
    # Single angles are comparable only where the chart is well conditioned.
    determinant = np.abs(np.linalg.det(chart.rate_map(ours)))
    regular = determinant > 1e-2
    assert regular.sum() > 15_000
    theirs = Rotation.from_matrix(rotations[regular]).as_euler(sequence)
    difference = np.angle(np.exp(1j * (ours[regular] - theirs)))
    assert np.abs(difference).max() < 1e-12


@EULER
def test_the_first_euler_angle_is_zero_at_the_singularity(sequence: str) -> None:
    chart = get_chart(f"euler_{sequence.lower()}")
    middle = np.pi / 2 if sequence[0] != sequence[2] else 0.0
    # An exact singularity: entries that vanish are exactly zero.
    R = np.round(chart.to_matrix([0.0, middle, 0.0]), 12)
    third = elementary_rotation("XYZ".index(sequence[2]), 0.4)
    chi = chart.from_matrix(R @ third)
    np.testing.assert_allclose(chi, [0.0, middle, 0.4], atol=ROUND_OFF)


def test_the_axis_at_the_identity_is_x() -> None:
    np.testing.assert_array_equal(get_chart("angle_axis").from_matrix(np.eye(3)), [0, 1, 0, 0])


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), [[-0.6, 0.0, 0.8]], [[-0.8, 0.6, 0.0]]]))
def test_the_largest_component_is_positive_at_pi(axis: Array) -> None:
    R = 2.0 * np.outer(axis, axis) - np.eye(3)
    n = axis * np.sign(axis[np.argmax(np.abs(axis))])
    np.testing.assert_allclose(get_chart("quaternion").from_matrix(R), [*n, 0.0], atol=ROUND_OFF)
    phi = get_chart("rotation_vector").from_matrix(R)
    np.testing.assert_allclose(phi, np.pi * n, atol=ROUND_OFF)


def test_exponential_and_logarithm_equal_pinocchio(rotations: Array) -> None:
    chart = get_chart("rotation_vector")
    phi = chart.from_matrix(rotations)
    R = chart.to_matrix(phi)
    assert max(np.abs(pin.exp3(p) - r).max() for p, r in zip(phi, R, strict=True)) < 1e-14
    theirs = np.array([pin.log3(r) for r in rotations])
    flip = (np.linalg.norm(phi, axis=1) > np.pi - 1e-9) & ((phi * theirs).sum(axis=1) < 0.0)
    # The looser bound is that of pin.log3 near pi; ours recovers R to round-off there.
    assert np.abs(phi - np.where(flip, -1.0, 1.0)[:, None] * theirs).max() < 1e-9


def test_quaternions_and_roll_pitch_yaw_equal_pinocchio(random_rotations: Array) -> None:
    quaternions = get_chart("quaternion").from_matrix(random_rotations)
    angles = get_chart("euler_zyx").from_matrix(random_rotations)
    for R, xyzw, zyx in zip(random_rotations, quaternions, angles, strict=True):
        assert np.abs(pin.Quaternion(xyzw).matrix() - R).max() < ROUND_OFF
        assert np.abs(pin.rpy.rpyToMatrix(zyx[::-1].copy()) - R).max() < ROUND_OFF


def test_convert_passes_through_every_pair_of_charts(random_rotations: Array) -> None:
    R = random_rotations[:200]
    for source in CHARTS:
        chi = get_chart(source).from_matrix(R)
        for target in CHARTS:
            there = convert(chi, source, target)
            assert np.abs(get_chart(target).to_matrix(there) - R).max() < ROUND_OFF


@ALL
def test_composition_and_inverse_follow_the_matrices(chart: Chart, random_rotations: Array) -> None:
    first, second = random_rotations[:5_000], random_rotations[5_000:10_000]
    a, b = chart.from_matrix(first), chart.from_matrix(second)
    if "quaternion" in chart.name or chart.name == "rotation_matrix":
        assert np.abs(chart.to_matrix(chart.compose(a, b)) - first @ second).max() < ROUND_OFF
    if not chart.name.startswith("euler"):
        inverse = chart.to_matrix(chart.inverse(a))
        assert np.abs(inverse - np.swapaxes(first, 1, 2)).max() < ROUND_OFF


@ALL
def test_projection_restores_drifted_coordinates(chart: Chart, random_rotations: Array) -> None:
    rng = np.random.default_rng(5)
    chi = chart.from_matrix(random_rotations[:1_000])
    drifted = chi + 1e-3 * rng.normal(size=chi.shape)
    projected = chart.project(drifted)
    assert np.abs(chart.constraint(projected)).max(initial=0.0) < ROUND_OFF
    assert np.abs(projected - chi).max() < 1e-2
    assert chart.constraint(chi).shape == (1_000, chart.size - 3)


def test_nearest_rotation_undoes_a_stretch(random_rotations: Array) -> None:
    rng = np.random.default_rng(6)
    R = random_rotations[:1_000]
    X = 0.1 * rng.normal(size=R.shape)
    stretch = np.eye(3) + X @ np.swapaxes(X, 1, 2)  # R times positive definite: polar form
    assert np.abs(nearest_rotation(R @ stretch) - R).max() < 1e-13
