"""A solver whose answers are checked, and another one for where it fails, checked as well."""

from __future__ import annotations

from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, Solver, unsolved

TOLERANCE = 1e-8
"""Violation of the optimality conditions up to which an answer counts, relative to their terms."""
LAST_TOLERANCE = 1e-4
"""The same for the fallback: a rough answer is better than none, a wrong one is not."""


class CertifiedSolver:
    """Solves with ``first``; where its answer is not optimal, or it has none, with ``fallback``."""

    def __init__(self, first: Solver, fallback: Solver) -> None:
        self.first, self.fallback = first, fallback
        self.name = first.name
        self.fallbacks = 0
        """How many programs went to the fallback."""

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; if no answer is optimal, a status that says so."""
        solution = self.first.solve(qp)
        if solution.status is QPStatus.SOLVED and solution.optimality_error(qp) < TOLERANCE:
            return solution
        self.fallbacks += 1
        solution = self.fallback.solve(qp)
        if solution.status is not QPStatus.SOLVED or solution.optimality_error(qp) < LAST_TOLERANCE:
            return solution
        return unsolved(qp, QPStatus.FAILED)
