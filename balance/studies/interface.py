"""What every study tells the loop that runs it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, Protocol

from balance.studies.store import Row, StudyFolder
from balance.studies.workers import Result, Task


class Study(Protocol):
    """A source of runs that takes their rows, can be resumed, and writes its results."""

    kind: str
    counts: Counter[str]
    """How often each outcome has occurred."""

    @property
    def definition(self) -> dict[str, Any]:
        """What makes two studies the same."""
        ...

    def resume(self, folder: StudyFolder) -> None:
        """Take the rows that are finished already."""
        ...

    def next_task(self) -> Task | None:
        """A run that can start now; None if there is none until another one ends."""
        ...

    def row(self, task: Task, result: Result) -> Row:
        """The row of a finished run."""
        ...

    def take(self, row: Row) -> None:
        """A row is safe on disk."""
        ...

    def expected(self) -> int:
        """Number of runs of the whole study, as far as it is known."""
        ...

    def draw(self, folder: Path, pdf: bool = False) -> None:
        """Write the figure as it stands."""
        ...

    def finish(self, folder: StudyFolder, pdf: bool = False) -> None:
        """Write tables, summary and figure."""
        ...
