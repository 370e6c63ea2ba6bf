"""Saccon2017 III-D: the equations of motion in the locked velocity."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics import decoupled_dynamics, lagrange_poincare, mechanical_connection
from balance.dynamics.connection import shape_configuration

ANALYTIC = 1e-9
DIFFERENCE = 1e-6
STEP = 1e-5


@settings(deadline=None, derandomize=True, max_examples=25)
@given(random_robots(), st.integers(0, 10**6))
def test_acceleration_is_that_of_aba(model, seed):
    model.gravity.setZero()
    (state,) = random_states(model, 1, seed)
    forces = np.random.default_rng(seed).normal(size=model.nv)
    reduced = lagrange_poincare(model, state.q, state.v)
    expected = pin.aba(model, model.createData(), state.q, state.v, forces)
    found = reduced.acceleration(forces)
    assert relative_difference(found, reduced.T @ expected + reduced.T_rate @ state.v) < ANALYTIC


@settings(deadline=None, derandomize=True, max_examples=15)
@given(random_robots(), st.integers(0, 10**6))
def test_inertia_of_the_shape_is_lambda_q_and_kinetic_energy_has_no_mixed_terms(model, seed):
    (state,) = random_states(model, 1, seed)
    reduced = lagrange_poincare(model, state.q, state.v)
    Lambda_q = decoupled_dynamics(model, state.q, state.v).Lambda_q
    assert relative_difference(reduced.M[6:, 6:], Lambda_q) < ANALYTIC
    assert not reduced.M[:6, 6:].any() and not reduced.M[6:, :6].any()
    velocity = np.concatenate([reduced.Omega, state.v[6:]])
    energy = 0.5 * float(velocity @ reduced.M @ velocity)
    assert relative_difference(energy, state.kinetic_energy) < ANALYTIC


def test_without_momentum_the_joints_are_those_of_a_fixed_base_with_the_reduced_inertia():
    """The bias is that of Christoffel symbols of S', here by differences, and no curvature."""
    model = random_robot(4, 8)
    rng = np.random.default_rng(1)
    s, ds = rng.normal(size=4), rng.normal(size=4)
    v = np.concatenate([-mechanical_connection(model, s).connection @ ds, ds])

    def inertia(k: int, h: float) -> np.ndarray:
        moved = shape_configuration(model, s + h * np.eye(4)[k])
        return lagrange_poincare(model, moved, v).M[6:, 6:]

    dS = np.array([(inertia(k, STEP) - inertia(k, -STEP)) / (2.0 * STEP) for k in range(4)])
    expected = np.tensordot(ds, dS, 1) @ ds - 0.5 * np.einsum("kij,i,j->k", dS, ds, ds)
    reduced = lagrange_poincare(model, shape_configuration(model, s), v)
    np.testing.assert_allclose(reduced.Omega, 0.0, atol=1e-14)
    assert relative_difference(reduced.bias[6:], expected) < DIFFERENCE


def test_rotating_without_joint_motion_is_eulers_equation_of_the_locked_body():
    model = random_robot(5, 3)
    q = shape_configuration(model, np.full(5, 0.4))
    v = np.concatenate([np.array([0.1, 0.2, -0.3, 1.0, -0.5, 0.8]), np.zeros(5)])
    reduced = lagrange_poincare(model, q, v)
    momentum = pin.Force(reduced.M[:6, :6] @ v[:6])
    np.testing.assert_allclose(reduced.bias[:6], pin.Motion(v[:6]).cross(momentum).vector)
