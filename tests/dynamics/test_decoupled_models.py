"""Garofalo2015 (33)-(37): generalised Jacobian, energy in three parts, the model of Ott et al."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics.decoupled import decoupled_dynamics
from balance.dynamics.generalised_jacobian import generalised_jacobian
from balance.dynamics.kinetic_energy import kinetic_energy
from balance.dynamics.ott_model import ott_model
from balance.errors import FrameError, InputError

TOLERANCE = 1e-9


@settings(deadline=None, derandomize=True, max_examples=50)
@given(model=random_robots(min_joints=1), seed=st.integers(0, 1000))
def test_a_link_moves_with_the_generalised_jacobian_while_the_momentum_is_zero(model, seed):
    (state,) = random_states(model, 1, seed)
    link, dq = state.links[0], state.v[6:]
    base = -np.linalg.solve(state.M[:6, :6], state.M[:6, 6:] @ dq)
    v = np.concatenate([base, dq])
    data = model.createData()
    pin.forwardKinematics(model, data, state.q, v)
    frame, axes = model.getFrameId(link), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    velocity = pin.getFrameVelocity(model, data, frame, axes).vector
    ours = generalised_jacobian(model, state.q, link) @ dq
    assert relative_difference(ours, velocity, scale=np.abs(v).max()) < TOLERANCE


@settings(deadline=None, derandomize=True, max_examples=50)
@given(model=random_robots(), seed=st.integers(0, 1000))
def test_kinetic_energy_is_the_sum_of_three_that_cannot_be_negative(model, seed):
    (state,) = random_states(model, 1, seed)
    energy = kinetic_energy(decoupled_dynamics(model, state.q, state.v))
    total = 0.5 * state.v @ state.M @ state.v
    assert energy.total == pytest.approx(total, rel=TOLERANCE)
    assert min(energy.linear, energy.angular, energy.joints) >= 0.0


def test_a_thrown_rigid_robot_has_linear_energy_only():
    model = random_robot(5, seed=6)
    v = np.zeros(model.nv)
    v[:3] = 3.0, 0.0, -4.0
    energy = kinetic_energy(decoupled_dynamics(model, pin.neutral(model), v))
    assert energy.linear == pytest.approx(12.5 * pin.computeTotalMass(model))
    assert energy.angular == pytest.approx(0.0, abs=1e-12)
    assert energy.joints == pytest.approx(0.0, abs=1e-12)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(model=random_robots(), seed=st.integers(0, 1000))
def test_the_model_of_ott_has_the_same_energy_and_power(model, seed):
    (state,) = random_states(model, 1, seed)
    ott = ott_model(model, state.q, state.v)
    assert relative_difference(ott.to_v @ ott.v_c, state.v) < TOLERANCE
    assert 0.5 * ott.v_c @ ott.M @ ott.v_c == pytest.approx(state.kinetic_energy, rel=TOLERANCE)
    power = (ott.to_v.T @ state.gravity) @ ott.v_c
    assert power == pytest.approx(ott.gravity @ ott.v_c, rel=TOLERANCE, abs=TOLERANCE)


def test_the_model_of_ott_keeps_the_base_rotation_coupled_to_the_joints():
    """What Garofalo2015 removes: M_12, and with it the excess of the joint block over Lambda_q."""
    model = random_robot(5, seed=6)
    (state,) = random_states(model, 1, seed=1)
    ott, Lambda_q = ott_model(model, state.q, state.v), state.decoupled.Lambda_q
    assert np.abs(ott.M_12).max() > 1e-2 * np.abs(ott.M_11).max()
    excess = ott.M[6:, 6:] - Lambda_q
    assert relative_difference(excess, ott.M_12.T @ np.linalg.solve(ott.M_11, ott.M_12)) < 1e-8
    assert np.linalg.eigvalsh(excess)[-1] > 1e-3


def test_bad_input_is_refused():
    model = random_robot(3, seed=0)
    with pytest.raises(FrameError, match="no frame 'hand'"):
        generalised_jacobian(model, pin.neutral(model), "hand")
    with pytest.raises(InputError, match="q has shape"):
        generalised_jacobian(model, np.zeros(2), "link_1")
    with pytest.raises(InputError, match="v has shape"):
        ott_model(model, pin.neutral(model), np.zeros(2))
    arm = pin.buildSampleModelManipulator()
    with pytest.raises(InputError, match="fixed base"):
        ott_model(arm, pin.neutral(arm), np.zeros(arm.nv))
