"""Adapter of DAQP: a dual active-set method that starts from the last active set.

Arnstrom, Bemporad and Axehill, "A dual active-set solver for embedded quadratic programming using
recursive LDL^T updates", IEEE Transactions on Automatic Control 67(8), 2022.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import daqp
import numpy as np
from scipy.linalg.blas import dnrm2

from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, unsolved

_NO_BOUND = 1e30  # DAQP's infinity
_MODELS = 16  # of programs of different sizes, at most
_INFEASIBLE, _REFUSED = -1, -100
# Costs that span seven decades, as those of ``capture``, have pivots far below DAQP's own 4e-11 for
# singular ones: with that it calls feasible programs infeasible.
_SETTINGS = {"primal_tol": 1e-10, "dual_tol": 1e-12, "eps_prox": 0.0, "sing_tol": 1e-15}


@dataclass(slots=True)
class _Loaded:
    """DAQP's own model with the program that it holds, and what it keeps addresses of."""

    model: Any
    qp: QuadraticProgram
    arrays: tuple[Any, ...]


class DaqpSolver:
    """Exact to rounding; the fastest on a sequence of programs whose active rows change little.

    Programs of another size have a model, and so a last active set, of their own.
    """

    name = "daqp"

    def __init__(self) -> None:
        self._loaded: dict[tuple[int, ...], _Loaded] = {}

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; a program without one gives a status, not an exception.

        Positive flags are answers, some less exact than asked for: whoever asks judges them.
        """
        x, _, flag, info = self.answer(qp)
        if flag <= 0 or not math.isfinite(dnrm2(x)):
            self._loaded.pop(qp.C.shape, None)  # nothing of a failure is carried over
            status = QPStatus.INFEASIBLE if flag == _INFEASIBLE else QPStatus.FAILED
            return unsolved(qp, status)
        multipliers = -info["lam"]
        active = multipliers.nonzero()[0]
        return QPSolution(x, multipliers, active, QPStatus.SOLVED, info["iterations"])

    def answer(self, qp: QuadraticProgram) -> tuple[Any, float, int, dict[str, Any]]:
        """DAQP's own answer, unchecked: minimiser, cost, exit flag, multipliers and the like."""
        loaded = self._loaded.get(qp.C.shape)
        if not (self._set_up(qp) if loaded is None else self._update(loaded, qp)):
            return None, np.nan, _REFUSED, {}
        return self._loaded[qp.C.shape].model.solve()

    def _set_up(self, qp: QuadraticProgram) -> bool:
        """Hand a program over whose size is new."""
        if len(self._loaded) >= _MODELS:
            self._loaded.pop(next(iter(self._loaded)))
        model, linear = daqp.Model(), -qp.g
        upper, sense = np.full(qp.d.size, _NO_BOUND), np.zeros(qp.d.size, dtype=np.int32)
        # DAQP keeps addresses, so the arrays must outlive this call.
        self._loaded[qp.C.shape] = _Loaded(model, qp, (upper, sense, linear))
        flag, _ = model.setup(qp.H, linear, qp.C, upper, qp.d, sense)
        model.settings = _SETTINGS
        return bool(flag >= 0)

    def _update(self, loaded: _Loaded, qp: QuadraticProgram) -> bool:
        """Hand over what differs from the last program of this size."""
        last, loaded.qp = loaded.qp, qp
        changed: dict[str, Any] = {}
        if qp.g is not last.g:
            changed["f"] = linear = -qp.g
            loaded.arrays = (*loaded.arrays[:2], linear)
        if qp.H is not last.H:
            changed["H"] = qp.H
        if qp.C is not last.C:
            changed["A"] = qp.C
        if qp.d is not last.d:
            changed["blower"] = qp.d
        return not changed or bool(loaded.model.update(**changed) >= 0)
