"""Playing a recording: a position in time that moves with the clock, or where it is put."""

from __future__ import annotations

import time as clock
from pathlib import Path

import numpy as np

from balance.config.user_code import shown_name
from balance.errors import ResultError
from balance.recordings.recording import Recording


class Replay:
    """A recording and the row that is shown."""

    def __init__(self, recording: Recording, folder: Path) -> None:
        if recording.time.size == 0:
            raise ResultError(f"{folder} holds an empty recording: there is nothing to replay")
        self.recording, self.folder = recording, folder
        self.playing, self.speed = True, 1.0
        self._time, self._clock = 0.0, clock.perf_counter()

    @property
    def duration(self) -> float:
        """Time of the last row, s."""
        return float(self.recording.time[-1])

    @property
    def time(self) -> float:
        """Where it is, s."""
        return self._time

    def figures(self) -> list[tuple[str, str]]:
        """Label and value of what the left panel shows."""
        return [
            ("replay", self.folder.name),
            ("law", shown_name(self.recording.config.controller.law)),
            ("time", f"{self.time:.2f} s"),
            ("of", f"{self.duration:.2f} s"),
        ]

    def seek(self, time: float) -> None:
        """Go to a time."""
        self._time = min(max(time, 0.0), self.duration)

    def advance(self) -> int:
        """Move with the clock, and begin anew at the end; the row to show."""
        now = clock.perf_counter()
        if self.playing:
            self._time += (now - self._clock) * self.speed
            if self._time > self.duration:
                self._time = 0.0
        self._clock = now
        return self.row

    @property
    def row(self) -> int:
        """The row at the present time."""
        rows = self.recording.time
        return int(np.searchsorted(rows, self._time).clip(max=rows.size - 1))


def result_folders(results: Path) -> list[str]:
    """Names of the result folders right below ``results``, the newest first."""
    if not results.is_dir():
        return []
    found = [p for p in results.iterdir() if (p / "log.parquet").is_file()]
    found = [p for p in found if not p.name.startswith(".") and not p.is_symlink()]
    return [p.name for p in sorted(found, key=lambda p: p.stat().st_mtime, reverse=True)]
