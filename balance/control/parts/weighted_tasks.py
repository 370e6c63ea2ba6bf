"""The best compromise between weighted tasks that contacts, drives and joints can bear.

    minimise    |rows dv/dt - values|^2 + |joint_rows * ddq/dt - joint_values|^2 + |z|^2
    subject to  the equation of motion, contacts at rest, wrenches in their cones, torques within
                their limits, joints within their ranges and speeds (these by a slack s of cost
                1e4 s^2),

with z the deviation of the contact forces from the even share.  Without violated limits that is a
linear system.  Otherwise U, its Cholesky factor, is at hand: with y = y_0 + c U^-1 u, y_0 that
answer, cost and distance are the same, and what is left is the point (u, z, s) next to the origin
that keeps all limits.  c is a thousandth of the robot's weight: with it a certificate of 1e-8 means
that forces keep their limits to 1e-7 of the weight or so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.all_limits import at_solution, limited, within_limits
from balance.control.parts.cone_limits import Ended, at_cones, cone_limited, within_cones
from balance.control.parts.free_motion import (
    FreeMotion,
    borne_forces,
    least_squares,
)
from balance.control.parts.held_columns import held_motion
from balance.control.parts.joint_bounds import (
    SLACK_WEIGHT,
    JointBounds,
    kept,
)
from balance.control.parts.limits import Limits, limit_margins
from balance.control.parts.whole_body import MotionEquations
from balance.control.qp import QPStatus, QuadraticProgram, Solver
from balance.dynamics.compiled import COMPILED, compiled

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

UNIT = 0.001  # of the robot's weight, N
PAUSE = 8  # programs with all limits that a solver gets after one that has no answer in one call


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
class WeightedRows:
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
        self.limits, self.joint_bounds, self._unit = limits, joint_bounds, UNIT * weight
        self._wrenches, self._force_weight = len(force_weight), force_weight
        nothing = np.zeros(0)
        self._unbounded = nothing, nothing
        self._ease = nothing
        if joint_bounds is not None:
            self._ease = joint_bounds.ease * self._unit / float(np.sqrt(SLACK_WEIGHT))
        self._active = np.zeros(len(limits.lower), dtype=bool)  # rows of cones, at the last answer
        self._used_up, self._pause = np.zeros(0, dtype=bool), 0
        self._nothing_planned: dict[int, Array] = {}
        self._force_weights: dict[int, Array] = {}
        self._distances: dict[int, tuple[Array, Array]] = {}

    def solve(
        self,
        equations: MotionEquations,
        wanted: WeightedRows,
        q: Array,
        v: Array,
        solver: Solver,
        planned: Array | None = None,
    ) -> Answer | None:
        """The answer at a state, with ``planned`` forces (r,) as in ``FreeMotion``; or None."""
        eq, columns, force_weight = equations, equations.columns, self._weight_of(equations)
        planned = self._padded(planned, len(force_weight))
        rows, values = eq.on_coordinates(wanted.rows, wanted.values)
        good = False
        if columns is not None:
            good, a, Z, U, torques, forces = settle(
                eq.M, eq.bias, eq.J, eq.drift, eq.base,
                columns.determined, columns.tied, columns.free, force_weight, planned,
                rows, values, wanted.joint_rows, wanted.joint_values,
            )  # fmt: skip
        if not good:
            free = FreeMotion(eq, force_weight, planned=planned)
            Z = free.Z
            a, U, good = least_squares(
                free.a_0, Z, rows, values, wanted.joint_rows, wanted.joint_values
            )
            if not good:
                return None
            free.a_0 = a
            torques, forces = free.tau_0, free.f_0
        wrenches, limits = forces[: self._wrenches], self.limits
        least, most = self._unbounded if self.joint_bounds is None else self.joint_bounds.near(q, v)
        margins, in_cones, borne = judged(
            limits.cones, limits.lower, limits.torques, wrenches, torques, a, least, most
        )
        if in_cones and borne:
            return Answer(torques, wrenches, wrenches, margins=margins)
        if borne:
            # Only cones are in the way: mostly drives and joints can bear what keeps them.
            answer = self._in_cones(eq, force_weight, a, Z, U, forces, least, most, solver)
            if answer is not None:
                return answer
        known = (
            eq.M, eq.bias, eq.J, eq.base, force_weight, planned, a, Z, U, self._unit,
            limits.cones, limits.lower, limits.torques, least, most, self._ease,
        )  # fmt: skip
        used = self._used(len(limits.lower) + 2 * len(limits.torques) + 2 * len(least) + 1)
        self._pause = max(self._pause - 1, 0)
        if COMPILED and solver.name == "daqp" and limits.all_bounded and not self._pause:
            found, torques, wrenches, margins, joints = within_limits(*known, used)
            if found:
                return Answer(torques, wrenches, forces[: self._wrenches], joints, margins)
            self._pause = PAUSE
        used[:] = False
        motion, maps, C, d = limited(*known)
        solution = solver.solve(QuadraticProgram(*self._distance(C), *limits.bounded(C, d)))
        if solution.status is not QPStatus.SOLVED:
            return None
        if limits.all_bounded:
            used[solution.active] = True
        torques, wrenches, margins, joints = at_solution(
            solution.x, a, motion, *maps, limits.cones, limits.lower, limits.torques, least, most
        )
        return Answer(torques, wrenches, forces[: self._wrenches], joints, margins)

    def _in_cones(
        self,
        eq: MotionEquations,
        force_weight: Array,
        a: Array,
        Z: Array,
        U: Array,
        forces: Array,
        least: Array,
        most: Array,
        solver: Solver,
    ) -> Answer | None:
        """The answer if cones alone limit it; None if other limits do as well."""
        limits, k = self.limits, self._wrenches
        borne_by = eq.M, eq.bias, eq.J, eq.base
        bounds = limits.cones, limits.lower, limits.torques, least, most
        if COMPILED and solver.name == "daqp":
            ended, torques, wrenches, margins = within_cones(
                *borne_by, force_weight, a, Z, U, self._unit, forces, *bounds, self._active
            )
            if ended == Ended.KEPT:
                return Answer(torques, wrenches, forces[:k], margins=margins)
            if ended == Ended.OTHERS:
                return None
            self._active[:] = False
        F, C, d = cone_limited(
            eq.M, eq.J, eq.base, force_weight, Z, U, self._unit, limits.cones, limits.lower, forces
        )
        solution = solver.solve(QuadraticProgram(*self._distance(C), C, d))
        if solution.status is not QPStatus.SOLVED:
            return None
        good, torques, wrenches, margins = at_cones(
            solution.x, a, Z, U, self._unit, forces, F, *borne_by, *bounds
        )
        return Answer(torques, wrenches, forces[:k], margins=margins) if good else None

    def _padded(self, planned: Array | None, n: int) -> Array:
        """Planned forces with those of a chart's multipliers, which are zero."""
        if planned is not None and len(planned) == n:
            return planned
        padded = self._nothing_planned.setdefault(n, np.zeros(n))
        if planned is not None:
            padded = padded.copy()
            padded[: len(planned)] = planned
        return padded

    def _used(self, rows: int) -> NDArray[np.bool_]:
        """Which of so many limits were used up in the last answer with all of them."""
        if len(self._used_up) != rows:
            self._used_up = np.zeros(rows, dtype=bool)
        return self._used_up

    def _weight_of(self, equations: MotionEquations) -> Array:
        """The metric of the forces; a multiplier of a chart follows from the motion whatever."""
        n = len(equations.J)
        if n not in self._force_weights:
            more = np.full(n - self._wrenches, self._force_weight.min())
            self._force_weights[n] = np.concatenate([self._force_weight, more])
        return self._force_weights[n]

    def _distance(self, C: Array) -> tuple[Array, Array]:
        """H and g of the distance from the origin: the same ones every time, as a solver notes."""
        n = C.shape[1]
        if n not in self._distances:
            self._distances[n] = np.eye(n), np.zeros(n)
        return self._distances[n]


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
    planned: Array,
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
    torques, forces, borne = borne_forces(M, bias, J, base, force_weight, planned, a)
    return one and borne, a, Z, U, torques, forces


@compiled
def judged(
    cones: Array,
    lower: Array,
    torque_limits: Array,
    wrenches: Array,
    torques: Array,
    a: Array,
    least: Array,
    most: Array,
) -> tuple[Array, bool, bool]:
    """The margins of all limits, whether cones are kept, and whether drives and joints are."""
    margins = limit_margins(cones, lower, torque_limits, wrenches, torques)
    borne = margins[len(lower) :].min() >= 0.0 and kept(a, least, most)
    return margins, margins[: len(lower)].min() >= 0.0, borne
