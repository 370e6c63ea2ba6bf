"""How a study is going: runs done, rate, time left, outcomes so far."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from balance.studies.interface import Study

LINE_EVERY_S = 15.0


class StudyProgress:
    """A bar on a terminal, now and then a line elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._first: tuple[float, int] | None = None
        self._said = time.monotonic()
        self._bar = Progress(
            BarColumn(bar_width=30),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting the workers", total=None)

    def update(self, study: Study, workers: int) -> None:
        """Show where ``study`` stands."""
        now, done, expected = time.monotonic(), sum(study.counts.values()), study.expected()
        began, before = self._first = self._first or (now, done)  # starting workers is no run
        text = describe(done, expected, done - before, now - began, study.counts)
        text += f"; {workers} worker" + ("s" if workers != 1 else "")
        self._bar.update(self._task, completed=done, total=expected, description=text)
        if not self._console.is_terminal and now - self._said > LINE_EVERY_S:
            self._console.print(text, highlight=False, soft_wrap=True)
            self._said = now

    def __enter__(self) -> StudyProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()


def describe(
    done: int, expected: int, done_now: int, elapsed_s: float, counts: Mapping[str, int]
) -> str:
    """One line: ``12 of 40 runs, 1.9/s, 0:00:15 left; recovered 10, fell 2``."""
    parts = [f"{done} of {expected} runs"]
    if done_now > 0 and elapsed_s > 0:
        rate = done_now / elapsed_s
        left = timedelta(seconds=round(max(expected - done, 0) / rate))
        parts.append(f"{rate:.2g}/s, {left} left")
    outcomes = ", ".join(f"{name} {count}" for name, count in counts.items())
    return ", ".join(parts) + (f"; {outcomes}" if outcomes else "")
