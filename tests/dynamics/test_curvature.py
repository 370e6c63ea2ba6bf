"""Saccon2017 (20): the curvature of the mechanical connection, and its three-link example."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_inertia, random_pose, random_robot, random_robots

from balance.dynamics.checks import symmetrise
from balance.dynamics.connection import mechanical_connection, shape_configuration
from balance.dynamics.curvature import connection_derivatives, curvature, momentum_derivatives
from balance.dynamics.three_link import three_link, three_link_curvature, three_link_urdf
from balance.errors import InputError
from balance.robots import load_robot

CLOSED_FORM = 1e-9  # absolute, the bound
ROUNDING = 1e-10  # relative to the largest entry
DIFFERENCE = 1e-6  # of central differences, relative to the largest entry
STEP = 1e-5

URDF = Path(__file__).resolve().parents[2] / "robots" / "three_link" / "three_link.urdf"

seeds = st.integers(0, 2**32 - 1)
robots = random_robots(min_joints=2, max_joints=12)
angles = st.tuples(st.floats(-10.0, 10.0), st.floats(-10.0, 10.0))
some = settings(deadline=None, derandomize=True, max_examples=25)


def random_shape(model: pin.Model, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=model.nv - 6)


def mass_matrix_rows(model: pin.Model, s: np.ndarray) -> np.ndarray:
    """(6, nv) base rows [L A] of Pinocchio's mass matrix."""
    return symmetrise(pin.crba(model, pin.Data(model), shape_configuration(model, s)))[:6]


def slopes(model: pin.Model, s: np.ndarray) -> np.ndarray:
    """(nj, 6, nv) central differences of [L A] with respect to every joint."""
    steps = STEP * np.eye(len(s))
    rows = [mass_matrix_rows(model, s + e) - mass_matrix_rows(model, s - e) for e in steps]
    return np.array(rows) / (2.0 * STEP)


def curvature_by_differences(model: pin.Model, s: np.ndarray) -> np.ndarray:
    """(20) from the mass matrix of Pinocchio alone."""

    def connection(x: np.ndarray) -> np.ndarray:
        rows = mass_matrix_rows(model, x)
        return np.linalg.solve(rows[:, :6], rows[:, 6:])

    n = len(s)
    a = connection(s)
    steps = STEP * np.eye(n)
    da = [(connection(s + e) - connection(s - e)) / (2.0 * STEP) for e in steps]
    B = np.empty((n, n, 6))
    for i in range(n):
        for j in range(n):
            bracket = pin.Motion(a[:, i]).cross(pin.Motion(a[:, j])).vector
            B[i, j] = da[j][:, i] - da[i][:, j] + bracket
    return B


