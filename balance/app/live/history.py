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
EDGE_S = 1e-6  # before a mark begins, and after it ends


@dataclass(frozen=True)
class Sample:
    """What the plots show of one instant."""

    time: float
    values: dict[str, Array]


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
        self._pushes: Sequence[Push] = ()
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
        self._samples.append(Sample(now.time, values))
        self._pushes = pushes
        self.next_time = now.time + SAMPLE_S
        while now.time - self._samples[0].time > SPAN_S:
            self._samples.popleft()

    def series(self, key: str) -> tuple[Array, ...]:
        """Time from now (s, not positive), the push mark, and each component.

        Between samples, which lie far apart on a busy machine, stand points on either side of the
        beginnings and ends of pushes, on the lines that a plot draws anyway: the mark is upright.
        """
        time = np.array([sample.time for sample in self._samples])
        values = np.array([sample.values[key] for sample in self._samples])
        spans = [(push.start, max(push.end, push.start + MARK_S)) for push in self._pushes]
        edges = np.array([edge + side for edge in np.ravel(spans) for side in (-EDGE_S, EDGE_S)])
        between = np.sort(edges[(time[0] < edges) & (edges < time[-1])])
        places = np.searchsorted(time, between)
        columns = [
            np.insert(column, places, np.interp(between, time, column)) for column in values.T
        ]
        time = np.insert(time, places, between)
        mark = sum(((start <= time) & (time <= end) for start, end in spans), 0 * time)
        return (time - time[-1], np.minimum(mark, 1.0), *columns)

    def __len__(self) -> int:
        return len(self._samples)
