"""Jacobians against finite differences and against the closed forms of the notes' examples."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from balance.dynamics.kinematics import (
    analytical_jacobian,
    base_rate_map,
    base_velocity_map,
    floating_base_jacobian,
    frame_coordinates,
    frame_placement,
    geometric_jacobian,
)
from balance.errors import ChartError, FrameError, InputError
from balance.rotations import CHARTS, POSITION_CHARTS, get_chart

STEP = 1e-6
FINITE_DIFFERENCE = 1e-6  # relative to the largest rate
CLOSED_FORM = 1e-14

pin.seed(4)
HUMANOID = pin.buildSampleModelHumanoidRandom(True)
FRAME = "rarm6_body"

seeds = st.integers(0, 2**32 - 1)
some = settings(deadline=None, derandomize=True, max_examples=25)


def random_state(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = pin.integrate(HUMANOID, pin.neutral(HUMANOID), rng.normal(size=HUMANOID.nv))
    return q, rng.normal(size=HUMANOID.nv)


def planar_arm() -> pin.Model:
    """The arm of examples 2.8.5-2.8.7: three joints about y, unit links along z."""
    model = pin.Model()
    up = pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0]))
    joint = 0
    for name in ("1", "2", "3"):
        joint = model.addJoint(joint, pin.JointModelRY(), up, name)
    model.addFrame(pin.Frame("E", joint, 0, up, pin.FrameType.OP_FRAME))
    return model


@some
@given(seeds)
def test_geometric_jacobian_is_the_derivative_of_the_placement(seed: int) -> None:
    q, v = random_state(seed)
    after, before = (
        frame_placement(HUMANOID, pin.integrate(HUMANOID, q, sign * STEP * v), FRAME)
        for sign in (1, -1)
    )
    twist = np.concatenate(
        [after.translation - before.translation, pin.log3(after.rotation @ before.rotation.T)]
    ) / (2 * STEP)
    actual = geometric_jacobian(HUMANOID, q, FRAME) @ v
    np.testing.assert_allclose(actual, twist, atol=FINITE_DIFFERENCE * np.abs(twist).max())


@pytest.mark.parametrize("position_chart", POSITION_CHARTS)
@pytest.mark.parametrize("rotation_chart", CHARTS)
def test_analytical_jacobian_is_the_derivative_of_the_coordinates(
    rotation_chart: str, position_chart: str
) -> None:
    for seed in range(5):
        q, v = random_state(seed)
        charts = (rotation_chart, position_chart)
        after, before = (
            frame_coordinates(HUMANOID, pin.integrate(HUMANOID, q, sign * STEP * v), FRAME, *charts)
            for sign in (1, -1)
        )
        rate = (after - before) / (2 * STEP)
        actual = analytical_jacobian(HUMANOID, q, FRAME, *charts) @ v
        np.testing.assert_allclose(actual, rate, atol=FINITE_DIFFERENCE * np.abs(rate).max())


@pytest.mark.parametrize("chart", CHARTS)
def test_rate_map_takes_the_analytical_to_the_geometric_jacobian(chart: str) -> None:
    """(2.192): J_e0 = E_e J_eA."""
    q, _ = random_state(1)
    J_A = analytical_jacobian(HUMANOID, q, FRAME, chart)
    E_R = get_chart(chart).rate_map(frame_coordinates(HUMANOID, q, FRAME, chart)[3:])
    J_0 = geometric_jacobian(HUMANOID, q, FRAME)
    np.testing.assert_allclose(J_A[:3], J_0[:3], atol=CLOSED_FORM)
    np.testing.assert_allclose(E_R @ J_A[3:], J_0[3:], atol=1e-13)


@some
@given(seeds)
def test_floating_base_jacobian_is_pinocchios_in_the_velocities_of_the_notes(seed: int) -> None:
    q, _ = random_state(seed)
    np.testing.assert_allclose(
        floating_base_jacobian(HUMANOID, q, FRAME) @ base_velocity_map(HUMANOID, q),
        geometric_jacobian(HUMANOID, q, FRAME),
        atol=1e-13,
    )


@pytest.mark.parametrize("chart", CHARTS)
def test_base_rate_map_gives_u_from_the_rates_of_the_coordinates(chart: str) -> None:
    """(2.246) with rates from finite differences and u from Pinocchio's velocity (2.245)."""
    q, v = random_state(2)
    coordinates = []
    for sign in (1, -1):
        moved = pin.integrate(HUMANOID, q, sign * STEP * v)
        R_WB = pin.Quaternion(moved[3:7]).matrix()
        chi = get_chart(chart).from_matrix(R_WB)
        coordinates.append(np.concatenate([moved[:3], chi, moved[7:]]))
    rate = (coordinates[0] - coordinates[1]) / (2 * STEP)
    u = base_velocity_map(HUMANOID, q) @ v
    np.testing.assert_allclose(base_rate_map(HUMANOID, q, chart) @ rate, u, atol=1e-7)


