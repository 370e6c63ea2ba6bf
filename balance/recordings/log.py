"""The log of a run: arrays made once, which the loop fills row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.control.parts.output import ControlOutput
from balance.recordings import disk_arrays
from balance.recordings.disk_arrays import detached
from balance.recordings.signals import loop_signals
from balance.robots import Robot

Array = NDArray[np.float64]
Allocate = Callable[[Any, Any], Any]


class Log:
    """An array under its own name for each signal of the loop, of which ``rows`` are filled.

    ``allocate(shape, dtype)`` makes an array of zeros, always in the same order, so that two
    processes can share the rows.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The array of a signal."""

    def __init__(
        self, config: ExperimentConfig, robot: Robot, allocate: Allocate = disk_arrays.zeros
    ) -> None:
        n = config.n_periods
        self.rows = 0
        self.control_time: Array = allocate((n,), float)
        self._taken = []
        self._signals = loop_signals(config)
        for signal in self._signals:
            array = allocate((n, *signal.row_shape(robot)), signal.dtype)
            setattr(self, signal.name, array)
            if signal.take is not None:
                self._taken.append((array, signal.take))

    def write(self, i: int, t: float, q: Array, v: Array, output: ControlOutput) -> None:
        """Write what is known of row ``i`` when the law has answered."""
        for array, take in self._taken:
            array[i] = take(t, q, v, output)
        if i % disk_arrays.CHUNK_ROWS == 0:
            disk_arrays.release()

    def arrays(self) -> dict[str, Any]:
        """The filled rows of every signal, which nobody writes to any more."""
        return {
            signal.name: detached(getattr(self, signal.name)[: self.rows])
            for signal in self._signals
        }

    def timing(self, period_s: float, wall_s: float) -> dict[str, Any]:
        """How long control steps took, and how the run compares with real time."""
        steps = 1e6 * self.control_time[: max(self.rows, 1)]
        return {
            "control_step_us": {
                "median": float(np.median(steps)) if self.rows else 0.0,
                "p99": float(np.percentile(steps, 99)) if self.rows else 0.0,
            },
            "realtime_factor": self.rows * period_s / wall_s,
        }
