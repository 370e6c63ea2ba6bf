"""What a protocol is: conditions, each with levels, each with runs, and what is read from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from balance.config.schema import Strict
from balance.recordings.recording import Recording
from balance.studies.store import Row

FALL_SHARE = 0.3
"""A level fails if at least this share of its runs ends in a fall."""


class ProtocolConfig(Strict):
    """Keys that every protocol has."""


@dataclass(frozen=True)
class Condition:
    """Something that is tested at rising ``levels``, each with ``runs`` runs.

    With ``search`` the largest level withstood is searched, from ``guess`` or from that of the
    condition ``after``; without it every level is run.  With ``stop_failed`` a level ends with the
    run after which it has failed whatever the others would give.  ``facts`` are columns of the
    table.
    """

    name: str
    levels: tuple[float, ...]
    runs: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    search: bool = True
    guess: int = 0
    after: str | None = None
    stop_failed: bool = False


@dataclass(frozen=True)
class Level:
    """The finished runs of one level of a condition."""

    index: int
    value: float
    rows: tuple[Row, ...]
    passed: bool


@dataclass(frozen=True)
class Finding:
    """A condition and its levels that were run, from the lowest."""

    condition: Condition
    levels: tuple[Level, ...]

    @property
    def margin(self) -> Level | None:
        """The largest level withstood below the first that was not."""
        below = [one for one in self.levels if self.failed is None or one.index < self.failed.index]
        good = [one for one in below if one.passed]
        return good[-1] if good else None

    @property
    def failed(self) -> Level | None:
        """The smallest level that was not withstood."""
        return next((one for one in self.levels if not one.passed), None)


Indicators = dict[str, float | str | None]
"""A line of a report: names with their units, and values."""


class ProtocolClass(Protocol):
    """A class with these methods is a protocol; ``Config`` in it declares its keys.

    It is made from its keys and the robot.  Its runs end when their verdict is settled; if what it
    measures needs longer ones, ``at_least_s`` says how long.
    """

    def conditions(self) -> Sequence[Condition]:
        """All conditions."""
        ...

    def experiment(self, condition: Condition, level: float, run: int) -> Mapping[str, Any]:
        """Dotted keys that make the experiment at hand one run of a level."""
        ...

    @staticmethod
    def measure(recording: Recording) -> Mapping[str, Any]:
        """Numbers of one run."""
        ...

    def passed(self, rows: Sequence[Row]) -> bool:
        """Whether a level is withstood."""
        ...

    def report(self, findings: Sequence[Finding]) -> list[Indicators]:
        """The indicators, one line for each condition or fewer."""
        ...


BEST: Row = {"outcome": "recovered"}
"""What a run that was not made could give at most."""


def fell(row: Row) -> bool:
    """Whether a run ended in a fall; one that crashed counts as one."""
    return row["outcome"] not in ("recovered", "upright")


def few_falls(rows: Sequence[Row]) -> bool:
    """Whether fewer runs fell than make a level fail."""
    return sum(map(fell, rows)) < FALL_SHARE * len(rows) - 1e-9