def assert_close(actual: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    size = np.abs(expected).max()
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(angles)
def test_three_link_curvature_for_d_1_is_the_printed_closed_form(s):
    B = curvature(three_link(1.0), s)
    np.testing.assert_allclose(B[0, 1], three_link_curvature(s), rtol=0, atol=CLOSED_FORM)
    np.testing.assert_allclose(B[1, 0], -three_link_curvature(s), rtol=0, atol=CLOSED_FORM)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(angles)
def test_three_link_mechanism_is_flat_for_d_0(s):
    np.testing.assert_allclose(curvature(three_link(0.0), s), 0.0, rtol=0, atol=CLOSED_FORM)


def test_three_link_inertias_out_of_the_plane_do_not_matter():
    s = [0.3, -0.8]
    model = three_link(1.0)
    for inertia in model.inertias[1:]:
        inertia.inertia = inertia.inertia + np.diag([3.0, 2.0, 0.0])
    assert_close(curvature(model, s)[0, 1], three_link_curvature(s), ROUNDING)


def test_three_link_file_is_what_the_generator_writes_for_d_1():
    assert URDF.read_text().endswith(three_link_urdf(1.0))
    model = pin.buildModelFromUrdf(str(URDF), pin.JointModelFreeFlyer())
    assert_close(curvature(model, [0.4, 1.1])[0, 1], three_link_curvature([0.4, 1.1]), ROUNDING)


@some
@given(robots, seeds)
def test_curvature_of_random_robots_equals_differences_of_the_mass_matrix(model, seed):
    s = random_shape(model, seed)
    assert_close(curvature(model, s), curvature_by_differences(model, s), DIFFERENCE)


@pytest.mark.parametrize("name", ["toro", "talos", "icub", "g1"])
def test_curvature_of_the_humanoids_equals_differences_of_the_mass_matrix(name):
    model = load_robot(name).model
    s = 0.3 * random_shape(model, 5)
    assert_close(curvature(model, s), curvature_by_differences(model, s), DIFFERENCE)


@some
@given(robots, seeds)
def test_derivatives_of_locked_inertia_and_coupling_equal_differences(model, seed):
    s = random_shape(model, seed)
    data = pin.Data(model)
    terms = mechanical_connection(model, s, data)
    dL, dA = momentum_derivatives(model, data, terms.A)
    assert_close(np.concatenate([dL, dA], axis=2), slopes(model, s), DIFFERENCE)


@some
@given(robots, seeds)
def test_curvature_is_antisymmetric_and_turns_about_the_com(model, seed):
    s = random_shape(model, seed)
    data = pin.Data(model)
    B = curvature(model, s, data)
    np.testing.assert_array_equal(B, -B.transpose(1, 0, 2))
    com = data.oMi[1].actInv(pin.centerOfMass(model, data, shape_configuration(model, s)))
    velocity_of_com = B[..., :3] + np.cross(B[..., 3:], com)
    assert np.abs(velocity_of_com).max() <= ROUNDING * np.abs(B).max()


@pytest.mark.parametrize("joints", [0, 1])
def test_robot_with_fewer_than_two_joints_has_no_curvature(joints):
    B = curvature(random_robot(joints, 1), np.full(joints, 0.7))
    np.testing.assert_array_equal(B, np.zeros((joints, joints, 6)))


def test_derivative_of_the_connection_is_indexed_by_column_then_joint():
    model = random_robot(4, 6)
    s = random_shape(model, 7)
    _, derivatives = connection_derivatives(model, s)
    for j, e in enumerate(STEP * np.eye(4)):
        ahead, behind = (mechanical_connection(model, x).connection for x in (s + e, s - e))
        assert_close(derivatives[:, j].T, (ahead - behind) / (2.0 * STEP), DIFFERENCE)


def test_chain_rooted_at_its_other_end_has_the_same_curvature_seen_from_there():
    rng = np.random.default_rng(11)
    links = [random_inertia(rng) for _ in range(5)]
    offsets = [random_pose(rng) for _ in range(4)]
    axes = [axis / np.linalg.norm(axis) for axis in rng.normal(size=(4, 3))]
    s = rng.normal(size=4)
    forwards = revolute_chain(links, offsets, axes)
    # A joint placed by X and turning about e is, from the other side, placed by X^-1 after the
    # turn about -e: the link's frame moves to the far side of its joint.
    at_joints = [links[-1]] + [
        offset.actInv(link) for offset, link in zip(offsets[::-1], links[-2::-1], strict=True)
    ]
    between = [pin.SE3.Identity()] + [offset.inverse() for offset in offsets[:0:-1]]
    backwards = revolute_chain(at_joints, between, [-axis for axis in axes[::-1]])

    B = curvature(forwards, s)
    reversed_B = curvature(backwards, s[::-1])[::-1, ::-1]
    data = pin.Data(forwards)
    pin.forwardKinematics(forwards, data, shape_configuration(forwards, s))
    seen_from_base = reversed_B @ data.oMi[5].toActionMatrix().T
    assert_close(seen_from_base, B, ROUNDING)


def revolute_chain(
    links: list[pin.Inertia], offsets: list[pin.SE3], axes: list[np.ndarray]
) -> pin.Model:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(joint, links[0], pin.SE3.Identity())
    for k, (link, offset, axis) in enumerate(zip(links[1:], offsets, axes, strict=True)):
        kind = pin.JointModelRevoluteUnaligned(axis)
        joint = model.addJoint(joint, kind, offset, f"joint{k}")
        model.appendBodyToJoint(joint, link, pin.SE3.Identity())
    return model


def test_given_data_changes_nothing():
    model = random_robot(6, 2)
    s = random_shape(model, 3)
    data = pin.Data(model)
    curvature(model, random_shape(model, 4), data)
    np.testing.assert_array_equal(curvature(model, s, data), curvature(model, s))


def test_wrong_input_is_refused():
    model = three_link(1.0)
    with pytest.raises(InputError, match=r"s has shape \(3,\); expected \(2,\)"):
        curvature(model, np.zeros(3))
    with pytest.raises(InputError, match="fixed base"):
        curvature(pin.buildSampleModelManipulator(), np.zeros(6))
    with pytest.raises(InputError, match="d is nan"):
        three_link(float("nan"))
