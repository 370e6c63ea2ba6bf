"""Saccon2017 (43)-(46): the momentum map from the symmetry of the Lagrangian."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics import (
    fibre_derivative,
    group_action,
    infinitesimal_generator,
    noether_momentum,
)
from balance.errors import InputError

ANALYTIC = 1e-10
DIFFERENCE = 1e-8
STEP = 1e-5


@settings(deadline=None, derandomize=True, max_examples=20)
@given(random_robots(), st.integers(0, 10**6))
def test_fibre_derivative_along_the_generators_is_the_sum_of_the_links_momenta(model, seed):
    (state,) = random_states(model, 1, seed)
    data = model.createData()
    pin.forwardKinematics(model, data, state.q, state.v)
    links = range(1, model.njoints)
    momenta = [data.oMi[i].act(model.inertias[i] * data.v[i]).vector for i in links]
    found = noether_momentum(model, state.q, state.v)
    assert relative_difference(found, np.sum(momenta, axis=0)) < ANALYTIC


def test_action_carries_every_link_by_the_same_transformation():
    model = random_robot(4, 5)
    (state,) = random_states(model, 1, 0)
    g = pin.SE3.Random()
    before, after = model.createData(), model.createData()
    pin.forwardKinematics(model, before, state.q)
    pin.forwardKinematics(model, after, group_action(model, state.q, g))
    for here, there in zip(before.oMi[1:], after.oMi[1:], strict=True):
        assert (g * here).isApprox(there, ANALYTIC)


def test_fixed_base_is_refused():
    model = pin.buildSampleModelManipulator()
    with pytest.raises(InputError, match="fixed base"):
        infinitesimal_generator(model, pin.neutral(model), np.zeros(6))


def test_generator_is_the_rate_of_the_action():
    model = random_robot(3, 6)
    (state,) = random_states(model, 1, 2)
    xi = state.v[:6]
    after, before = (group_action(model, state.q, pin.exp6(h * xi)) for h in (STEP, -STEP))
    rate = pin.difference(model, before, after) / (2.0 * STEP)
    found = infinitesimal_generator(model, state.q, xi)
    np.testing.assert_allclose(found, rate, rtol=0, atol=DIFFERENCE)


def test_fibre_derivative_is_the_slope_of_pinocchios_kinetic_energy():
    model = random_robot(4, 1)
    model.armature = np.zeros(model.nv)  # pin.computeKineticEnergy leaves some rotors out
    (state,) = random_states(model, 1, 3)
    z, data = state.v[::-1], model.createData()
    after, before = (
        pin.computeKineticEnergy(model, data, state.q, state.v + h * z) for h in (1.0, -1.0)
    )
    found = fibre_derivative(model, state.q, state.v, z)
    assert relative_difference(found, 0.5 * (after - before)) < ANALYTIC
