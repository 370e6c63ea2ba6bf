"""A quadratic program as a value, and a solution that judges itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.errors import QPError

Array = NDArray[np.float64]


class QPStatus(IntEnum):
    """How a solve ended."""

    SOLVED = 0
    INFEASIBLE = 1
    FAILED = 2


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
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
