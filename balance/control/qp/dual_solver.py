"""Adapter of the framework's own dual method, which always comes to an end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.qp.dual_method import SOLVED, dual_method
from balance.control.qp.problem import QPSolution, QPStatus, QuadraticProgram, unsolved

Array = NDArray[np.float64]

ROUNDS = 4
"""For each variable and each row.  Random states that no law was made for took up to 2.8."""


class DualSolver:
    """Exact to rounding, from no active row on; gives up after a bounded number of rounds."""

    name = "goldfarb_idnani"

    def __init__(self) -> None:
        # The first call compiles it, which is not to happen in the middle of a run.
        self.solve(QuadraticProgram(np.eye(1), np.zeros(1), np.eye(1), np.zeros(1)))

    def solve(self, qp: QuadraticProgram) -> QPSolution:
        """The solution of ``qp``; a program without one gives a status, not an exception."""
        rounds = ROUNDS * (qp.g.size + qp.d.size)
        parts = _plain(qp.H), _plain(qp.g), _plain(qp.C), _plain(qp.d)
        x, multipliers, active, status, done = dual_method(*parts, rounds)
        if status != SOLVED:
            return unsolved(qp, QPStatus(status))
        return QPSolution(x, multipliers, active, QPStatus.SOLVED, done)


def _plain(array: Array) -> Array:
    """What the function was compiled for: in C order, and not locked."""
    flags = array.flags
    return array if flags.c_contiguous and flags.writeable else array.copy()
