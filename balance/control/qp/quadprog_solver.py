"""Adapter of quadprog: the dual active-set method of Goldfarb and Idnani (1983)."""

from __future__ import annotations

import numpy as np
import quadprog

from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, unsolved


class QuadprogSolver:
    """Exact to rounding, fastest on small dense programs with few active rows.

    It knows no limit of iterations: once, on rows of very different length that depend on each
    other, it went round for ever.  With rows of length one it did not, but was wrong elsewhere.
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
