"""Runs that depend on each other: a dialogue asks for one run at a time and is told its row."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from balance.studies.store import Row

T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """A run to do: keys on top of the experiment, and what to call it in the table."""

    overrides: Mapping[str, Any]
    case: str
    columns: Mapping[str, Any] = field(default_factory=dict)
    keep: bool = False
    """Whether its whole recording is wanted."""
    searched: bool = False
    """Whether only its verdict counts: it may end as soon as that is settled."""
    margins: bool = False
    """Whether the margins of the linearised loop are wanted as well."""


Script = Generator[Run, Row, T]


class Dialogue(Generic[T]):
    """A script in progress; its runs are known by its name and their number."""

    def __init__(self, name: str, script: Script[T]) -> None:
        self.name = name
        self.asked = 0
        self.result: T | None = None
        self.pending: Run | None = None
        self._script = script
        self._go(None)

    @property
    def key(self) -> str:
        """Key of the pending run."""
        return f"{self.name}.{self.asked}"

    def answer(self, row: Row) -> None:
        """Take the row of the pending run, and find the next one."""
        self.asked += 1
        self._go(row)

    def _go(self, row: Row | None) -> None:
        try:
            self.pending = next(self._script) if row is None else self._script.send(row)
        except StopIteration as end:
            self.pending, self.result = None, end.value
