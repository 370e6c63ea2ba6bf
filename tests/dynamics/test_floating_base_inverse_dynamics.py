"""Inverse dynamics on contacts: the motion asked for, and torques that are least in a norm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.dynamics.constraints import Contact, contact_drift, contact_jacobian
from balance.dynamics.floating_base_inverse_dynamics import floating_base_torques
from balance.errors import InputError
from balance.robots import Robot

Array = NDArray[np.float64]

STATES = 5
SAME = 1e-8  # relative to the largest acceleration or torque


def feet(robot: Robot) -> list[Contact]:
    return [
        Contact(sole.frame, tuple(sole.placement.translation), face=True) for sole in robot.soles
    ]


def corners(robot: Robot) -> list[Contact]:
    """Four points under each foot: 24 rows of which 12 are independent."""
    return [
        Contact(sole.frame, tuple(sole.placement.act(corner)))
        for sole in robot.soles
        for corner in sole.corners
    ]


def draw(
    robot: Robot, contacts: list[Contact], rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """A state, and an acceleration that leaves the contacts where they are."""
    model = robot.model
    q = pin.integrate(model, robot.q_nominal, 0.2 * rng.uniform(-1.0, 1.0, model.nv))
    J = contact_jacobian(model, q, contacts)
    v = rng.normal(size=model.nv)
    v -= np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
    a = rng.normal(size=model.nv)
    a -= np.linalg.pinv(J, rcond=1e-9) @ (J @ a + contact_drift(model, q, v, contacts))
    return q, v, a


def motion(robot: Robot, q: Array, v: Array, torques: Array, reaction: Array, J: Array) -> Array:
    """dv/dt under torques and contact forces, by the articulated-body algorithm."""
    force = J.T @ reaction
    force[6:] += torques
    return np.array(pin.aba(robot.model, robot.model.createData(), q, v, force))


@pytest.mark.parametrize("contacts_of", [feet, corners])
def test_torques_and_contact_forces_produce_the_acceleration(
    toro: Robot, contacts_of: Callable[[Robot], list[Contact]]
) -> None:
    rng, contacts = np.random.default_rng(120), contacts_of(toro)
    for _ in range(STATES):
        q, v, a = draw(toro, contacts, rng)
        result = floating_base_torques(toro.model, q, v, a, contacts)
        J = contact_jacobian(toro.model, q, contacts)
        moved = motion(toro, q, v, result.torques, -result.force_on_environment, J)
        np.testing.assert_allclose(moved, a, rtol=0, atol=SAME * np.abs(moved).max())


def test_redistribution_changes_the_forces_and_not_the_motion(toro: Robot) -> None:
    """Two feet can push against each other in six ways."""
    rng, contacts = np.random.default_rng(121), feet(toro)
    q, v, a = draw(toro, contacts, rng)
    plain = floating_base_torques(toro.model, q, v, a, contacts)
    assert plain.redistribution.shape == (toro.model.nv - 6, 6)
    preferred = plain.torques + plain.redistribution @ (20.0 * rng.normal(size=6))
    other = floating_base_torques(toro.model, q, v, a, contacts, preferred=preferred)
    np.testing.assert_allclose(other.torques, preferred, atol=1e-7)
    assert np.abs(other.force_on_environment - plain.force_on_environment).max() > 10.0
    J = contact_jacobian(toro.model, q, contacts)
    moved = motion(toro, q, v, other.torques, -other.force_on_environment, J)
    np.testing.assert_allclose(moved, a, rtol=0, atol=SAME * np.abs(a).max())


def test_torques_are_the_nearest_to_the_preferred_ones_in_the_chosen_norm(toro: Robot) -> None:
    rng, contacts = np.random.default_rng(122), feet(toro)
    q, v, a = draw(toro, contacts, rng)
    preferred = 10.0 * rng.normal(size=toro.model.nv - 6)
    for weight in (None, 1.0 / toro.effort_limits**2):
        result = floating_base_torques(
            toro.model, q, v, a, contacts, preferred=preferred, weight=weight
        )
        cost = np.ones(toro.model.nv - 6) if weight is None else weight
        gradient = cost * (result.torques - preferred)
        along = np.abs(result.redistribution.T @ gradient).max()
        assert along < 1e-9 * np.abs(gradient).max()


def test_notes_formula_with_pseudo_inverses_is_the_unweighted_answer(toro: Robot) -> None:
    """(3.99)-(3.100) literally, with N_c made of M^-1."""
    rng, contacts = np.random.default_rng(123), feet(toro)
    q, v, a = draw(toro, contacts, rng)
    model, data = toro.model, toro.model.createData()
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    J, M_inv = contact_jacobian(model, q, contacts), np.linalg.inv(M)
    N_c = np.eye(model.nv) - M_inv @ J.T @ np.linalg.inv(J @ M_inv @ J.T) @ J
    P = N_c.T @ np.eye(model.nv)[:, 6:]
    P_pinv = np.linalg.pinv(P, rcond=1e-9)
    tau_0 = rng.normal(size=model.nv - 6)
    h = pin.nonLinearEffects(model, data, q, v)
    expected = P_pinv @ N_c.T @ (M @ a + h) + (np.eye(model.nv - 6) - P_pinv @ P) @ tau_0
    actual = floating_base_torques(model, q, v, a, contacts, preferred=tau_0).torques
    np.testing.assert_allclose(actual, expected, rtol=0, atol=SAME * np.abs(expected).max())


def test_acceleration_that_moves_a_contact_is_refused(toro: Robot) -> None:
    contacts = feet(toro)
    q, v, a = draw(toro, contacts, np.random.default_rng(124))
    a[2] += 0.1
    with pytest.raises(InputError, match="no joint torques produce this acceleration"):
        floating_base_torques(toro.model, q, v, a, contacts)


def test_robot_in_the_air_cannot_choose_its_acceleration(toro: Robot) -> None:
    v = np.zeros(toro.model.nv)
    with pytest.raises(InputError, match="no joint torques produce this acceleration"):
        floating_base_torques(toro.model, toro.q_nominal, v, v, [])


def test_wrong_arguments_are_named(toro: Robot) -> None:
    zero, contacts = np.zeros(toro.model.nv), feet(toro)
    with pytest.raises(InputError, match=r"acceleration has shape \(3,\)"):
        floating_base_torques(toro.model, toro.q_nominal, zero, np.zeros(3), contacts)
    with pytest.raises(InputError, match="weight has an entry of 0; all must be positive"):
        floating_base_torques(
            toro.model, toro.q_nominal, zero, zero, contacts, weight=np.zeros(toro.model.nv - 6)
        )
    with pytest.raises(InputError, match=r"preferred has shape \(1,\)"):
        floating_base_torques(toro.model, toro.q_nominal, zero, zero, contacts, preferred=[1.0])
