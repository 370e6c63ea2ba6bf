"""Adapter of quadprog: the dual active-set method of Goldfarb and Idnani (1983)."""

from __future__ import annotations

import numpy as np
import quadprog

from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, unsolved


class QuadprogSolver:
    """Exact to rounding, fastest on small dense programs with few active rows.

    It knows no limit of iterations, and goes round for ever where rows of very different length
    depend on each other; so it gets rows of length one.
    """

    name = "quadprog"

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; a program without one gives a status, not an exception."""
        lengths = np.sqrt(np.einsum("ij,ij->i", qp.C, qp.C))
        lengths[lengths == 0.0] = 1.0
        rows, bounds = qp.C / lengths[:, None], qp.d / lengths
        try:
            x, _, _, iterations, multipliers, active = quadprog.solve_qp(qp.H, qp.g, rows.T, bounds)
        except ValueError as error:
            infeasible = "inconsistent" in str(error)
            status = QPStatus.INFEASIBLE if infeasible else QPStatus.FAILED
            return unsolved(qp, status)
        active = active[active > 0] - 1
        # quadprog lets entries that are not finite pass through to its answer.
        status = QPStatus.SOLVED if np.isfinite(x.sum()) else QPStatus.FAILED
        return QPSolution(x, multipliers / lengths, active, status, int(iterations[0]))
