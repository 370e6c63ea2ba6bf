"""The last seconds of a session at a fixed rate, for the plots."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.app.live.observer import Instant
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

SPAN_S = 10.0
SAMPLE_S = 0.04
UNKNOWN: Array = np.full(1, np.nan)
MARK_S = 0.12  # a short push is marked for at least this long


@dataclass(frozen=True)
class Sample:
    """What the plots show of one instant."""

    time: float
    values: dict[str, Array]
    pushed: bool


def charted(now: Instant) -> dict[str, Array]:
    """What the charts of the motion show of an instant, in their units."""
    return {
        "com_error": 1e3 * now.com_error,
        "rotation_error": np.degrees(now.rotation_error),
        "linear_momentum": now.momentum[:3],
        "angular_momentum": now.momentum[3:],
        "cop_margin": 1e3 * now.cop_margins,
    }


class History:
    """Samples of the last ``SPAN_S`` seconds."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque()
        self.next_time = 0.0

    def clear(self) -> None:
        """Forget all."""
        self._samples.clear()
        self.next_time = 0.0

    def add(
        self,
        now: Instant,
        pushes: Sequence[Push],
        control_times_s: Array = UNKNOWN,
        deadline_s: float = np.nan,
    ) -> None:
        """Take a sample, with the durations of the last control steps if they are known."""
        steps = np.array([control_times_s.max(), np.median(control_times_s), deadline_s])
        values = {**charted(now), "control_time": 1e6 * steps}
        pushed = any(p.start <= now.time <= max(p.end, p.start + MARK_S) for p in pushes)
        self._samples.append(Sample(now.time, values, pushed))
        self.next_time = now.time + SAMPLE_S
        while now.time - self._samples[0].time > SPAN_S:
            self._samples.popleft()

    def series(self, key: str) -> tuple[Array, ...]:
        """Time from now (s, not positive), the push mark, and each component."""
        time = np.array([sample.time for sample in self._samples])
        mark = np.array([1.0 if sample.pushed else 0.0 for sample in self._samples])
        values = np.array([sample.values[key] for sample in self._samples])
        columns = [np.ascontiguousarray(column) for column in values.T]
        return (time - time[-1], mark, *columns)

    def __len__(self) -> int:
        return len(self._samples)
