"""Which coordinates follow from the others while the contacts stay where they are.

J a + drift = 0 determines as many accelerations as it has rows.  With J = [J_d J_t 0], d those of
the joints that bear, t what else moves a contact, such as the base,

    a_d = -J_d^-1 (J_t a_t + drift).

Which coordinates are d is chosen once for a set of contacts; at a state that is one small linear
system in place of a null space by orthogonal factors.  Where it has no good answer, as for a knee
that is straight, the caller has those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import (
    CLOSED_CHAIN,
    RANK_TOLERANCE,
    pivoted_qr,
    solve_square,
)

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

LAST_RESORT = 1e-3  # what the base's columns count when coordinates are chosen: joints come first
FARTHEST = 1e5  # sum of squares of J_d^-1 J_t beyond which the choice does not suit a state


@dataclass(frozen=True, slots=True)
class HeldColumns:
    """Indices of d and of t, and Z (n, n - r) with ones where the free coordinates are.

    Its first columns belong to t, the others to the coordinates that move no contact.
    """

    determined: Integers
    tied: Integers
    free: Array


def held_columns(J: Array, moving: Integers, base: int) -> HeldColumns | None:
    """The choice for a Jacobian (r, n), of which the columns ``moving`` are not zero.

    None if rows follow from others, or all but so, as those of a closed chain with few joints.
    """
    r, n = J.shape
    weight = np.where(moving < base, LAST_RESORT, 1.0)
    _, _, order, _ = pivoted_qr(J[:, moving] * weight, RANK_TOLERANCE)
    if pivoted_qr(J[:, moving].T, CLOSED_CHAIN)[3] < r:
        return None
    determined = np.sort(moving[order[:r]])
    tied = np.setdiff1d(moving, determined)
    columns = np.concatenate([tied, np.setdiff1d(np.arange(n), moving)])
    free = np.zeros((n, n - r))
    free[columns, np.arange(n - r)] = 1.0
    return HeldColumns(determined, tied, free)


@compiled
def held_motion(
    J: Array, drift: Array, determined: Integers, tied: Integers, free: Array
) -> tuple[Array, Array, bool]:
    """a_0 and Z of all a = a_0 + Z y with J a + drift = 0, and whether they are any good."""
    t = len(tied)
    right = np.empty((len(drift), t + 1))
    right[:, :t] = J[:, tied]
    right[:, t] = drift
    following, regular = solve_square(J[:, determined], right)
    a_0, Z = np.zeros(len(free)), free.copy()
    a_0[determined] = -following[:, t]
    Z[determined, :t] = -following[:, :t]
    return a_0, Z, regular and bool((following[:, :t] ** 2).sum() < FARTHEST)
