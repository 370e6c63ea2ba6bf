"""A control law that loses its measurements for a while."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from balance.config.faults import SensorDropout
from balance.control import Controller, ControlOutput

Array = NDArray[np.float64]


class DropoutController:
    """Hands on the measured state, or NaN during a dropout; used like the law itself."""

    def __init__(self, law: Controller, dropouts: Sequence[SensorDropout]) -> None:
        self.law, self.path = law, law.path
        self._spans = [(one.time_s, one.time_s + one.duration_s) for one in dropouts]

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints that ``ControlOutput.active`` indexes."""
        return self.law.constraint_names

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques of the law, which may see nothing."""
        if any(begin - 1e-9 <= t < end - 1e-9 for begin, end in self._spans):
            q, v = np.full_like(q, np.nan), np.full_like(v, np.nan)
        return self.law.step(q, v, t)

    def conflict(self) -> str:
        """Why the last step's QP had no solution, as the law says."""
        return self.law.conflict()
