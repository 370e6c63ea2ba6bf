"""A quadratic program as a value, and a solution that judges itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.errors import QPError

Array = NDArray[np.float64]


class QPStatus(IntEnum):
    """How a solve ended."""

    SOLVED = 0
    INFEASIBLE = 1
    FAILED = 2


@dataclass(slots=True)  # made in every control step, where frozen would cost a microsecond
class QuadraticProgram:
    """minimise 1/2 x^T H x - g^T x  subject to  C x >= d.

    ``H`` (n, n) is symmetric positive definite, ``g`` (n,), ``C`` (m, n), ``d`` (m,).
    """

    H: Array
    g: Array
    C: Array
    d: Array

    def check(self) -> None:
        """Raise a :class:`QPError` if the shapes disagree or an entry is not finite."""
        n, m = self.g.size, self.d.size
        shapes = {"H": (self.H, (n, n)), "C": (self.C, (m, n))}
        for name, (matrix, shape) in shapes.items():
            if matrix.shape != shape:
                raise QPError(f"{name} has shape {matrix.shape}; expected {shape}")
        for name in ("H", "g", "C", "d"):
            if not np.isfinite(getattr(self, name)).all():
                raise QPError(f"{name} has an entry that is not finite")


@dataclass(slots=True)
class QPSolution:
    """Minimiser ``x``, multipliers of the rows of C, and the rows that are active at ``x``."""

    x: Array
    multipliers: Array
    active: NDArray[np.integer[Any]]
    status: QPStatus
    iterations: int = 0

    def primal_residual(self, qp: QuadraticProgram) -> float:
        """Largest violation of an inequality."""
        return float(max(0.0, np.max(qp.d - qp.C @ self.x, initial=0.0)))

    def dual_residual(self, qp: QuadraticProgram) -> float:
        """Largest entry of the gradient of the Lagrangian, H x - g - C^T multipliers."""
        return float(np.max(np.abs(qp.H @ self.x - qp.g - qp.C.T @ self.multipliers)))

    def duality_gap(self, qp: QuadraticProgram) -> float:
        """Complementarity |multipliers . (C x - d)|, which is zero at the optimum."""
        return float(abs(self.multipliers @ (qp.C @ self.x - qp.d)))

    def optimality_error(self, qp: QuadraticProgram) -> float:
        """Largest violation of the optimality conditions, relative to the size of their terms.

        Inequalities, gradient of the Lagrangian, sign of the multipliers and complementarity.
        """
        return optimality_error(qp.H, qp.g, qp.C, qp.d, self.x, self.multipliers)


class Solver(Protocol):
    """What every solver adapter offers."""

    name: str

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; a program without one gives a status, not an exception."""
        ...


def unsolved(qp: QuadraticProgram, status: QPStatus) -> QPSolution:
    """What a solver returns in place of a solution."""
    nothing = np.full(qp.g.size, np.nan)
    return QPSolution(nothing, np.full(qp.d.size, np.nan), np.empty(0, dtype=int), status)


@compiled
def optimality_error(H: Array, g: Array, C: Array, d: Array, x: Array, multipliers: Array) -> float:
    """The largest violation of a program's optimality conditions, as ``QPSolution`` has it."""
    return error_of(H.dot(x), g, C, d, x, multipliers)


@compiled
def error_of(gradient: Array, g: Array, C: Array, d: Array, x: Array, multipliers: Array) -> float:
    """The same with the ``gradient`` H x at hand: the point itself, where distance is the cost."""
    slack = C.dot(x) - d
    length = 1.0 + math.sqrt(x.dot(x))
    force = 1.0 + math.sqrt(gradient.dot(gradient)) + math.sqrt(g.dot(g))
    gradient = gradient - g - multipliers.dot(C)
    error = math.sqrt(gradient.dot(gradient)) / force
    if len(slack):
        gap = abs(multipliers.dot(slack)) / (length * force)
        violation = -slack[slack.argmin()] / length
        wrong_sign = -multipliers[multipliers.argmin()] / force
        if not math.isfinite(gap + violation + wrong_sign):
            return math.inf
        error = max(error, gap, violation, wrong_sign)
    return error if math.isfinite(error) else math.inf