@some
@given(st.tuples(*[st.floats(-np.pi, np.pi)] * 3))
def test_planar_arm_of_the_notes(angles: tuple[float, float, float]) -> None:
    """Examples 2.8.5 and 2.8.7 with unit links: (2.141), (2.186) and (2.188)."""
    arm, q = planar_arm(), np.array(angles)
    sums = np.cumsum(q)
    position = [np.sin(sums).sum(), 0.0, 1.0 + np.cos(sums).sum()]
    np.testing.assert_allclose(frame_placement(arm, q, "E").translation, position, atol=1e-14)
    J = np.zeros((6, 3))
    J[0] = np.cumsum(np.cos(sums)[::-1])[::-1]
    J[2] = -np.cumsum(np.sin(sums)[::-1])[::-1]
    J[4] = 1.0
    np.testing.assert_allclose(geometric_jacobian(arm, q, "E"), J, atol=CLOSED_FORM)


def test_singular_chart_is_an_error() -> None:
    arm = planar_arm()
    with pytest.raises(ChartError, match="euler_zyx"):
        analytical_jacobian(arm, [np.pi / 2, 0.0, 0.0], "E", "euler_zyx")


def test_unknown_chart_and_frame_are_named() -> None:
    arm = planar_arm()
    with pytest.raises(ChartError, match="did you mean 'quaternion'"):
        analytical_jacobian(arm, np.zeros(3), "E", "quaternions")
    with pytest.raises(FrameError, match="no frame 'F'"):
        geometric_jacobian(arm, np.zeros(3), "F")


def test_root_joint_that_is_placed_turned_changes_nothing_but_the_base() -> None:
    """The twist of a frame is that of its u, wherever the root joint's own frame is."""
    model = HUMANOID.copy()
    model.jointPlacements[1] = pin.SE3(pin.exp3(np.array([0.4, -0.9, 0.3])), np.ones(3))
    q, v = random_state(8)
    u = base_velocity_map(model, q) @ v
    np.testing.assert_allclose(
        floating_base_jacobian(model, q, FRAME) @ u,
        geometric_jacobian(model, q, FRAME) @ v,
        atol=CLOSED_FORM * 100,
    )


def test_single_joint_has_a_jacobian_with_one_column() -> None:
    lone = pin.Model()
    joint = lone.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "hinge")
    tip = pin.SE3(np.eye(3), np.array([2.0, 0.0, 0.0]))
    lone.addFrame(pin.Frame("tip", joint, 0, tip, pin.FrameType.OP_FRAME))
    J = geometric_jacobian(lone, [0.0], "tip")
    np.testing.assert_allclose(J, [[0], [2], [0], [0], [0], [1]], atol=CLOSED_FORM)


def test_floating_base_functions_refuse_a_fixed_base() -> None:
    arm = planar_arm()
    with pytest.raises(InputError, match="fixed base"):
        floating_base_jacobian(arm, np.zeros(3), "E")
    with pytest.raises(InputError, match=r"q has shape \(2,\)"):
        geometric_jacobian(arm, np.zeros(2), "E")
