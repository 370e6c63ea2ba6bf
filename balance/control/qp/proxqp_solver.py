"""Adapter of ProxQP: an augmented Lagrangian method, from the package ``proxsuite``.

Bambade, El-Kazdadi, Taylor and Carpentier, "PROX-QP: yet another quadratic programming solver for
robotics and beyond", Robotics: Science and Systems 2022.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, unsolved
from balance.errors import MissingExtraError

_NO_BOUND = 1e20  # ProxQP's infinity
_TOLERANCE = 1e-10
_MAX_ITERATIONS, _MAX_INNER_ITERATIONS = 100, 50


class ProxqpSolver:
    """Reaches a tolerance; also takes programs whose cost is only positive semidefinite."""

    name = "proxqp"

    def __init__(self) -> None:
        try:
            from proxsuite import proxqp  # type: ignore[import-untyped, unused-ignore]
        except ModuleNotFoundError:
            raise MissingExtraError("proxsuite", "solvers") from None
        self._proxqp: Any = proxqp

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; a program without one gives a status, not an exception."""
        if not np.isfinite(qp.H.sum() + qp.g.sum()):
            return unsolved(qp, QPStatus.FAILED)
        status = self._proxqp.QPSolverOutput
        problem = self._proxqp.dense.QP(qp.g.size, 0, qp.d.size)
        problem.settings.eps_abs, problem.settings.eps_rel = _TOLERANCE, 0.0
        problem.settings.max_iter = _MAX_ITERATIONS
        problem.settings.max_iter_in = _MAX_INNER_ITERATIONS
        upper = np.full(qp.d.size, _NO_BOUND)
        problem.init(qp.H, -qp.g, None, None, qp.C, qp.d, upper)
        problem.solve()
        results = problem.results
        if results.info.status != status.PROXQP_SOLVED:
            infeasible = results.info.status == status.PROXQP_PRIMAL_INFEASIBLE
            return unsolved(qp, QPStatus.INFEASIBLE if infeasible else QPStatus.FAILED)
        multipliers = -results.z
        # An iterative method leaves next to nothing where an active-set method leaves nothing.
        multipliers[multipliers < _TOLERANCE * (1.0 + np.abs(multipliers).max(initial=0.0))] = 0.0
        active = np.flatnonzero(multipliers)
        return QPSolution(
            np.array(results.x), multipliers, active, QPStatus.SOLVED, results.info.iter
        )
