"""The point next to the origin that keeps C x >= d, by least squares with positive multipliers.

With A some rows, x = C_A^T m and C_A C_A^T m = d_A is the point next to the origin on all of them.
It is the answer if no m is negative and no other row is violated.  As Lawson and Hanson (Solving
Least Squares Problems, 1974, chapter 23) do, the row that is violated most is taken in, and whose
multiplier would turn negative is left out.  From the rows of the last answer on that mostly takes
one or two small linear systems.  There is no care for rows that nearly depend on each other: who
asks checks the answer, and has another solver.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import solve_positive

Array = NDArray[np.float64]

TOLERANCE = 1e-11  # of a row's violation, relative to the sizes of its terms
MOST_ROUNDS = 60


@compiled
def nearest_point(
    C: Array, d: Array, active: NDArray[np.bool_], rounds: int = MOST_ROUNDS
) -> tuple[Array, Array, bool]:
    """x (n,), the multipliers (m,), and whether they are an answer, found in so many ``rounds``.

    ``active`` (m,) are the rows to start from, and those of the answer afterwards.
    """
    m, n = C.shape
    x, multipliers = np.zeros(n), np.zeros(m)
    size = np.sqrt((C * C).sum(axis=1))
    last = -1
    for _ in range(rounds):
        rows = np.flatnonzero(active)
        if len(rows) > n:
            return x, multipliers, False
        own = C[rows]
        _, wanted, positive = solve_positive(own.dot(own.T), d[rows])
        if not positive:
            return x, multipliers, False
        if len(rows) and wanted.min() <= 0.0:
            # As far as no multiplier turns negative; rows without one are left out.
            step, out = 1.0, -1
            for i in range(len(rows)):
                now = multipliers[rows[i]]
                if wanted[i] <= 0.0 and now / (now - wanted[i] + 1e-300) <= step:
                    step, out = now / (now - wanted[i] + 1e-300), i
            for i in range(len(rows)):
                row = rows[i]
                multipliers[row] += step * (wanted[i] - multipliers[row])
                if i == out or multipliers[row] < 0.0:
                    multipliers[row], active[row] = 0.0, False
            if rows[out] == last:  # what was taken in must not go at once: no progress
                return x, multipliers, False
            continue
        multipliers[:] = 0.0
        multipliers[rows] = wanted
        x = wanted.dot(own)
        missing = d - C.dot(x)
        missing[rows] = -1.0
        excess = missing - TOLERANCE * (np.abs(d) + size * (1.0 + np.sqrt(x.dot(x))))
        worst = excess.argmax()
        if excess[worst] <= 0.0:
            return x, multipliers, True
        last = worst
        active[worst] = True
    return x, multipliers, False
