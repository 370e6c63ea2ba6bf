"""Garofalo2015 (12)-(26) against explicit formulas in M^-1 and finite differences."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics.checks import symmetrise
from balance.dynamics.decoupled import decoupled_dynamics
from balance.errors import InputError, SingularityError
from balance.robots import load_robot

EXPLICIT_TOLERANCE = 1e-10
DIFFERENCE_TOLERANCE = 1e-6
P, L, Q = slice(0, 3), slice(3, 6), slice(6, None)


@pytest.fixture(scope="module", params=["toro", "talos", "icub", "g1"])
def humanoid(request):
    return load_robot(request.param).model


def explicit_terms(model, q, v):
    """M^-1, C, g, A and dA/dt straight from Pinocchio."""
    data = model.createData()
    M = symmetrise(pin.crba(model, data, q))
    C = np.array(pin.computeCoriolisMatrix(model, data, q, v))
    g = np.array(pin.computeGeneralizedGravity(model, data, q))
    pin.dccrba(model, data, q, v)
    return np.linalg.inv(M), C, g, data.Ag.copy(), data.dAg.copy()


def assert_equals_explicit_formulas(model, states, seed):
    for state in random_states(model, states, seed):
        q, v = state.q, state.v
        d = decoupled_dynamics(model, q, v)
        M_inv, C, g, A, dA = explicit_terms(model, q, v)
        A_Q = np.vstack([A, np.eye(model.nv)[6:]])
        Lambda_h = np.linalg.inv(A @ M_inv @ A.T)
        Lambda_q = np.linalg.inv(M_inv[6:, 6:])
        A_Q_inv = np.hstack([M_inv @ A.T @ Lambda_h, M_inv[:, 6:] @ Lambda_q])

        def close(a, b, scale=0.0):
            assert relative_difference(a, b, scale) < EXPLICIT_TOLERANCE

        close(d.A, A)
        close(d.A_Q, A_Q)
        # M^-1 spans eight decades between the base and a wrist, so each row has its own size.
        size_A = np.abs(M_inv) @ np.abs(A.T) @ np.abs(Lambda_h)
        size_Q = np.abs(M_inv[:, 6:]) @ np.abs(Lambda_q)
        for row in range(model.nv):
            close(d.A_Q_inv[row, P], A_Q_inv[row, P], scale=size_A[row, P].max())
            close(d.A_Q_inv[row, L], A_Q_inv[row, L], scale=size_A[row, L].max())
            close(d.A_Q_inv[row, Q], A_Q_inv[row, Q], scale=size_Q[row].max(initial=0.0))
        close(d.Lambda_p, Lambda_h[P, P])
        close(d.Lambda_l, Lambda_h[L, L])
        close(d.Lambda_q, Lambda_q)
        for part, block in ((P, d.Lambda_p), (L, d.Lambda_l), (Q, d.Lambda_q)):
            np.testing.assert_array_equal(d.Lambda[part, part], block)
        for row, column in ((P, L), (P, Q), (L, Q)):
            assert not d.Lambda[row, column].any()
            assert not d.Lambda[column, row].any()
        close(d.h[P], (A @ v)[P])
        close(d.h[L], (A @ v)[L])
        close(d.xi, np.concatenate([d.h, v[6:]]))
        rows = np.vstack([A @ M_inv @ C - dA, M_inv[6:] @ C])
        Gamma = d.Lambda @ rows @ A_Q_inv
        for part in (P, L, Q):
            terms = np.abs(A_Q_inv.T[part]) @ np.abs(C) @ np.abs(A_Q_inv)
            close(d.Gamma[part], Gamma[part], scale=terms.max(initial=0.0))
            force = np.abs(A_Q_inv.T[part]) @ np.abs(g)
            close(d.gravity[part], (A_Q_inv.T @ g)[part], scale=force.max(initial=0.0))


def test_every_term_equals_its_explicit_formula_on_humanoids(humanoid):
    assert_equals_explicit_formulas(humanoid, states=20, seed=3)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(model=random_robots(), seed=st.integers(0, 1000))
def test_every_term_equals_its_explicit_formula_on_random_robots(model, seed):
    assert_equals_explicit_formulas(model, states=1, seed=seed)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(model=random_robots(), seed=st.integers(0, 1000))
def test_inertia_rate_minus_twice_gamma_is_skew_symmetric(model, seed):
    (state,) = random_states(model, 1, seed)
    step = 1e-5
    after, before = (
        decoupled_dynamics(model, pin.integrate(model, state.q, dt * state.v), state.v).Lambda
        for dt in (step, -step)
    )
    Gamma = state.decoupled.Gamma
    rate = (after - before) / (2.0 * step)
    for part in (L, Q):
        symmetric = (Gamma + Gamma.T)[part, part]
        size = np.abs(state.decoupled.Lambda[part, part]).max(initial=0.0)
        assert relative_difference(rate[part, part], symmetric, size) < DIFFERENCE_TOLERANCE


def test_linear_momentum_is_decoupled_in_the_velocity_terms_too(humanoid):
    for state in random_states(humanoid, 10, seed=5):
        Gamma = state.decoupled.Gamma
        assert np.abs(Gamma[:3]).max() < 1e-13 * np.abs(Gamma).max()
        assert np.abs(Gamma[:, :3]).max() < 1e-13 * np.abs(Gamma).max()


def test_angular_momentum_stays_coupled_in_the_velocity_terms(humanoid):
    """Passivity fixes the symmetric part of Gamma_ll, which therefore cannot vanish."""
    (state,) = random_states(humanoid, 1, seed=5)
    Gamma, xi = state.decoupled.Gamma, state.decoupled.xi
    assert np.abs(Gamma[L, L] + Gamma[L, L].T).max() > 1e-3 * np.abs(state.decoupled.Lambda_l).max()
    exchanged = xi[L] @ Gamma[L, Q] @ xi[Q]
    stored = 0.5 * xi[L] @ (Gamma[L, L] + Gamma[L, L].T) @ xi[L]
    assert abs(exchanged) > 1e-3
    assert exchanged == pytest.approx(-stored, rel=1e-9)


def test_a_given_data_changes_nothing():
    model = random_robot(5, seed=1)
    (state,) = random_states(model, 1, seed=0)
    with_data = decoupled_dynamics(model, state.q, state.v, model.createData())
    without = decoupled_dynamics(model, state.q, state.v)
    np.testing.assert_array_equal(with_data.Gamma, without.Gamma)


def test_results_survive_the_next_evaluation_with_the_same_data():
    model = random_robot(5, seed=1)
    first, second = random_states(model, 2, seed=0)
    data = model.createData()
    result = decoupled_dynamics(model, first.q, first.v, data)
    A, Gamma = result.A.copy(), result.Gamma.copy()
    decoupled_dynamics(model, second.q, second.v, data)
    np.testing.assert_array_equal(result.A, A)
    np.testing.assert_array_equal(result.Gamma, Gamma)


def test_a_fixed_base_is_refused():
    model = pin.buildSampleModelManipulator()
    with pytest.raises(InputError, match="fixed base"):
        decoupled_dynamics(model, pin.neutral(model), np.zeros(model.nv))


def test_wrong_sizes_and_values_that_are_not_finite_are_refused():
    model = random_robot(3, seed=2, branching=False)
    q, v = pin.neutral(model), np.zeros(model.nv)
    with pytest.raises(InputError, match=rf"q has shape \({model.nq + 1},\)"):
        decoupled_dynamics(model, np.append(q, 0.0), v)
    with pytest.raises(InputError, match=rf"v has shape \({model.nv - 1},\)"):
        decoupled_dynamics(model, q, v[1:])
    v[2] = np.nan
    with pytest.raises(InputError, match=r"v\[2\] is nan"):
        decoupled_dynamics(model, q, v)


def free_body(inertia):
    model = pin.Model()
    model.name = "speck"
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return model


def test_a_robot_without_mass_is_refused():
    model = free_body(pin.Inertia.Zero())
    with pytest.raises(SingularityError, match=r"'speck' has a total mass of 0 kg"):
        decoupled_dynamics(model, pin.neutral(model), np.zeros(6))


@pytest.mark.parametrize("lever", [np.zeros(3), np.array([0.3, -0.2, 0.5])])
def test_a_robot_without_rotational_inertia_is_refused(lever):
    model = free_body(pin.Inertia(2.0, lever, np.zeros((3, 3))))
    (q, v) = pin.neutral(model), np.zeros(6)
    q[:3] = 1.0, -2.0, 0.5
    with pytest.raises(SingularityError, match="locked inertia of model 'speck'"):
        decoupled_dynamics(model, q, v)


def test_a_rod_of_no_thickness_is_refused():
    rod = pin.Inertia(2.0, np.zeros(3), np.diag([0.1, 0.1, 0.0]))
    model = free_body(rod)
    with pytest.raises(SingularityError, match="all its mass lies on one line"):
        decoupled_dynamics(model, pin.neutral(model), np.zeros(6))
