"""Free flight of a floating-base robot, integrated to fourth order on its configuration manifold.

Made to see conservation laws hold, Garofalo2015 (7)-(8): no contacts, no limits, no damping.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_state, check_vector
from balance.errors import InputError

_DIVERGED = 1e6
"""Speed in m/s or rad/s that no step can follow."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A free flight; row k of each array belongs to ``time[k]``."""

    time: Array
    """(steps + 1,) s."""
    q: Array
    """(steps + 1, nq) configurations."""
    v: Array
    """(steps + 1, nv) velocities, Pinocchio's convention."""


def free_flight(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    torques: Callable[[float], Array],
    duration: float,
    steps: int,
) -> Flight:
    """Fly for ``duration`` seconds from (q, v) under the model's gravity and joint torques.

    ``torques(t)`` gives the joint torques (nv - 6,) in N m.  Runge and Kutta's fourth-order method
    after Munthe-Kaas: each step integrates the exponential coordinates of the configuration about
    the step's start, which keeps the order on rotations.
    """
    q, v = check_state(model, q, v)
    if not duration > 0.0 or steps < 1:
        raise InputError(f"a flight of {duration} s in {steps} steps; both must be positive")
    data = model.createData()

    def rates(q_start: Array, offset: Array, velocity: Array, t: float) -> tuple[Array, Array]:
        """Time derivatives of the offset from ``q_start`` and of the velocity."""
        if not np.max(np.abs(velocity)) < _DIVERGED:
            raise InputError(
                f"the flight diverges near t = {t:.4g} s with steps of {duration / steps:.3g} s; "
                "take more steps or smaller torques"
            )
        forces = np.concatenate([np.zeros(6), check_vector("torques", torques(t), model.nv - 6)])
        acceleration = pin.aba(model, data, pin.integrate(model, q_start, offset), velocity, forces)
        tangent = pin.dIntegrate(model, q_start, offset, pin.ArgumentPosition.ARG1)
        return np.linalg.solve(tangent, velocity), np.array(acceleration)

    time = np.linspace(0.0, duration, steps + 1)
    dt = duration / steps
    path = [(q, v)]
    for t in time[:-1]:
        q, v = path[-1]
        dq1, dv1 = rates(q, np.zeros(model.nv), v, t)
        dq2, dv2 = rates(q, 0.5 * dt * dq1, v + 0.5 * dt * dv1, t + 0.5 * dt)
        dq3, dv3 = rates(q, 0.5 * dt * dq2, v + 0.5 * dt * dv2, t + 0.5 * dt)
        dq4, dv4 = rates(q, dt * dq3, v + dt * dv3, t + dt)
        offset = dt / 6.0 * (dq1 + 2.0 * dq2 + 2.0 * dq3 + dq4)
        v = v + dt / 6.0 * (dv1 + 2.0 * dv2 + 2.0 * dv3 + dv4)
        path.append((pin.integrate(model, q, offset), v))
    return Flight(time, np.array([q for q, _ in path]), np.array([v for _, v in path]))
