"""The best compromise between weighted tasks that contacts, drives and joints can bear.

    minimise    |rows dv/dt - values|^2 + |joint_rows * ddq/dt - joint_values|^2 + |z|^2
    subject to  the equation of motion, contacts at rest, wrenches in their cones, torques within
                their limits, joints within their ranges and speeds (these by a slack s of cost
                1e4 s^2),

with z the deviation of the contact forces from the even share.  Without violated limits that is a
linear system.  Otherwise U, its Cholesky factor, is at hand: with y = y_0 + c U^-1 u, y_0 that
answer, cost and distance are the same, and what is left is the point (u, z, s) next to the origin
that keeps all limits.  c is the robot's weight in N, so that entries are of the size of one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.compiled import compiled
from balance.control.parts.free_motion import FreeMotion, borne_forces, least_squares
from balance.control.parts.held_columns import held_motion
from balance.control.parts.joint_bounds import (
    SLACK_WEIGHT,
    JointBounds,
    kept,
    used_up,
    write_joint_rows,
)
from balance.control.parts.limits import Limits, write_limit_rows
from balance.control.parts.linear_algebra import divide_right
from balance.control.parts.whole_body import MotionEquations
from balance.control.qp import QPStatus, QuadraticProgram, Solver

Array = NDArray[np.float64]
Integers = NDArray[np.intp]


def _none() -> Integers:
    return np.empty(0, dtype=np.intp)


@dataclass(slots=True)
class Answer:
    """Torques (nj,) and wrenches (r,) of a step; ``wanted`` are the wrenches without limits.

    ``joints`` are the numbers of the joints' bounds that are used up, for laws that have them;
    ``margins`` those of all limits, if they are known.
    """

    torques: Array
    wrenches: Array
    wanted: Array
    joints: Integers = field(default_factory=_none)
    margins: Array | None = None


@dataclass(slots=True)
class Wanted:
    """What tasks want: rows (m, n) and values (m,), those of the joints (nj,) each."""

    rows: Array
    values: Array
    joint_rows: Array
    joint_values: Array


class WeightedTasks:
    """Solves the program above again and again, for contacts whose forces cost ``force_weight``."""

    def __init__(
        self, limits: Limits, joint_bounds: JointBounds | None, force_weight: Array, weight: float
    ) -> None:
        """``weight`` is that of the robot, N."""
        self.limits, self.joint_bounds, self._unit = limits, joint_bounds, weight
        self._wrenches, self._force_weight = len(force_weight), force_weight
        if joint_bounds is not None:
            self._ease = joint_bounds.ease * weight / float(np.sqrt(SLACK_WEIGHT))
        self._cost: tuple[Array, Array] | None = None

    def solve(
        self, equations: MotionEquations, wanted: Wanted, q: Array, v: Array, solver: Solver
    ) -> Answer | None:
        """The answer at a state; None if there is none."""
        eq, columns, force_weight = equations, equations.columns, self._weight_of(equations)
        rows, values = eq.on_coordinates(wanted.rows, wanted.values)
        good = False
        if columns is not None:
            good, a, Z, U, torques, forces = settle(
                eq.M, eq.bias, eq.J, eq.drift, eq.base,
                columns.determined, columns.tied, columns.free, force_weight,
                rows, values, wanted.joint_rows, wanted.joint_values,
            )  # fmt: skip
        if not good:
            free = FreeMotion(eq, force_weight)
            Z = free.Z
            a, U, good = least_squares(
                free.a_0, Z, rows, values, wanted.joint_rows, wanted.joint_values
            )
            if not good:
                return None
            free.a_0 = a
            torques, forces = free.tau_0, free.f_0
        wrenches = forces[: self._wrenches]
        margins = self.limits.margins(wrenches, torques)
        bounds = None
        if self.joint_bounds is not None:
            bounds = self.joint_bounds.near(q, v)
        if margins[margins.argmin()] >= 0.0 and (bounds is None or kept(a, *bounds)):
            return Answer(torques, wrenches, wrenches, margins=margins)
        free = FreeMotion(eq, force_weight, motion=(a, divide_right(Z, U)))
        solution = solver.solve(self.program(free, bounds))
        if solution.status is not QPStatus.SOLVED:
            return None
        x = self._unit * solution.x[:-1]
        torques, forces = free.forces(x)
        answer = Answer(torques, forces[: self._wrenches], wrenches)
        if bounds is not None:
            answer.joints = used_up(a + free.Z.dot(x[: free.n_y]), *bounds)
        return answer

    def _weight_of(self, equations: MotionEquations) -> Array:
        """The metric of the forces; a multiplier of a chart follows from the motion whatever."""
        more = len(equations.J) - self._wrenches
        return np.append(self._force_weight, np.ones(more)) if more else self._force_weight

    def program(self, free: FreeMotion, bounds: tuple[Array, Array] | None) -> QuadraticProgram:
        """The program in (u, z, s) / c where ``free`` counts from the answer without limits."""
        n = free.n_x + 1
        if self._cost is None or len(self._cost[1]) != n:
            self._cost = np.eye(n), np.zeros(n)
        f_0, F, tau_0, T = free.force_maps()
        limits, k = self.limits, self._wrenches
        hard = limits.n_cone_rows + 2 * len(tau_0)
        C, d = np.zeros((hard + 1, n)), np.zeros(hard + 1)
        if bounds is not None:
            C, d = np.zeros((hard + 2 * len(tau_0) + 1, n)), np.zeros(hard + 2 * len(tau_0) + 1)
            write_joint_rows(free.a_0, free.Z, *bounds, self._ease, C[hard:], d[hard:])
        write_limit_rows(limits.cones, limits.lower, limits.torques, f_0[:k], F[:k], tau_0, T, C, d)
        C[:, :-1] *= self._unit
        C[-1, -1] = 1.0
        return QuadraticProgram(*self._cost, *limits.bounded(C, d))


@compiled
def settle(
    M: Array,
    bias: Array,
    J: Array,
    drift: Array,
    base: int,
    determined: Integers,
    tied: Integers,
    free: Array,
    force_weight: Array,
    rows: Array,
    values: Array,
    joint_rows: Array,
    joint_values: Array,
) -> tuple[bool, Array, Array, Array, Array, Array]:
    """The answer without limits: accelerations a, Z and U, torques and forces.

    The first is whether it is good; where not, as with straight knees, orthogonal factors are.
    """
    a_0, Z, good = held_motion(J, drift, determined, tied, free)
    if not good:
        return False, a_0, Z, Z, a_0, drift
    a, U, one = least_squares(a_0, Z, rows, values, joint_rows, joint_values)
    torques, forces, borne = borne_forces(M, bias, J, base, force_weight, a)
    return one and borne, a, Z, U, torques, forces
