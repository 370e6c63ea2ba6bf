"""A recording: what happened in a run, as arrays with one row per control period."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from balance.config import ExperimentConfig
from balance.recordings.own_quantities import OwnValue
from balance.recordings.signals import Origin, Signals, signals_of
from balance.recordings.verdict import RunEnd
from balance.robots import Robot
from balance.simulation.pendulum_plant import PendulumHistory
from balance.simulation.pushes import Push

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

T = TypeVar("T")
ARRAYS = tuple(origin for origin in Origin if origin is not Origin.SIGNALS)


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
    own: tuple[OwnValue, ...] = ()
    """Values of the user's own quantities."""
    pendulum: PendulumHistory | None = None
    """What the pendulum of a run did that was just simulated; a result folder has its force only,
    in ``push_force``."""

    def part(self, rows: slice) -> Recording:
        """Some of the rows."""
        arrays: dict[str, Any] = {
            signal.name: values[rows]
            for signal in signals_of(*ARRAYS)
            if (values := getattr(self, signal.name)) is not None
        }
        return replace(self, **arrays)

    def read_only(self) -> Recording:
        """The same recording, to be looked at by whoever might change it."""
        seen = self.part(slice(None))
        for signal in signals_of(*ARRAYS):
            if (values := getattr(seen, signal.name)) is not None:
                values.flags.writeable = False
        return seen

    def summary(self) -> dict[str, Any]:
        """Outcome and figures of the run, as written to ``summary.json``."""
        from balance.recordings.summary import summarise

        return summarise(self)

    def to_pandas(self) -> pd.DataFrame:
        """The columns of ``log.parquet`` over time; ``.attrs["units"]`` has their units."""
        from balance.recordings.notebook import frame_of

        return frame_of(self)

    def plot(self, name: str = "com_momentum") -> Figure:
        """A figure of the run: com_momentum, contacts, torques, or estimation if it has one."""
        from balance.recordings.notebook import figure_of

        found: Figure = figure_of(self, name)
        return found

    def __repr__(self) -> str:
        from balance.recordings.notebook import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from balance.recordings.notebook import html_of

        return html_of(self)


def once(function: Callable[[Recording], T]) -> Callable[[Recording], T]:
    """A function of a recording that remembers its answer for as long as the recording lives."""
    known: WeakKeyDictionary[Recording, T] = WeakKeyDictionary()

    @wraps(function)
    def answer(recording: Recording) -> T:
        if recording not in known:
            known[recording] = function(recording)
        return known[recording]

    return answer
