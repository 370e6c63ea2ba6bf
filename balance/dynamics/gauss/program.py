"""The equality rows of the whole-body programs in a rotation chart, Bouyarmane2012 (37) and (38).

Both ask for the same motions: (37) has the projected equation (35) on x = (qdd, u, f), (38) the
equation (32) with the multiplier as one more unknown, x = (qdd, u, f, lambda).  What a solver
minimises, and the bounds on u and f, are the same for both and are left to it; the law
``whole_body_qp`` solves (38).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array
from balance.dynamics.gauss import GaussDynamics, gauss_dynamics
from balance.dynamics.gauss.forward import PointForce, point_of
from balance.dynamics.gauss.jacobians import body_jacobians
from balance.dynamics.gauss.joints import actuated_velocities
from balance.dynamics.gauss.state import chart_state
from balance.errors import InputError


@dataclass(frozen=True, slots=True)
class ProgramRows:
    """``rows`` x = ``values``, shapes (r, size) and (r,), and where the unknowns are in x."""

    rows: Array
    values: Array
    acceleration: slice
    torques: slice
    forces: slice
    multipliers: slice


@dataclass(frozen=True, slots=True)
class ChartProgram:
    """What (37) and (38) are made of: the dynamics, motors (n, m), contacts J (3 k, n) and drift.

    Made by :func:`chart_program`.
    """

    dynamics: GaussDynamics
    motors: Array
    J: Array
    drift: Array

    def projected(self) -> ProgramRows:
        """Rows of (37): contacts at rest, (35) and (30) on (qdd, u, f)."""
        d = self.dynamics
        return self._assemble(d.A @ d.M, d.A @ self._bias, d.A @ self.motors, d.A @ self.J.T)

    def with_multipliers(self) -> ProgramRows:
        """Rows of (38): contacts at rest, (32) and (30) on (qdd, u, f, lambda)."""
        d = self.dynamics
        return self._assemble(d.M, self._bias, self.motors, self.J.T, d.C.T)

    @property
    def _bias(self) -> Array:
        return np.asarray(self.dynamics.N @ self.dynamics.qdot - self.dynamics.gravity)

    def _assemble(
        self, inertia: Array, bias: Array, motors: Array, forces: Array, *multipliers: Array
    ) -> ProgramRows:
        d, n, m, k = self.dynamics, len(self.J.T), self.motors.shape[1], len(self.J)
        motion = np.hstack([inertia, -motors, -forces, *(-block for block in multipliers)])
        size = motion.shape[1]
        kinematics = np.zeros((k + len(d.C), size))
        kinematics[:k, :n], kinematics[k:, :n] = self.J, d.C
        return ProgramRows(
            np.vstack([motion, kinematics]),
            np.concatenate([-bias, -self.drift, -d.constraint_bias]),
            slice(0, n),
            slice(n, n + m),
            slice(n + m, n + m + k),
            slice(n + m + k, size),
        )


def chart_program(
    model: pin.Model,
    chart: str,
    q: ArrayLike,
    qdot: ArrayLike,
    contacts: Sequence[PointForce],
) -> ChartProgram:
    """The parts of (37) and (38) for point ``contacts``, whose forces are unknown."""
    if not contacts:
        raise InputError("the list of contacts is empty; a program in free flight needs no forces")
    state = chart_state(model, chart, q, qdot)
    links, points = zip(*(point_of(model, contact) for contact in contacts), strict=True)
    jacobians = body_jacobians(state, links, np.stack(points))
    columns = actuated_velocities(state.parts)
    motors = np.zeros((len(state.q), len(columns)))
    E = np.eye(model.nv - 6) if state.rate_map is None else state.rate_map[0]
    motors[state.joints] = E.T[:, columns]
    J = jacobians.J_t.reshape(-1, len(state.q))
    drift = (jacobians.J_t_dot @ state.qdot).ravel()
    return ChartProgram(gauss_dynamics(model, chart, q, qdot), motors, J, drift)
