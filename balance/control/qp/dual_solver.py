"""Adapter of the dual method of Goldfarb and Idnani that is the framework's own."""

from __future__ import annotations

from balance.control.qp.dual_method import SOLVED, dual_method
from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, unsolved

_ROUNDS = 4  # per variable and row


class DualSolver:
    """Exact to rounding from no active row on, and never more rounds than a bound."""

    name = "goldfarb_idnani"

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; a program without one gives a status, not an exception."""
        rounds = _ROUNDS * (qp.g.size + qp.d.size)
        x, multipliers, active, status, done = dual_method(qp.H, qp.g, qp.C, qp.d, rounds)
        if status != SOLVED:
            return unsolved(qp, QPStatus(status))
        return QPSolution(x, multipliers, active, QPStatus.SOLVED, done)
