"""A solver whose answers are checked, and another one for where it fails, checked as well."""

from __future__ import annotations

from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, Solver, unsolved

TOLERANCE = 1e-8
"""Violation of the optimality conditions up to which an answer counts, relative to their terms."""
LAST_TOLERANCE = 1e-4
"""The same for the fallback: a rough answer is better than none, a wrong one is not."""


class CertifiedSolver:
    """Solves with ``first``; where its answer is not optimal, or it has none, with ``fallback``.

    Where it failed it mostly does so again in the next steps: for ``patience`` programs the other
    one goes first.
    """

    def __init__(self, first: Solver, fallback: Solver, patience: int = 0) -> None:
        self.first, self.fallback, self._patience = first, fallback, patience
        self.name = first.name
        self.fallbacks = 0
        """How many programs ``first`` failed on."""
        self._doubted = 0

    def doubt(self) -> None:
        """Have the other solver go first in the next program, which has little of the last one."""
        self._doubted = max(self._doubted, 1)

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; if no answer is optimal, a status that says so."""
        other = None
        if self._doubted:
            self._doubted -= 1
            other = self.fallback.solve(qp)
            if _is_optimal(other, qp, TOLERANCE):
                return other
        solution = self.first.solve(qp)
        if _is_optimal(solution, qp, TOLERANCE):
            return solution
        self.fallbacks += 1
        self._doubted = self._patience
        other = other or self.fallback.solve(qp)
        if other.status is not QPStatus.SOLVED or _is_optimal(other, qp, LAST_TOLERANCE):
            return other
        return unsolved(qp, QPStatus.FAILED)


def _is_optimal(solution: QPSolution, qp: QuadraticProgram, tolerance: float) -> bool:
    return solution.status is QPStatus.SOLVED and solution.optimality_error(qp) < tolerance
