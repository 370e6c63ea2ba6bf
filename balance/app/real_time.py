"""A run paced by the clock: one control period of simulated time in one of real time.

The control step of period i begins at the tick t_i = t_0 + i T.  Its answer is in time until t_i +
T; a later one is a miss, and the drives go on with the torques that they have, as those of a robot
would.  Whatever can be kept from causing one is: memory is locked, the scheduler's real-time class
asked for, garbage not searched, and the law rehearsed; each is done where the system grants it.
"""

from __future__ import annotations

import gc
import time as clock
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from balance.control.parts.fallback import NUMERICAL
from balance.errors import is_interrupt
from balance.experiment import Experiment, Progress
from balance.recordings.log import Log
from balance.recordings.recording import Recording
from balance.recordings.system_calls import in_real_time_class, locked_memory, page_faults
from balance.recordings.verdict import Cause, RunEnd, aborted
from balance.simulation.undisturbed import no_garbage_collection

Array = NDArray[np.float64]
Clock = Callable[[], float]

SPIN_S = 1e-4  # before a tick, in which the clock is watched: a sleep may end that much too late
LOST_S = 0.1  # a run that is further behind than this lets the lost time go
MANY_FAULTS = 64  # pages that were not there, in one step
EDGES_US = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
CAUSES = ("garbage", "page faults", "scheduler", "behind", "the step itself")
"""Why an answer was late: memory was searched or not there, another process had the core or the
wake-up came late, the period before was late, or none of these."""


@dataclass
class Timing:
    """What the clock saw: all times in s, one entry for each control period."""

    period_s: float
    wake: Array
    step: Array
    misses: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    lost_s: float = 0.0
    locked: bool = False
    scheduled: bool = False

    def facts(self) -> dict[str, Any]:
        """What a file says of it."""
        return {
            "periods": self.rows,
            "period_us": 1e6 * self.period_s,
            "deadline_misses": self.misses.total(),
            "misses_by_cause": {cause: self.misses[cause] for cause in CAUSES},
            "lost_s": self.lost_s,
            "memory_locked": self.locked,
            "real_time_class": self.scheduled,
            "histogram_up_to_us": [*EDGES_US, None],
            "wake_up": self._spread(self.wake),
            "step": self._spread(self.step),
        }

    def _spread(self, times: Array) -> dict[str, Any]:
        micro = 1e6 * times[: self.rows]
        counts = np.bincount(np.searchsorted(EDGES_US, micro), minlength=len(EDGES_US) + 1)
        some = micro if micro.size else np.zeros(1)
        return {
            "counts": counts.tolist(),
            "median_us": float(np.median(some)),
            "p99_us": float(np.percentile(some, 99)),
            "largest_us": float(some.max()),
        }

    def table(self) -> list[tuple[str, str, str]]:
        """Times up to so many microseconds, and how many wake-ups and steps took them."""
        names = [f"up to {edge} us" for edge in EDGES_US] + [f"above {EDGES_US[-1]} us"]
        both = (self._spread(times)["counts"] for times in (self.wake, self.step))
        return [(n, str(w), str(s)) for n, w, s in zip(names, *both, strict=True)]

    def sentence(self) -> str:
        """The misses in words."""
        total = self.misses.total()
        causes = ", ".join(f"{cause} {n}" for cause in CAUSES if (n := self.misses[cause]))
        kept = "memory locked" if self.locked else "memory not locked"
        kept += ", real-time class" if self.scheduled else ", no real-time class"
        return f"{total} deadline misses in {self.rows} periods ({causes or 'none'}); {kept}"


class RealTimeRun:
    """Runs an experiment by the clock; ``now`` and ``sleep`` are those of the system.

    ``worked`` tells the time for which this thread had a core.
    """

    def __init__(
        self,
        experiment: Experiment,
        now: Clock = clock.perf_counter,
        sleep: Callable[[float], None] = clock.sleep,
        worked: Clock = clock.thread_time,
    ) -> None:
        self._experiment, self._now, self._sleep = experiment, now, sleep
        self._worked = worked
        n, period = experiment.config.n_periods, experiment.config.control_period_s
        self.timing = Timing(period, np.zeros(n), np.zeros(n))
        self._tick, self._searches, self._missed = 0.0, 0, False

    def run(self, progress: Progress | None = None) -> Recording:
        """Simulate to the end, to a fall, or until interrupted; what was simulated is kept."""
        began = self._now()
        log, end = self.simulate(progress)
        return self._experiment.recording(log, end, self._now() - began)

    def simulate(self, progress: Progress | None = None) -> tuple[Log, RunEnd]:
        """The same without the recording, which of a long run takes a while to make."""
        experiment, timing = self._experiment, self.timing
        gc.callbacks.append(self._count)
        experiment.answered = self._is_late
        try:
            with (
                threadpool_limits(1),
                no_garbage_collection(),
                locked_memory() as timing.locked,
                in_real_time_class() as timing.scheduled,
            ):
                log = Log(experiment.config, experiment.robot)
                end = self._pace_or_stop(log, progress)
        finally:
            gc.callbacks.remove(self._count)
            experiment.answered = None
        return log, end

    def _pace_or_stop(self, log: Log, progress: Progress | None) -> RunEnd:
        try:
            self._pace(log, progress)
        except KeyboardInterrupt:
            return aborted(Cause.INTERRUPTED, "interrupted by the user")
        except NUMERICAL as error:
            return aborted(Cause.ERROR, str(error))
        except SystemError as error:
            if not is_interrupt(error):
                raise
            return aborted(Cause.INTERRUPTED, "interrupted by the user")
        return self._experiment.end

    def _pace(self, log: Log, progress: Progress | None) -> None:
        experiment, timing, period = self._experiment, self.timing, self.timing.period_s
        start, ended = self._now() + period, 0.0
        for i in range(experiment.config.n_periods):
            tick = start + i * period
            self._wait_until(tick)
            woke = self._now()
            self._tick, self._missed = tick, False
            before, searches, worked = page_faults(), self._searches, self._worked()
            behind = ended > tick
            over = experiment.advance(log)
            ended = self._now()
            timing.wake[i], timing.step[i], timing.rows = woke - tick, ended - woke, i + 1
            if self._missed:
                used = page_faults()
                waited = ended - tick - (self._worked() - worked)
                cause = self._cause(before, used, searches, behind, waited)
                timing.misses[cause] += 1
            if ended - tick > LOST_S + period:
                timing.lost_s += ended - tick - period
                start += ended - tick - period
            if over:
                return
            if progress and i % 100 == 0:
                progress(i * period, ended - start)

    def _wait_until(self, tick: float) -> None:
        left = tick - self._now()
        if left > SPIN_S:
            self._sleep(left - SPIN_S)
        while self._now() < tick:
            pass

    def _is_late(self) -> bool:
        """Whether the law's answer came after its deadline; asked once in a period."""
        self._missed = self._now() - self._tick > self.timing.period_s
        return self._missed

    def _cause(
        self,
        before: tuple[int, int],
        used: tuple[int, int],
        searches: int,
        behind: bool,
        waited: float,
    ) -> str:
        """``waited`` is for how long others had the core since the tick, s."""
        small, large = (b - a for a, b in zip(before, used, strict=True))
        if self._searches > searches:
            return "garbage"
        if large or small > MANY_FAULTS:
            return "page faults"
        if behind:
            return "behind"
        if waited > 0.5 * self.timing.period_s:
            return "scheduler"
        return "the step itself"

    def _count(self, phase: str, info: dict[str, int]) -> None:
        self._searches += phase == "start"
