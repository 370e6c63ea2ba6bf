"""Least squares with priorities: a task never disturbs one of higher priority.

Each level asks for A_i x = b_i, RobotDynamicsETH (3.101), as well as the levels above it allow.

Differs: the notes write null-space projectors N_i (n, n).  Here Z_i is an orthonormal basis of the
same null space, N_i = Z_i Z_i^T, so that every level has fewer unknowns than the one before; the
solution is the same because A N (A N)^+ = A Z (A Z)^+.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.qp import QPStatus, QuadraticProgram, Solver

Array = NDArray[np.float64]

RANK_TOLERANCE = 1e-8
"""A singular value of A_i Z_i below this share of |A_i| is zero: higher levels decide there."""

_ROW_TOLERANCE = 1e-11
"""An inequality whose row falls below this share of its size is decided by higher levels."""

_ROUNDING = 1e-12
"""What an inequality gives way once x keeps it, relative to the size of its row.

Where a level is at odds with inequalities, its optimum leaves the next ones a set without interior,
in which rounding alone can make a program look infeasible.
"""

_SLACK_COST = 1e-8
"""Cost of directions that a level does not need, relative to those that it does."""


@dataclass(frozen=True, slots=True)
class Level:
    """Tasks of one priority: A x = b with ``A`` (rows, n) and ``b`` (rows,)."""

    A: Array
    b: Array


def by_projection(levels: Iterable[Level], n: int) -> Array:
    """The solution x (n,) by iterative null-space projection; RobotDynamicsETH algorithm 2."""
    x, Z = np.zeros(n), np.eye(n)
    for level in levels:
        if Z.shape[1] == 0:
            break
        error, gains, V = _split(level, x, Z)
        rank = len(gains)
        x += Z.dot(V[:, :rank].dot(error / gains))
        Z = Z.dot(V[:, rank:])
    return x


def by_programs(
    levels: Iterable[Level], C: Array, d: Array, solver: Solver
) -> tuple[Array, QPStatus]:
    """The solution x (n,) with C x >= d on every level; RobotDynamicsETH (3.107).

    Each level is a QP whose unknowns are the coordinates that higher levels leave free: the
    equality rows of (3.107) hold by construction.  The inequalities bind all levels alike.

    Directions that a level does not need have a small cost, which quadratic programming wants to be
    positive; it vanishes when none of them is needed to keep the inequalities.

    The status is that of the first level.  If a solver fails on a later one, x keeps all
    inequalities and is optimal for the levels above, and that level leaves it as it is.
    """
    n = C.shape[1]
    x, Z = np.zeros(n), np.eye(n)
    sizes = np.linalg.norm(C, axis=1)
    feasible = False
    for level in levels:
        if Z.shape[1] == 0:
            break
        error, gains, V = _split(level, x, Z)
        Z = Z.dot(V)
        rank, size = len(gains), Z.shape[1]
        H = np.full(size, _SLACK_COST * (gains[0] ** 2 if rank else 1.0))
        g = np.zeros(size)
        H[:rank], g[:rank] = gains**2, gains * error
        rows, lower = C.dot(Z), d - C.dot(x)
        if feasible:
            lower = np.minimum(lower, 0.0) - _ROUNDING * sizes
        step = g / H
        if not (rows.dot(step) >= lower).all():
            kept = np.linalg.norm(rows, axis=1) > _ROW_TOLERANCE * sizes
            program = QuadraticProgram(np.diag(H), g, rows[kept], lower[kept])
            solution = solver.solve(program)
            if solution.status is QPStatus.SOLVED:
                step = solution.x
            elif feasible:
                step = np.zeros(size)
            else:
                return x, solution.status
        feasible = True
        x += Z.dot(step)
        Z = Z[:, rank:]
    return x, QPStatus.SOLVED


def _split(level: Level, x: Array, Z: Array) -> tuple[Array, Array, Array]:
    """Singular values of A Z (rank,), its right singular vectors, and the error in its range.

    With A Z = U diag(s) V^T, coordinates c = V^T y have A (x + Z y) - b = U (s c - error).
    """
    U, s, Vt = np.linalg.svd(level.A.dot(Z))
    rank = int((s > RANK_TOLERANCE * np.linalg.norm(level.A)).sum())
    error = (level.b - level.A.dot(x)).dot(U[:, :rank])
    return error, s[:rank], Vt.T
