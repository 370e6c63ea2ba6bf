"""Saccon2017 (3)-(8): Hamel's equations against RNEA, differences and frame velocities."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics import contact_parts, hamel_forces, hamel_terms, potential_forces
from balance.dynamics.checks import symmetrise
from balance.errors import InputError
from balance.robots import load_robot

ANALYTIC = 1e-10
DIFFERENCE = 1e-6
STEP = 1e-5


@settings(deadline=None, derandomize=True, max_examples=25)
@given(random_robots(), st.integers(0, 10**6))
def test_forces_from_the_lagrangian_are_those_of_rnea(model, seed):
    (state,) = random_states(model, 1, seed)
    a = np.random.default_rng(seed).normal(size=model.nv)
    expected = pin.rnea(model, model.createData(), state.q, state.v, a)
    assert relative_difference(hamel_forces(model, state.q, state.v, a), expected) < ANALYTIC


@pytest.mark.parametrize("name", ["toro", "g1"])
def test_derivatives_of_the_mass_matrix_equal_differences(name):
    model = load_robot(name).model
    (state,) = random_states(model, 1, 3)
    terms = hamel_terms(model, state.q, state.v)
    data = model.createData()

    def mass_matrix(k: int, h: float) -> np.ndarray:
        offset = np.zeros(model.nv)
        offset[6 + k] = h
        return symmetrise(pin.crba(model, data, pin.integrate(model, state.q, offset)))

    for k in range(model.nv - 6):
        slope = (mass_matrix(k, STEP) - mass_matrix(k, -STEP)) / (2.0 * STEP)
        assert relative_difference(terms.dM[k], slope, scale=1.0) < DIFFERENCE


def test_base_row_is_newton_and_eulers_for_a_single_body():
    """Torque-free: I domega/dt = -omega x I omega, m dv/dt = -omega x m v, about the CoM."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    inertia = np.diag([1.0, 2.0, 3.0])
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.zeros(3), inertia), pin.SE3.Identity())
    v = np.array([0.3, -0.2, 0.5, 1.0, -2.0, 0.7])
    left = hamel_terms(model, pin.neutral(model), v).left_side(np.zeros(6))
    expected = np.concatenate([2.0 * np.cross(v[3:], v[:3]), np.cross(v[3:], inertia @ v[3:])])
    np.testing.assert_allclose(left, expected, atol=1e-14)


def test_potential_is_that_of_the_com():
    model = random_robot(5, 2)
    (state,) = random_states(model, 1, 1)
    data = model.createData()

    def potential(offset: np.ndarray) -> float:
        com = pin.centerOfMass(model, data, pin.integrate(model, state.q, offset))
        return -pin.computeTotalMass(model) * float(model.gravity.linear @ com)

    slopes = [(potential(STEP * e) - potential(-STEP * e)) / (2 * STEP) for e in np.eye(model.nv)]
    assert relative_difference(potential_forces(model, state.q), -np.array(slopes)) < DIFFERENCE


def test_contact_parts_give_the_velocity_of_the_contact():
    model = random_robot(6, 4)
    (state,) = random_states(model, 1, 0)
    X, S = contact_parts(model, state.q, "link_4")
    data = model.createData()

    def origin(h: float) -> np.ndarray:
        pin.framesForwardKinematics(model, data, pin.integrate(model, state.q, h * state.v))
        return data.oMf[model.getFrameId("link_4")].translation.copy()

    rate = (origin(STEP) - origin(-STEP)) / (2.0 * STEP)
    assert relative_difference((X @ state.v[:6] + S @ state.v[6:])[:3], rate) < DIFFERENCE


def test_acceleration_of_the_wrong_size_is_refused():
    model = random_robot(2, 0)
    (state,) = random_states(model, 1, 0)
    with pytest.raises(InputError, match=r"acceleration has shape \(3,\); expected \(8,\)"):
        hamel_terms(model, state.q, state.v).left_side(np.zeros(3))
