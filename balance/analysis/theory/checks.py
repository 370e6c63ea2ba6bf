"""What an identity check of ``balance theory`` is, and how its residual is measured.

A check turns one numbered equation of a paper into a number: the residual of the identity at a
state, relative to the size of the terms that must cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.analysis.theory.sampling import random_states
from balance.analysis.theory.states import State
from balance.dynamics.checks import Array
from balance.errors import InputError

__all__ = [
    "ANALYTIC_BOUND",
    "ANGULAR",
    "FINITE_DIFFERENCE_BOUND",
    "JOINTS",
    "LINEAR",
    "Check",
    "CheckList",
    "State",
    "largest",
    "random_states",
    "relative_difference",
    "relative_product",
    "relative_sum",
    "worst_part",
]

ANALYTIC_BOUND = 1e-9
"""Largest relative residual of an identity between quantities known to rounding."""
FINITE_DIFFERENCE_BOUND = 1e-6
"""Largest relative residual of an identity that needs a finite difference or an integration."""

LINEAR, ANGULAR, JOINTS = slice(0, 3), slice(3, 6), slice(6, None)
"""Rows of the linear part, the angular part and the joints in a velocity or force."""

Residual = Callable[[pin.Model, State], float]


@dataclass(frozen=True, slots=True)
class Check:
    """One identity: where it is in the paper, what it says, and its residual at a state."""

    paper: str
    """Key of the paper, such as ``Garofalo2015``."""
    equation: str
    """Number as printed, such as ``(10)`` or ``appendix A``."""
    statement: str
    """The identity in words."""
    residual: Residual
    """Relative residual of the identity at a state of a model."""
    bound: float = ANALYTIC_BOUND
    """Largest residual that counts as holding."""
    max_states: int | None = None
    """At most so many states are tried, where one evaluation is slow; None means all."""


class CheckList:
    """The checks of one paper, collected by decorating their residual functions."""

    def __init__(self, paper: str) -> None:
        self.paper = paper
        self._checks: list[Check] = []

    def add(
        self,
        equation: str,
        statement: str,
        bound: float = ANALYTIC_BOUND,
        max_states: int | None = None,
    ) -> Callable[[Residual], Residual]:
        """Decorator that lists a residual function under its equation and statement."""

        def collect(residual: Residual) -> Residual:
            self._checks.append(Check(self.paper, equation, statement, residual, bound, max_states))
            return residual

        return collect

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks, in the order of their definition."""
        return tuple(self._checks)


def relative_difference(a: ArrayLike, b: ArrayLike, scale: float = 0.0) -> float:
    """Largest |a - b| divided by the largest entry of a, b or ``scale``; 0 where all vanish.

    ``scale`` is the size of the terms that cancel, for identities whose both sides are small.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        raise InputError(f"cannot compare arrays of shapes {a.shape} and {b.shape}")
    difference = largest(a - b)
    if not np.isfinite(difference):
        return float("inf")
    size = max(largest(a), largest(b), scale)
    return difference / size if size > 0.0 else 0.0


def relative_sum(*terms: ArrayLike) -> float:
    """Largest entry of a sum that must vanish, relative to the largest of its terms."""
    arrays = [np.asarray(term, dtype=float) for term in terms]
    total = np.sum(arrays, axis=0)
    return relative_difference(total, np.zeros_like(total), max(map(largest, arrays)))


def worst_part(*terms: Array) -> float:
    """Relative sum over the rows of a linear part, an angular part and the joints; the largest.

    The three have different units: apart, a large one cannot hide a small one.
    """
    return max(relative_sum(*(term[part] for term in terms)) for part in (LINEAR, ANGULAR, JOINTS))


def relative_product(*factors: ArrayLike) -> float:
    """Largest entry of a matrix product that must vanish, relative to the terms it sums up."""
    arrays = [np.asarray(factor, dtype=float) for factor in factors]
    product = reduce(np.matmul, arrays)
    size = largest(reduce(np.matmul, [np.abs(array) for array in arrays]))
    return relative_difference(product, np.zeros_like(product), size)


def largest(a: ArrayLike) -> float:
    """Largest absolute entry, 0 for an empty array."""
    return float(np.max(np.abs(a), initial=0.0))
