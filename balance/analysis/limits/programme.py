"""A sparse linear programme whose rows have names, so that a solution says what bound binds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, vstack

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Solution:
    """The largest value, where it is, and the share of each named bound in it.

    By duality the value is the sum over all bounds of bound times multiplier: a bound with the
    share 0.3 that grows by 1 % lifts the value by 0.3 %.
    """

    value: float
    unknowns: Array
    shares: Mapping[str, float]


class LinearProgramme:
    """Unknowns are added in blocks, conditions and bounds as dense rows on some of them."""

    def __init__(self) -> None:
        self.size = 0
        self._equal: list[tuple[Numbers, Array, Array]] = []
        self._below: list[tuple[Numbers, Array, Array, str]] = []

    def unknowns(self, count: int) -> Numbers:
        """Numbers of ``count`` new unknowns."""
        self.size += count
        return np.arange(self.size - count, self.size)

    def equal(self, columns: Numbers, rows: Array, values: Array | float = 0.0) -> None:
        """``rows @ x[columns] = values``."""
        rows = np.atleast_2d(rows)
        self._equal.append((columns, rows, np.broadcast_to(values, len(rows))))

    def below(self, name: str, columns: Numbers, rows: Array, most: Array | float = 0.0) -> None:
        """``rows @ x[columns] <= most``, known as ``name``."""
        rows = np.atleast_2d(rows)
        self._below.append((columns, rows, np.broadcast_to(most, len(rows)), name))

    def largest(self, unknown: int) -> Solution | None:
        """The solution in which one unknown is as large as it can be; None if there is none."""
        from scipy.optimize import linprog  # slow to import

        cost = np.zeros(self.size)
        cost[unknown] = -1.0
        below = [self._sparse(columns, rows) for columns, rows, _, _ in self._below]
        equal = [self._sparse(columns, rows) for columns, rows, _ in self._equal]
        most = np.concatenate([values for _, _, values, _ in self._below])
        found = linprog(
            cost,
            A_ub=vstack(below, format="csc"),
            b_ub=most,
            A_eq=vstack(equal, format="csc"),
            b_eq=np.concatenate([values for _, _, values in self._equal]),
            bounds=(None, None),
            method="highs",
        )
        if found.status != 0:
            return None
        multipliers = np.split(
            -found.ineqlin.marginals * most, np.cumsum([len(rows) for _, rows, _, _ in self._below])
        )
        shares: dict[str, float] = {}
        for (_, _, _, name), part in zip(self._below, multipliers, strict=False):
            shares[name] = shares.get(name, 0.0) + float(part.sum() / -found.fun)
        return Solution(-float(found.fun), np.asarray(found.x), shares)

    def _sparse(self, columns: Numbers, rows: Array) -> coo_array:
        i, j = np.nonzero(rows)
        return coo_array((rows[i, j], (i, columns[j])), shape=(len(rows), self.size))
