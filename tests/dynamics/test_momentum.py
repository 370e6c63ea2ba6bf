"""Garofalo2015 (2)-(8), (16), (30)-(32): momentum, its rate, and wrenches at the CoM."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics.momentum import (
    centroidal_momentum,
    com_wrench_map,
    dynamically_consistent_inverse,
    wrench_at_com,
)
from balance.errors import InputError, SingularityError

ANALYTIC_TOLERANCE = 1e-9
DIFFERENCE_TOLERANCE = 1e-6


@settings(deadline=None, derandomize=True, max_examples=50)
@given(model=random_robots(), seed=st.integers(0, 1000))
def test_linear_momentum_is_mass_times_the_rate_of_the_com(model, seed):
    (state,) = random_states(model, 1, seed)
    step = 1e-6
    after, before = (
        pin.centerOfMass(model, model.createData(), pin.integrate(model, state.q, dt * state.v))
        for dt in (step, -step)
    )
    momentum = centroidal_momentum(model, state.q, state.v)
    rate = (after - before) / (2.0 * step)
    assert relative_difference(momentum.h[:3], momentum.mass * rate) < DIFFERENCE_TOLERANCE
    assert relative_difference(momentum.average_velocity[:3], rate) < DIFFERENCE_TOLERANCE


@settings(deadline=None, derandomize=True, max_examples=50)
@given(model=random_robots(), seed=st.integers(0, 1000))
def test_a_wrench_at_the_com_is_the_rate_of_the_momentum(model, seed):
    """Forward dynamics under T^T w, with the gravity that ABA adds taken off the result."""
    (state,) = random_states(model, 1, seed)
    momentum = centroidal_momentum(model, state.q, state.v)
    wrench = state.wrenches[0]
    forces = com_wrench_map(momentum).T @ wrench
    acceleration = pin.aba(model, model.createData(), state.q, state.v, forces)
    rate = momentum.A @ acceleration + momentum.dA @ state.v
    rate[:3] -= momentum.mass * model.gravity.linear
    scale = np.abs(momentum.dA @ state.v)
    assert relative_difference(rate[:3], wrench[:3], scale[:3].max()) < ANALYTIC_TOLERANCE
    assert relative_difference(rate[3:], wrench[3:], scale[3:].max()) < ANALYTIC_TOLERANCE


def test_a_force_off_the_com_turns_about_it():
    wrench = np.array([0.0, 0.0, 2.0, 0.1, 0.2, 0.3])
    carried = wrench_at_com(wrench, point=[1.0, 0.0, 5.0], com=[0.0, 3.0, 5.0])
    np.testing.assert_allclose(carried, [0.0, 0.0, 2.0, 0.1 - 6.0, 0.2 - 2.0, 0.3])


def test_the_consistent_inverse_is_the_least_energy_one():
    """T^{+M} y is the velocity of least kinetic energy with T v = y."""
    model = random_robot(6, seed=9)
    (state,) = random_states(model, 1, seed=0)
    T, y = state.jacobians[0], np.array([1.0, -2.0, 0.5, 0.3, 0.1, -1.0])
    v = dynamically_consistent_inverse(T, state.M) @ y
    np.testing.assert_allclose(T @ v, y, atol=1e-10)
    null_motions = np.linalg.svd(T)[2][6:]
    np.testing.assert_allclose(null_motions @ state.M @ v, 0.0, atol=1e-10)


def test_the_parts_of_the_matrix_are_named():
    model = random_robot(4, seed=2)
    (state,) = random_states(model, 1, seed=0)
    momentum = centroidal_momentum(model, state.q, state.v)
    np.testing.assert_array_equal(np.vstack([momentum.A_p, momentum.A_l]), momentum.A)
    angular = np.linalg.solve(momentum.inertia, momentum.h[3:])
    np.testing.assert_allclose(momentum.average_velocity[3:], angular, rtol=1e-10)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"T has shape \(2, 3\) and M has shape \(4, 4\)"):
        dynamically_consistent_inverse(np.zeros((2, 3)), np.eye(4))
    with pytest.raises(InputError, match="point has shape"):
        wrench_at_com(np.zeros(6), np.zeros(2), np.zeros(3))


@pytest.mark.parametrize(("T", "M"), [(np.ones((2, 3)), np.eye(3)), (np.eye(3), np.zeros((3, 3)))])
def test_a_singular_consistent_inverse_is_refused(T, M):
    with pytest.raises(SingularityError, match="dynamically consistent inverse does not exist"):
        dynamically_consistent_inverse(T, M)


def test_a_fixed_base_and_wrong_sizes_are_refused():
    arm = pin.buildSampleModelManipulator()
    with pytest.raises(InputError, match="fixed base"):
        centroidal_momentum(arm, pin.neutral(arm), np.zeros(arm.nv))
    model = random_robot(2, seed=0)
    with pytest.raises(InputError, match="v has shape"):
        centroidal_momentum(model, pin.neutral(model), np.zeros(3))
