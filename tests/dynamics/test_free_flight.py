"""Free flights conserve what Garofalo2015 (7)-(8) say, to the order of the integrator."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_robot

from balance.analysis.theory.checks import random_states
from balance.dynamics.decoupled import decoupled_dynamics
from balance.dynamics.free_flight import free_flight
from balance.dynamics.kinetic_energy import kinetic_energy
from balance.dynamics.momentum import centroidal_momentum
from balance.errors import InputError


@pytest.fixture(scope="module")
def model():
    robot = random_robot(5, seed=11)
    robot.gravity.setZero()
    return robot


@pytest.fixture(scope="module")
def state(model):
    (state,) = random_states(model, 1, seed=0)
    return state


def swinging(state):
    return lambda t: state.tau * np.cos(20.0 * t)


def idle(state):
    return lambda t: np.zeros(len(state.tau))


def momentum_drift(model, state, steps):
    flight = free_flight(model, state.q, state.v, swinging(state), 0.5, steps)
    start, end = (centroidal_momentum(model, flight.q[k], flight.v[k]).h for k in (0, -1))
    return np.abs(end - start).max() / np.abs(start).max()


def test_momentum_drift_shrinks_with_the_fourth_power_of_the_step(model, state):
    coarse, fine = momentum_drift(model, state, 100), momentum_drift(model, state, 200)
    assert fine < 1e-6
    assert 3.5 < np.log2(coarse / fine) < 5.5


def test_energy_is_conserved_without_torques_and_moves_between_rotation_and_joints(model, state):
    flight = free_flight(model, state.q, state.v, idle(state), 0.5, 500)
    energies = [
        kinetic_energy(decoupled_dynamics(model, q, v))
        for q, v in zip(flight.q, flight.v, strict=True)
    ]
    total = np.array([energy.total for energy in energies])
    angular = np.array([energy.angular for energy in energies])
    np.testing.assert_allclose(total, total[0], rtol=1e-7)
    assert np.ptp(angular) > 1e-2 * total[0]


def test_a_robot_at_rest_falls_like_a_stone():
    model = random_robot(4, seed=5)
    q, v = pin.neutral(model), np.zeros(model.nv)
    flight = free_flight(model, q, v, lambda t: np.zeros(model.nv - 6), 0.3, 30)
    start, end = (pin.centerOfMass(model, model.createData(), flight.q[k]).copy() for k in (0, -1))
    np.testing.assert_allclose(end - start, [0.0, 0.0, -0.5 * 9.81 * 0.3**2], atol=1e-12)
    np.testing.assert_allclose(flight.q[-1][7:], q[7:], atol=1e-12)


def test_bad_input_is_refused(model, state):
    with pytest.raises(InputError, match="both must be positive"):
        free_flight(model, state.q, state.v, idle(state), 0.0, 10)
    with pytest.raises(InputError, match="both must be positive"):
        free_flight(model, state.q, state.v, idle(state), 0.1, 0)
    with pytest.raises(InputError, match="torques has shape"):
        free_flight(model, state.q, state.v, lambda t: np.zeros(2), 0.1, 10)
    with pytest.raises(InputError, match="the flight diverges near t"):
        free_flight(model, state.q, state.v, lambda t: 1e12 * np.ones(5), 0.1, 10)
