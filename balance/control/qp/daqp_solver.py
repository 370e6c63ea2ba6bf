"""Adapter of DAQP: a dual active-set method that starts from the last active set.

Arnstrom, Bemporad and Axehill, "A dual active-set solver for embedded quadratic programming using
recursive LDL^T updates", IEEE Transactions on Automatic Control 67(8), 2022.
"""

from __future__ import annotations

import math
from typing import Any

import daqp
import numpy as np

from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, unsolved

_NO_BOUND = 1e30  # DAQP's infinity
_OPTIMAL, _INFEASIBLE, _REFUSED = 1, -1, -100
# Costs that span seven decades, as those of ``capture``, have pivots far below DAQP's own 4e-11 for
# singular ones: with that it calls feasible programs infeasible.
_SETTINGS = {"primal_tol": 1e-10, "dual_tol": 1e-12, "eps_prox": 0.0, "sing_tol": 1e-15}


class DaqpSolver:
    """Exact to rounding; the fastest on a sequence of programs whose active rows change little."""

    name = "daqp"

    def __init__(self) -> None:
        self._model: Any = None
        self._last: QuadraticProgram | None = None
        self._arrays: tuple[Any, ...] = ()

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; a program without one gives a status, not an exception."""
        x, _, flag, info = self.answer(qp)
        if flag != _OPTIMAL or not math.isfinite(x.dot(x)):
            self._model = None  # nothing of a failure is carried over
            status = QPStatus.INFEASIBLE if flag == _INFEASIBLE else QPStatus.FAILED
            return unsolved(qp, status)
        multipliers = -info["lam"]
        active = multipliers.nonzero()[0]
        return QPSolution(x, multipliers, active, QPStatus.SOLVED, info["iterations"])

    def answer(self, qp: QuadraticProgram) -> tuple[Any, float, int, dict[str, Any]]:
        """DAQP's own answer, unchecked: minimiser, cost, exit flag, multipliers and the like."""
        if not self._load(qp):
            return None, np.nan, _REFUSED, {}
        return self._model.solve()

    def _load(self, qp: QuadraticProgram) -> bool:
        """Hand the program over; only what changed if it has the size of the last one."""
        last, self._last = self._last, qp
        linear = -qp.g
        if self._model is None or last is None or last.C.shape != qp.C.shape:
            self._model = daqp.Model()
            upper, sense = np.full(qp.d.size, _NO_BOUND), np.zeros(qp.d.size, dtype=np.int32)
            # DAQP keeps addresses, so the arrays must outlive this call.
            self._arrays = (upper, sense, linear)
            flag, _ = self._model.setup(qp.H, linear, qp.C, upper, qp.d, sense)
            self._model.settings = _SETTINGS
            return bool(flag >= 0)
        self._arrays = (*self._arrays[:2], linear)
        changed = {
            name: new
            for name, new, old in (
                ("H", qp.H, last.H),
                ("A", qp.C, last.C),
                ("blower", qp.d, last.d),
            )
            if new is not old
        }
        return bool(self._model.update(f=linear, **changed) >= 0)
