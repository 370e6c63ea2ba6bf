"""A recording: what happened in a run, as arrays with one row per control period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from balance.config import ExperimentConfig
from balance.recordings.signals import Origin, Signals, signals_of
from balance.recordings.verdict import RunEnd
from balance.robots import Robot
from balance.simulation.pushes import Push


@dataclass(frozen=True, kw_only=True, eq=False)
class Recording(Signals):
    """A run: its :class:`Signals`, what was run, and how it ended."""

    config: ExperimentConfig
    robot: Robot
    pushes: tuple[Push, ...]
    end: RunEnd
    timing: Mapping[str, Any] = field(default_factory=dict)
    conflict: str = ""
    """Limits that contradicted each other when a QP first had no solution, in words."""

    def part(self, rows: slice) -> Recording:
        """Some of the rows."""
        arrays: dict[str, Any] = {
            signal.name: values[rows]
            for signal in signals_of(Origin.LOOP, Origin.STATES, Origin.ESTIMATE)
            if (values := getattr(self, signal.name)) is not None
        }
        return replace(self, **arrays)

    def summary(self) -> dict[str, Any]:
        """Outcome and figures of the run, as written to ``summary.json``."""
        from balance.recordings.metrics import summarise

        return summarise(self)
