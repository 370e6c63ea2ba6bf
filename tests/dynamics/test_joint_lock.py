"""Traversaro2016 V-B: what an impulse that locks all joints leaves."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from hypothesis import given, settings
from hypothesis import strategies as st
from random_robots import random_robot, random_robots

from balance.analysis.theory.checks import random_states, relative_difference
from balance.dynamics import centroidal_momentum, free_flight, lock_joints
from balance.dynamics.checks import symmetrise

ANALYTIC = 1e-9


@settings(deadline=None, derandomize=True, max_examples=25)
@given(random_robots(), st.integers(0, 10**6))
def test_the_stiff_robot_turns_with_the_average_angular_velocity(model, seed):
    (state,) = random_states(model, 1, seed)
    after = lock_joints(model, state.q, state.v).velocity
    data = model.createData()
    pin.forwardKinematics(model, data, state.q, after)
    average = centroidal_momentum(model, state.q, state.v).average_velocity
    for joint in range(1, model.njoints):
        omega = data.oMi[joint].rotation @ data.v[joint].angular
        assert relative_difference(omega, average[3:]) < ANALYTIC
    assert not after[6:].any()


def test_impulses_act_on_the_joints_alone_and_take_energy():
    model = random_robot(6, 3)
    (state,) = random_states(model, 1, 1)
    lock = lock_joints(model, state.q, state.v)
    M = symmetrise(pin.crba(model, model.createData(), state.q))
    change = M @ (lock.velocity - state.v)
    np.testing.assert_allclose(change[:6], 0.0, atol=1e-12)
    np.testing.assert_allclose(change[6:], lock.impulse, atol=1e-12)
    # Work of the impulse: its mean velocity before and after.
    work = -0.5 * float(lock.impulse @ state.v[6:])
    assert relative_difference(lock.energy_lost, work) < ANALYTIC and lock.energy_lost > 0.0


def test_brakes_on_all_joints_lead_to_the_same_rotation():
    """A flight with strong torques against the motion: the faster the stop, the nearer to it."""
    model = random_robot(3, 4)
    model.gravity.setZero()
    (state,) = random_states(model, 1, 5)
    lock = lock_joints(model, state.q, state.v)
    gaps = []
    for duration in (4e-3, 2e-3, 1e-3):
        # Torques whose integral is the impulse: constant, as the shape hardly changes.
        flight = free_flight(
            model, state.q, state.v, lambda _, T=duration: lock.impulse / T, duration, 20
        )
        gaps.append(float(np.abs(flight.v[-1] - lock.velocity).max()))
    ratios = np.array(gaps[:-1]) / gaps[1:]
    np.testing.assert_allclose(ratios, 2.0, rtol=0.15)
