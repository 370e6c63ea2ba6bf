"""Homogeneous transformations and velocities on moving bodies; RobotDynamicsETH 2.6-2.7, 2.8.5."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.dynamics.kinematics import frame_placement, geometric_jacobian, relative_jacobian
from balance.dynamics.notes_arms import END, planar_arm
from balance.dynamics.transformations import (
    homogeneous_matrix,
    inverse_homogeneous,
    point_acceleration,
    point_velocity,
    transform_point,
    velocity_in_moving_axes,
)
from balance.errors import InputError

EXACT = 1e-13
STEP = 1e-5
DIFFERENCE = 1e-8


def placements(seed: int) -> list[pin.SE3]:
    rng = np.random.default_rng(seed)
    return [pin.exp6(pin.Motion(rng.normal(size=6))) for _ in range(3)]


def test_example_2_6_1_has_the_printed_matrix_and_point() -> None:
    """(2.113)-(2.114)."""
    C_AB = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    T_AB = homogeneous_matrix(C_AB, [0.0, 3.0, 1.0])
    printed = [[1, 0, 0, 0], [0, 0, -1, 3], [0, 1, 0, 1], [0, 0, 0, 1]]
    np.testing.assert_array_equal(T_AB, printed)
    np.testing.assert_array_equal(transform_point(T_AB, [0.0, 1.0, 1.0]), [0.0, 2.0, 2.0])


def test_matrices_compose_and_invert_like_pinocchios_placements() -> None:
    X, Y, _ = placements(1)
    T_X, T_Y = (homogeneous_matrix(P.rotation, P.translation) for P in (X, Y))
    np.testing.assert_allclose(T_X @ T_Y, (X * Y).homogeneous, atol=EXACT)
    np.testing.assert_allclose(inverse_homogeneous(T_X), X.inverse().homogeneous, atol=EXACT)
    r = np.array([0.3, -0.2, 0.9])
    np.testing.assert_allclose(transform_point(T_X, r), X.act(r), atol=EXACT)


def test_a_matrix_that_is_no_transformation_is_refused() -> None:
    with pytest.raises(InputError, match="last row is 0, 0, 0, 1"):
        inverse_homogeneous(np.ones((4, 4)))


def body_at(t: float) -> pin.SE3:
    """A body that turns and moves at varying rates."""
    turn = pin.exp3(np.array([0.3 * t, 0.5 * t**2, np.sin(t)]))
    return pin.SE3(turn, np.array([np.cos(t), t**3, 0.2 * t]))


def rates(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """v_B, Omega, a_B and Psi in fixed axes, by differences of placements alone."""
    ahead, here, behind = body_at(t + STEP), body_at(t), body_at(t - STEP)
    v = (ahead.translation - behind.translation) / (2 * STEP)
    omega = pin.log3(ahead.rotation @ behind.rotation.T) / (2 * STEP)
    a = (ahead.translation - 2 * here.translation + behind.translation) / STEP**2
    after = pin.log3(ahead.rotation @ here.rotation.T) / STEP
    before = pin.log3(here.rotation @ behind.rotation.T) / STEP
    return v, omega, a, (after - before) / STEP


def test_points_of_a_body_move_by_the_composition_rules() -> None:
    """(2.121)-(2.122), against differences of the point's own position."""
    t, r_B = 0.7, np.array([0.4, -0.1, 0.6])
    ahead, here, behind = (body_at(t + s).act(r_B) for s in (STEP, 0.0, -STEP))
    v, omega, a, psi = rates(t)
    arm = body_at(t).rotation @ r_B
    velocity = (ahead - behind) / (2 * STEP)
    np.testing.assert_allclose(point_velocity(v, omega, arm), velocity, atol=DIFFERENCE)
    acceleration = (ahead - 2 * here + behind) / STEP**2
    np.testing.assert_allclose(point_acceleration(a, psi, omega, arm), acceleration, atol=2e-5)


def test_rates_in_moving_axes_need_eulers_rule() -> None:
    """(2.125)-(2.129): the components in B and their rates give the velocity in B's axes."""

    def position(t: float) -> np.ndarray:
        return np.array([t, np.sin(2 * t), 1.0 - t**2])

    def components(t: float) -> np.ndarray:
        return body_at(t).rotation.T @ position(t)

    t = 0.4
    r_dot_B = (components(t + STEP) - components(t - STEP)) / (2 * STEP)
    C_BA = body_at(t).rotation.T
    velocity = C_BA @ ((position(t + STEP) - position(t - STEP)) / (2 * STEP))
    found = velocity_in_moving_axes(r_dot_B, C_BA @ rates(t)[1], components(t))
    np.testing.assert_allclose(found, velocity, atol=DIFFERENCE)
    assert np.abs(r_dot_B - velocity).max() > 0.1  # (2.123): the rates alone are no velocity


def test_jacobians_of_relative_motion_add() -> None:
    """(2.153)-(2.154): J_BC is the rate of r_BC and the difference of the angular velocities."""
    model = pin.buildSampleModelHumanoidRandom()
    rng = np.random.default_rng(2)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    v = rng.normal(size=model.nv)
    B, C = "larm3_joint", "rleg2_joint"
    J_BC = relative_jacobian(model, q, B, C)
    after, before = (
        frame_placement(model, p, C).translation - frame_placement(model, p, B).translation
        for p in (pin.integrate(model, q, s * STEP * v) for s in (1, -1))
    )
    np.testing.assert_allclose(J_BC[:3] @ v, (after - before) / (2 * STEP), atol=DIFFERENCE)
    data = model.createData()
    pin.forwardKinematics(model, data, q, v)
    omegas = [
        pin.getFrameVelocity(model, data, model.getFrameId(name), pin.LOCAL_WORLD_ALIGNED).angular
        for name in (B, C)
    ]
    np.testing.assert_allclose(J_BC[3:] @ v, omegas[1] - omegas[0], atol=EXACT)
    np.testing.assert_allclose(
        geometric_jacobian(model, q, B) + J_BC, geometric_jacobian(model, q, C), atol=EXACT
    )


def test_columns_of_the_jacobian_are_axes_and_axes_times_arms() -> None:
    """(2.155)-(2.167): n_k x r_k(n+1) above n_k, for a chain of revolute joints."""
    arm, q = planar_arm((0.7, 0.5, 0.9)), np.array([0.3, -0.8, 1.1])
    end = frame_placement(arm, q, END).translation
    columns = []
    for k in (1, 2, 3):
        X = frame_placement(arm, q, f"link_{k}")
        axis = X.rotation @ np.array([0.0, 1.0, 0.0])
        columns.append([*np.cross(axis, end - X.translation), *axis])
    np.testing.assert_allclose(geometric_jacobian(arm, q, END), np.transpose(columns), atol=EXACT)
