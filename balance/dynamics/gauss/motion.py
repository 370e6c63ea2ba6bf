"""Motion in a rotation chart, with the drift of its constraint and the step that removes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array
from balance.dynamics.gauss import gauss_dynamics
from balance.dynamics.gauss.forward import applied_force, projected_acceleration
from balance.dynamics.gauss.state import chart_state
from balance.errors import InputError
from balance.rotations import Chart


@dataclass(frozen=True, slots=True)
class GaussMotion:
    """``time`` (T,) in s; ``q``, ``qdot`` (T, n); ``drift`` (T,) the largest entry of C(q), and
    ``rate_drift`` (T,) of its time derivative, at each stored state."""

    time: Array
    q: Array
    qdot: Array
    drift: Array
    rate_drift: Array


def integrate_gauss(
    model: pin.Model,
    chart: str,
    q: ArrayLike,
    qdot: ArrayLike,
    torques: Callable[[float], ArrayLike],
    *,
    duration_s: float,
    step_s: float,
    project: bool = True,
) -> GaussMotion:
    """Runge-Kutta (4th order) motion under Bouyarmane2012 (35) and (30).

    (30) holds the second derivative of the constraint at zero, so C(q) itself drifts by the error
    of the integrator.  ``project=True`` returns q and qdot to the constraint after each step.
    """
    if not (step_s > 0.0 and duration_s >= step_s):
        raise InputError(
            f"step_s is {step_s:g} and duration_s {duration_s:g}; they must satisfy "
            "0 < step_s <= duration_s"
        )
    state = chart_state(model, chart, q, qdot)
    coordinates, rotations, size = state.chart, state.rotations, len(state.q)
    steps = round(duration_s / step_s)
    time = np.linspace(0.0, steps * step_s, steps + 1)
    path = np.empty((steps + 1, 2, size))
    path[0] = state.q, state.qdot

    def rate(t: float, x: Array) -> Array:
        # Between steps the state may be off the constraint; the equations hold on it.
        on_constraint = _project(coordinates, rotations, x)
        dynamics = gauss_dynamics(model, chart, *on_constraint)
        applied = applied_force(model, chart, on_constraint[0], torques(t))
        return np.stack([on_constraint[1], projected_acceleration(dynamics, applied)])

    for i in range(steps):
        moved = _runge_kutta_step(rate, time[i], path[i], step_s)
        path[i + 1] = _project(coordinates, rotations, moved) if project else moved
    return GaussMotion(time, path[:, 0], path[:, 1], *_drift(coordinates, rotations, path))


def _runge_kutta_step(rate: Callable[[float, Array], Array], t: float, x: Array, h: float) -> Array:
    k1 = rate(t, x)
    k2 = rate(t + 0.5 * h, x + 0.5 * h * k1)
    k3 = rate(t + 0.5 * h, x + 0.5 * h * k2)
    k4 = rate(t + h, x + h * k3)
    return x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def _project(chart: Chart, rotations: Sequence[slice], x: Array) -> Array:
    """Nearest (q, qdot) that satisfies the constraints and their first derivative."""
    projected = x.copy()
    for where in rotations:
        projected[0, where] = chart.project(x[0, where])
        rows = chart.constraint_rows(projected[0, where])
        projected[1, where] -= rows.T @ np.linalg.solve(rows @ rows.T, rows @ x[1, where])
    return projected


def _drift(chart: Chart, rotations: Sequence[slice], path: Array) -> tuple[Array, Array]:
    values, rates = [], []
    for where in rotations:
        theta, theta_dot = path[:, 0, where], path[:, 1, where]
        values.append(np.abs(chart.constraint(theta)))
        rates.append(np.abs(np.einsum("tci,ti->tc", chart.constraint_rows(theta), theta_dot)))
    drift, rate = np.concatenate(values, axis=1), 2.0 * np.concatenate(rates, axis=1)
    return drift.max(axis=1, initial=0.0), rate.max(axis=1, initial=0.0)
