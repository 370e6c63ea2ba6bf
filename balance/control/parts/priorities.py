"""Least squares with priorities: a task never disturbs one of higher priority.

Each level asks for A_i x = b_i, RobotDynamicsETH (3.101), as well as the levels above it allow.

Differs: the notes write null-space projectors N_i (n, n).  Here Z_i is an orthonormal basis of the
same null space, N_i = Z_i Z_i^T, so that every level has fewer unknowns than the one before; the
solution is the same because N (A N)^+ = Z (A Z)^+.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.control.qp import QPStatus, QuadraticProgram, Solver
from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]

RANK_TOLERANCE = 1e-8
"""A singular value of A_i Z_i below this share of |A_i| is zero: higher levels decide there."""

_ROW_TOLERANCE = 1e-11
"""An inequality whose row falls below this share of its size is decided by higher levels."""

_ROUNDING = 1e-9
"""What an inequality gives way once x keeps it, relative to the size of its row.

Where a level is at odds with inequalities, its optimum leaves the next ones a set without interior,
in which rounding alone can make a program look infeasible.
"""

_SLACK_COST = 1e-10
"""Cost of directions that a level does not need, relative to those that it does."""


@dataclass(frozen=True, slots=True)
class Level:
    """Tasks of one priority: A x = b with ``A`` (rows, n) and ``b`` (rows,)."""

    A: Array
    b: Array


@dataclass(frozen=True, slots=True)
class _Factored:
    """A level in the coordinates c that the levels above leave free: x = x_above + basis @ c.

    With A basis = U [diag(gains) 0], it decides on the first len(gains) coordinates.
    """

    level: Level
    basis: Array
    U: Array
    gains: Array

    def error(self, x: Array) -> Array:
        """What is missing at ``x``, in the range of the level: gains * c should be this."""
        return np.asarray((self.level.b - self.level.A.dot(x)).dot(self.U))


class Hierarchy:
    """Levels of tasks on x (n,), the highest priority first, ready to be solved."""

    def __init__(self, levels: Iterable[Level], n: int) -> None:
        self.n = n
        self._levels: list[_Factored] = []
        Z = np.eye(n)
        for level in levels:
            if Z.shape[1] == 0:
                break
            U, s, Vt = np.linalg.svd(level.A.dot(Z))
            rank = int((s > RANK_TOLERANCE * np.linalg.norm(level.A)).sum())
            basis = Z.dot(Vt.T)
            self._levels.append(_Factored(level, basis, U[:, :rank], s[:rank]))
            Z = basis[:, rank:]

    def project(self) -> Array:
        """The solution x (n,) by iterative null-space projection; RobotDynamicsETH algorithm 2."""
        x = np.zeros(self.n)
        for part in self._levels:
            x += part.basis[:, : len(part.gains)].dot(part.error(x) / part.gains)
        return x

    def solve(self, C: Array, d: Array, solver: Solver) -> tuple[Array, QPStatus]:
        """The solution x (n,) with C x >= d on every level; RobotDynamicsETH (3.107).

        Each level is a QP whose unknowns are the coordinates that higher levels leave free: the
        equality rows of (3.107) hold by construction.  The inequalities bind all levels alike.

        Directions that a level does not need have a small cost, since a QP solver wants it to be
        positive; it vanishes when none of them is needed to keep the inequalities.

        The status is that of the first level.  If a solver fails on a later one, x keeps all
        inequalities and is optimal for the levels above, and that level leaves it as it is.
        """
        x, feasible = np.zeros(self.n), False
        sizes = np.linalg.norm(C, axis=1)
        least, given = (_ROW_TOLERANCE * sizes) ** 2, _ROUNDING * sizes
        for part in self._levels:
            rows, gains = C.dot(part.basis), part.gains
            slack_cost = _SLACK_COST * (gains[0] if len(gains) else 1.0) ** 2
            H, pull, step, lower, good, kept = level_program(
                gains, part.error(x), slack_cost, rows, d - C.dot(x), feasible, given, least
            )
            if not good:
                if len(kept) < len(rows):
                    rows, lower = rows[kept], lower[kept]
                solution = solver.solve(QuadraticProgram(H, pull, rows, lower))
                if solution.status is QPStatus.SOLVED:
                    step = solution.x
                elif feasible:
                    continue
                else:
                    return x, solution.status
            feasible = True
            x += part.basis.dot(step)
        return x, QPStatus.SOLVED


@compiled
def level_program(
    gains: Array,
    error: Array,
    slack_cost: float,
    rows: Array,
    lower: Array,
    feasible: bool,
    given: Array,
    least: Array,
) -> tuple[Array, Array, Array, Array, bool, NDArray[np.intp]]:
    """A level's QP in its own coordinates: H, g, what minimises it alone, and the rows' bounds.

    Then whether that minimum keeps all ``rows``, and the numbers of those that are longer than the
    roots of ``least``.  The level needs as many coordinates as it has ``gains``.
    """
    if feasible:
        lower = np.minimum(lower, 0.0) - given
    n, rank, costs = rows.shape[1], len(gains), gains * gains
    H, pull, step = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    diagonal = H.reshape(-1)[:: n + 1]
    diagonal[:rank], diagonal[rank:] = costs, slack_cost
    pull[:rank] = gains * error
    step[:rank] = pull[:rank] / costs
    good = bool((rows.dot(step) >= lower).all())
    kept = np.flatnonzero((rows * rows).dot(np.ones(n)) > least)
    return H, pull, step, lower, good, kept
