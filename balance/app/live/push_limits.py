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
    """Horizontal impulses in N s; what any law could recover, without and with a step.

    These are None while they are being found, have no answer, or nobody asked for them.
    """

    ankle: float
    recovery: float | None
    with_step: float | None = None


class PushLimits:
    """Finds the limits in a thread of its own, once for each robot and direction."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="limits")
        self._found: dict[tuple[int, int], Future[float | None]] = {}
        self._robot: Robot | None = None

    def at(self, robot: Robot, direction: Array, steps: bool = False) -> Limits:
        """The limits for a push along ``direction``, without waiting for them.

        ``steps`` asks for that with a step too.
        """
        if robot is not self._robot:
            self._robot, self._found = robot, {}
        angle = round(float(np.arctan2(direction[1], direction[0])) / STEP_RAD)
        with_step = self._ask(robot, angle, 1) if steps else None
        return Limits(ankle_limit(robot, direction), self._ask(robot, angle, 0), with_step)

    def _ask(self, robot: Robot, angle: int, steps: int) -> float | None:
        key = angle, steps
        if key not in self._found:
            self._found[key] = self._worker.submit(_recovery, robot, angle * STEP_RAD, steps)
        task = self._found[key]
        return task.result() if task.done() else None

    def close(self) -> None:
        """Begin nothing more."""
        self._worker.shutdown(wait=False, cancel_futures=True)


def _recovery(robot: Robot, angle: float, steps: int) -> float | None:
    direction = float(np.cos(angle)), float(np.sin(angle)), 0.0
    try:
        return recovery_limit(robot, direction, steps).impulse_Ns
    except BalanceError:  # a stance for which nobody knows it
        return None
