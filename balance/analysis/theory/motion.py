"""The identities of Garofalo2015 that hold along a motion: derivatives and conservation laws.

Derivatives are central differences along the motion; free flights are integrated to fourth order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    FINITE_DIFFERENCE_BOUND,
    CheckList,
    State,
    largest,
    relative_difference,
)
from balance.dynamics.checks import Array
from balance.dynamics.decoupled import decoupled_dynamics
from balance.dynamics.free_flight import free_flight
from balance.dynamics.momentum import centroidal_momentum

STEP_S = 1e-5
"""Step of central differences along the motion; truncation and rounding are both near 1e-10."""
DIFFERENCE_STATES = 20
FLIGHT_STATES = 3
FLIGHT_DURATION_S = 0.1
FLIGHT_STEPS = 100

_list = CheckList("Garofalo2015")


def rate_along_motion(
    state: State, quantity: Callable[[Array, Array], Array], acceleration: Array | None = None
) -> Array:
    """Time derivative of ``quantity(q, v)`` along the motion, by a central difference."""
    dv = np.zeros(state.model.nv) if acceleration is None else acceleration
    after, before = (
        quantity(pin.integrate(state.model, state.q, dt * state.v), state.v + dt * dv)
        for dt in (STEP_S, -STEP_S)
    )
    return (after - before) / (2.0 * STEP_S)


def torques_over_time(state: State) -> Callable[[float], Array]:
    """Torques that swing between plus and minus ``state.tau``, each joint at its own pace."""
    paces = np.linspace(5.0, 50.0, len(state.tau))
    return lambda t: state.tau * np.cos(paces * t)


def momenta_in_flight(model: pin.Model, state: State) -> tuple[Array, Array]:
    """Times (n,) and momenta (n, 6) of a free flight from ``state`` under changing torques."""
    flight = free_flight(
        model, state.q, state.v, torques_over_time(state), FLIGHT_DURATION_S, FLIGHT_STEPS
    )
    data = model.createData()
    rows = zip(flight.q, flight.v, strict=True)
    return flight.time, np.array([centroidal_momentum(model, q, v, data).h for q, v in rows])


@_list.add(
    "(7)",
    "h is constant along a flight without gravity, under random torques",
    FINITE_DIFFERENCE_BOUND,
    FLIGHT_STATES,
)
def momentum_in_weightless_flight(model: pin.Model, s: State) -> float:
    _, h = momenta_in_flight(s.workspace.weightless, s)
    return max(
        relative_difference(h[:, :3], np.tile(h[0, :3], (len(h), 1))),
        relative_difference(h[:, 3:], np.tile(h[0, 3:], (len(h), 1))),
    )


@_list.add(
    "(8)",
    "l is constant and p falls with m g along a flight with gravity, under random torques",
    FINITE_DIFFERENCE_BOUND,
    FLIGHT_STATES,
)
def momentum_in_falling_flight(model: pin.Model, s: State) -> float:
    time, h = momenta_in_flight(model, s)
    falling = h[0, :3] + s.momentum.mass * np.outer(time, model.gravity.linear)
    return max(
        relative_difference(h[:, :3], falling),
        relative_difference(h[:, 3:], np.tile(h[0, 3:], (len(h), 1))),
    )


@_list.add(
    "(14)",
    "dv/dt = A_Q^-1 (dxi/dt - dA_Q/dt A_Q^-1 xi) with dxi/dt along the motion",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def acceleration_from_xi(model: pin.Model, s: State) -> float:
    def xi(q: Array, v: Array) -> Array:
        return decoupled_dynamics(model, q, v, s.data).xi

    d = s.decoupled
    dA_Q = np.zeros((model.nv, model.nv))
    dA_Q[:6] = s.momentum.dA
    xi_rate = rate_along_motion(s, xi, s.acceleration)
    return relative_difference(d.A_Q_inv @ (xi_rate - dA_Q @ d.A_Q_inv @ d.xi), s.acceleration)


@_list.add(
    "(15) ff.",
    "passivity: dLambda/dt - 2 Gamma is skew-symmetric, dLambda/dt along the motion",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def velocity_terms_are_passive(model: pin.Model, s: State) -> float:
    def Lambda(q: Array, v: Array) -> Array:
        return decoupled_dynamics(model, q, v, s.data).Lambda

    rate, Gamma = rate_along_motion(s, Lambda), s.decoupled.Gamma
    symmetric = Gamma + Gamma.T
    blocks = [slice(0, 3), slice(3, 6), slice(6, None)]
    # The rate of Lambda_p is zero: its rounding is measured against Lambda_p over a second.
    return max(
        relative_difference(
            rate[block, block], symmetric[block, block], largest(s.decoupled.Lambda[block, block])
        )
        for block in blocks
    )


@_list.add(
    "(9)",
    "Pinocchio's dA/dt is the rate of A along the motion",
    FINITE_DIFFERENCE_BOUND,
    DIFFERENCE_STATES,
)
def momentum_matrix_rate(model: pin.Model, s: State) -> float:
    def A(q: Array, v: Array) -> Array:
        return centroidal_momentum(model, q, v, s.data).A

    rate = rate_along_motion(s, A)
    return max(
        relative_difference(rate[:3], s.momentum.dA[:3]),
        relative_difference(rate[3:], s.momentum.dA[3:]),
    )


CHECKS = _list.checks
