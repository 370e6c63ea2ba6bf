"""The rows of a session in a file that two processes map: one writes, the other reads.

Nothing is copied and nobody waits.  A row is complete before the count of rows says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from balance.config import ExperimentConfig
from balance.recordings.log import Log
from balance.robots import Robot

ROWS, PAUSED, FACTOR, MISSES, BUSY = range(5)


class SharedLog:
    """A log in a file, with a header that says how the simulation is doing."""

    def __init__(
        self, path: Path, config: ExperimentConfig, robot: Robot, *, writable: bool
    ) -> None:
        self.path = path
        self._mode: Any = "r+" if writable else "r"
        self._end = 0
        self.header = self._allocate(8, float)
        self.log = Log(config, robot, self._allocate)

    def _allocate(self, shape: Any, dtype: Any) -> Any:
        array = np.memmap(self.path, dtype, self._mode, offset=self._end, shape=shape)
        self._end += array.nbytes
        return np.asarray(array)

    @property
    def rows(self) -> int:
        """Complete rows."""
        return int(self.header[ROWS])

    @property
    def paused(self) -> bool:
        """Whether simulated time stands still."""
        return bool(self.header[PAUSED])

    @property
    def factor(self) -> float:
        """Simulated over real time, during the last second or so."""
        return float(self.header[FACTOR])

    @property
    def misses(self) -> int:
        """Control steps that took longer than the control period."""
        return int(self.header[MISSES])

    @property
    def busy_s(self) -> float:
        """Real time spent on simulating, s."""
        return float(self.header[BUSY])

    def view(self) -> Log:
        """The log as it is now."""
        self.log.rows = self.rows
        return self.log
