"""What ankles alone, and what any law, could catch of a push: for the bar below the sliders."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.analysis.limits.recovery import recovery_limit
from balance.errors import BalanceError
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot

Array = NDArray[np.float64]

STEP_RAD = np.radians(5.0)  # to which a direction is rounded: each costs a linear programme


@dataclass(frozen=True)
class Limits:
    """Horizontal impulses in N s; the second is None while it is being found, or has no answer."""

    ankle: float
    recovery: float | None


class PushLimits:
    """Finds the limits in a thread of its own, once for each robot and direction."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="limits")
        self._found: dict[int, Future[float | None]] = {}
        self._robot: Robot | None = None

    def at(self, robot: Robot, direction: Array) -> Limits:
        """The limits for a push along ``direction``, without waiting for them."""
        if robot is not self._robot:
            self._robot, self._found = robot, {}
        angle = round(float(np.arctan2(direction[1], direction[0])) / STEP_RAD)
        if angle not in self._found:
            self._found[angle] = self._worker.submit(_recovery, robot, angle * STEP_RAD)
        task = self._found[angle]
        return Limits(ankle_limit(robot, direction), task.result() if task.done() else None)

    def close(self) -> None:
        """Begin nothing more."""
        self._worker.shutdown(wait=False, cancel_futures=True)


def _recovery(robot: Robot, angle: float) -> float | None:
    try:
        return recovery_limit(robot, (float(np.cos(angle)), float(np.sin(angle)), 0.0)).impulse_Ns
    except BalanceError:  # a stance for which nobody knows it
        return None
