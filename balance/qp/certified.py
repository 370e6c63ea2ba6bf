"""A solver whose answers are checked, and another one for where it fails."""

from __future__ import annotations

from balance.qp.problem import QPSolution, QPStatus, QuadraticProgram, Solver

TOLERANCE = 1e-8
"""Violation of the optimality conditions up to which an answer counts, relative to their terms."""


class CertifiedSolver:
    """Solves with ``first``; where its answer is not optimal, or it has none, with ``fallback``."""

    def __init__(self, first: Solver, fallback: Solver) -> None:
        self.first, self.fallback = first, fallback
        self.name = first.name
        self.fallbacks = 0
        """How many programs went to the fallback."""

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``."""
        solution = self.first.solve(qp)
        if solution.status is QPStatus.SOLVED and solution.optimality_error(qp) < TOLERANCE:
            return solution
        self.fallbacks += 1
        return self.fallback.solve(qp)
