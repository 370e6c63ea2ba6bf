"""Adapter of quadprog: the dual active-set method of Goldfarb and Idnani (1983)."""

from __future__ import annotations

import numpy as np
import quadprog

from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, unsolved


class QuadprogSolver:
    """Exact to rounding, fast on small dense programs with few active rows; for who asks for it.

    It knows no limit of iterations, and cannot be stopped: on a program of ``capture`` it goes
    round for ever.  Nothing about a program tells beforehand: that one, rounded to 15 digits, ends.
    So nothing falls back to it; :class:`~balance.control.qp.dual_solver.DualSolver` is the same
    method with a bound.
    """

    name = "quadprog"

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; a program without one gives a status, not an exception."""
        try:
            x, _, _, iterations, multipliers, active = quadprog.solve_qp(qp.H, qp.g, qp.C.T, qp.d)
        except ValueError as error:
            infeasible = "inconsistent" in str(error)
            status = QPStatus.INFEASIBLE if infeasible else QPStatus.FAILED
            return unsolved(qp, status)
        rows = active[active > 0] - 1
        # quadprog lets entries that are not finite pass through to its answer.
        status = QPStatus.SOLVED if np.isfinite(x.sum()) else QPStatus.FAILED
        return QPSolution(x, multipliers, rows, status, int(iterations[0]))
