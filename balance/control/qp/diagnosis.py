"""Which inequalities of a program contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from balance.errors import QPError

Array = NDArray[np.float64]

NAMED = 5  # limits in a sentence; a reader takes in no more
FEASIBLE = 1e-7
"""Largest violation of a row, with rows scaled to unit length, that still counts as none."""


class Limit(NamedTuple):
    """A limit in words: whose it is, such as a contact or the drives, and which of it."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}: {self.name}"


def violation(C: Array, d: Array) -> tuple[float, Array]:
    """The least t >= 0 for which C x >= d - t has a solution, and a weight of every row.

    With rows of unit length t is a distance.  The weights are the multipliers of the linear
    program: if t > 0, rows of zero weight play no part in the contradiction, because the others
    add up to 0 >= t already (lemma of Farkas).
    """
    from scipy.optimize import linprog  # slow to import, and only a conflict needs it

    if len(d) == 0:
        return 0.0, np.zeros(0)
    n = C.shape[1]
    found = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.column_stack([-C, -np.ones(len(d))]),
        b_ub=-d,
        bounds=[*[(None, None)] * n, (0.0, None)],
        method="highs",
    )
    if found.status != 0:
        raise QPError(f"the conflict of {len(d)} inequalities cannot be analysed: {found.message}")
    return float(found.x[-1]), -np.asarray(found.ineqlin.marginals)


def smallest_conflict(C: Array, d: Array) -> list[int]:
    """Rows of C x >= d without a common solution, of which none can be left out; [] if feasible.

    The multipliers of the least violation name at most n + 1 rows; those of them without which the
    rest has a solution are kept (a deletion filter).  The set is irreducible, not always unique.
    """
    sizes = np.linalg.norm(C, axis=1)
    empty = sizes < 1e-12
    impossible = np.flatnonzero(empty & (d > FEASIBLE))
    if impossible.size:  # 0 >= something positive
        return [int(impossible[0])]
    rows = np.flatnonzero(~empty)
    unit, bound = C[rows] / sizes[rows, None], d[rows] / sizes[rows]
    least, weights = violation(unit, bound)
    if least <= FEASIBLE:
        return []
    kept = [int(i) for i in np.flatnonzero(weights > 1e-12)]
    for row in list(kept):
        rest = [i for i in kept if i != row]
        if violation(unit[rest], bound[rest])[0] > FEASIBLE:
            kept = rest
    return [int(rows[i]) for i in kept]


def conflict_sentence(C: Array, d: Array, limits: Sequence[Limit]) -> str:
    """The smallest conflict in words: the limits that weigh most, by owner; empty if none."""
    rows = smallest_conflict(C, d)
    if not rows:
        return ""
    if len(rows) == 1:
        return f"{limits[rows[0]]} cannot be kept"
    sizes = np.linalg.norm(C[rows], axis=1)
    weights = violation(C[rows] / sizes[:, None], d[rows] / sizes)[1]
    heaviest_first = [limits[rows[i]] for i in np.argsort(-weights, kind="stable")]
    contradicting = list(dict.fromkeys(heaviest_first))  # several rows may say the same in words
    named = contradicting[:NAMED]
    groups = []
    for owner in dict.fromkeys(limit.owner for limit in contradicting):
        all_of_it = [limit for limit in contradicting if limit.owner == owner]
        words = [limit.name for limit in all_of_it if limit in named]
        unnamed = len(all_of_it) - len(words)
        if unnamed:
            words.append(f"{unnamed} more" if words else f"{unnamed} of them")
        groups.append(f"{owner} ({', '.join(words)})")
    return f"these cannot be kept together: {'; '.join(groups)}"
