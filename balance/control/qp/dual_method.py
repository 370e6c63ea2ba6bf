"""The dual method of Goldfarb and Idnani for strictly convex programs, with a limit of rounds.

"A numerically stable dual method for solving strictly convex quadratic programs", Mathematical
Programming 27, 1983.  With H = U^T U, the minimiser H x_0 = g without rows and w = U (x - x_0) the
program is

    minimise  1/2 |w|^2    subject to    B w >= e,    B = C U^-1,    e = d - C x_0,

rows of B and e scaled so that those of B have length one.  The active ones are B_A^T = Q^T R with
orthonormal rows of Q and an upper R.  All the way w = B_A^T u with u >= 0.  The row b that is
violated most is taken in along z = b - Q^T Q b, while u falls by r = R^-1 Q b; whose u reaches zero
before that is dropped.  A b without a z depends on active rows: only u changes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import (
    contiguous,
    divide_right,
    divide_transposed,
    divide_upper,
    rotate,
    solve_positive,
)

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

VIOLATED = 1e-13
"""Of the terms of a row: what is violated by less is kept, but for rounding."""
CONTRADICTION = 1e-9
"""The same for a row that depends on active ones: what is violated by more contradicts them."""
DEPENDENT = 1e-11
"""A unit row whose part beyond the active ones is shorter depends on them."""
NO_PULL = 1e-13  # of the largest entry of r: what is smaller is rounding
SOLVED, INFEASIBLE, FAILED = 0, 1, 2  # as ``QPStatus``


@compiled
def dual_method(
    H: Array, g: Array, C: Array, d: Array, rounds: int
) -> tuple[Array, Array, Integers, int, int]:
    """x (n,), the multipliers (m,), the active rows, the status and the rounds that it took."""
    m, n = C.shape
    multipliers, active = np.zeros(m), np.empty(n + 1, np.intp)
    U, x, positive = solve_positive(H, g)
    raised = d - C.dot(x)
    if not positive or not math.isfinite(x.sum()) or math.isnan(raised.sum()):
        return x, multipliers, active[:0], FAILED, 0
    B = C if np.array_equal(H, np.eye(n)) else divide_right(C, U)
    size = np.sqrt((B * B).dot(np.ones(n)))
    inverse = 1.0 / np.where(size > 0.0, size, 1.0)
    rounding = VIOLATED * (np.abs(d) * inverse + math.sqrt(max(x.dot(g), 0.0)))
    Q, R = np.zeros((n, n)), np.zeros((n, n))
    w, u = np.zeros(n), np.zeros(n + 1)
    k, row, exact = 0, -1, True
    start = x
    for done in range(rounds):
        if row < 0:
            missing = (d - C.dot(x) if exact else raised - B.dot(w)) * inverse - rounding
            missing[active[:k]] = -1.0
            row = missing.argmax() if m else -1
            if row < 0 or missing[row] <= VIOLATED * _length(w):
                rows = active[:k]
                if exact:
                    multipliers[rows] = np.maximum(u[:k], 0.0) * inverse[rows]
                    return x, multipliers, rows, SOLVED, done
                # Steps leave rounding behind: x and u are mended, and then looked at once more.
                x = start + divide_upper(U, w)
                gradient = g + (u[:k] * inverse[rows]).dot(C[rows]) - H.dot(x)
                missed = (d[rows] - C[rows].dot(x)) * inverse[rows]
                turn, pull = _refined(U, Q[:k], R, gradient, missed)
                x, w, u[:k] = x + divide_upper(U, turn), w + turn, u[:k] + pull
                row, exact = -1, True
                continue
            u[k] = 0.0
        b = B[row] * inverse[row]
        along = Q[:k].dot(b)
        z = b - along.dot(Q[:k])
        height = z.dot(z)
        if height < 0.5:  # orthogonal but for rounding only if done twice
            again = Q[:k].dot(z)
            z -= again.dot(Q[:k])
            along += again
            height = z.dot(z)
        r = divide_upper(R, along)
        gap, full = raised[row] * inverse[row] - b.dot(w), math.inf
        if k < n and height > DEPENDENT**2:
            full = gap / height
        step, out = _furthest(r, u)
        if not min(step, full) < math.inf:
            if not gap < CONTRADICTION / VIOLATED * rounding[row] + CONTRADICTION * _length(w):
                return x, multipliers, active[:0], INFEASIBLE, done
            rounding[row], row = math.inf, -1  # kept as well as the rows that it depends on are
            continue
        if full < math.inf:
            w += min(step, full) * z
        u[:k] -= min(step, full) * r
        u[k] += min(step, full)
        active[k] = row
        if full <= step:
            height = math.sqrt(height)
            Q[k], R[:k, k], R[k, k] = z / height, along, height
            k, row, exact = k + 1, -1, False
        else:
            _drop(Q, R, active, u, out, k)
            k -= 1
    return x, multipliers, active[:0], FAILED, rounds


@compiled
def _length(x: Array) -> float:
    return math.sqrt(x.dot(x))


@compiled
def _refined(U: Array, Q: Array, R: Array, gradient: Array, missed: Array) -> tuple[Array, Array]:
    """What w and u lack, from what the optimality conditions of the active rows lack."""
    left = divide_transposed(U, gradient.reshape((len(gradient), 1)))[:, 0].copy()
    k = len(missed)
    along = divide_transposed(contiguous(R[:k, :k]), missed.reshape((k, 1)))[:, 0].copy()
    along -= Q.dot(left)
    return left + along.dot(Q), divide_upper(R, along)


@compiled
def _furthest(r: Array, u: Array) -> tuple[float, int]:
    """How far u - t r stays positive, and which entry ends it; without such, infinity and -1."""
    step, out = math.inf, -1
    if len(r):
        least = NO_PULL * max(r.max(), -r.min())
        for i in range(len(r)):
            if r[i] > least and max(u[i], 0.0) < step * r[i]:
                step, out = max(u[i], 0.0) / r[i], i
    return step, out


@compiled
def _drop(Q: Array, R: Array, active: Integers, u: Array, out: int, k: int) -> None:
    """Take the row at ``out`` from the ``k`` active ones; R is triangular again by rotations."""
    active[out:k], u[out:k] = active[out + 1 : k + 1].copy(), u[out + 1 : k + 1].copy()
    R[:k, out : k - 1] = R[:k, out + 1 : k].copy()
    for i in range(out, k - 1):
        length = math.hypot(R[i, i], R[i + 1, i])
        c, s = R[i, i] / length, R[i + 1, i] / length
        rotate(R, i, c, s)
        rotate(Q, i, c, s)
