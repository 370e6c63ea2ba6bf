"""What the page and the physics process say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from balance.config import (
    ExperimentConfig,
    GainsConfig,
    PushConfig,
)
from balance.recordings.verdict import RunEnd


@dataclass(frozen=True, slots=True)
class Start:
    """Begin anew with an experiment; its pushes are left out, they are given by hand."""

    config: ExperimentConfig


@dataclass(frozen=True, slots=True)
class Push:
    """Push now; the time of the item is replaced by that of the next control period."""

    item: PushConfig


@dataclass(frozen=True, slots=True)
class ChangeGains:
    """Take over other gains without a jump in torque."""

    gains: GainsConfig


@dataclass(frozen=True, slots=True)
class ChangeKeys:
    """Take over other values of a law's own keys without a jump in torque."""

    keys: dict[str, float]


@dataclass(frozen=True, slots=True)
class Pause:
    """Hold the simulation, or let it go on."""

    paused: bool


@dataclass(frozen=True, slots=True)
class Step:
    """Simulate some control periods while paused."""

    periods: int


@dataclass(frozen=True, slots=True)
class Speed:
    """Simulated seconds per real second."""

    factor: float


@dataclass(frozen=True, slots=True)
class Quit:
    """End the physics process."""


Command = Start | Push | ChangeGains | ChangeKeys | Pause | Step | Speed | Quit


@dataclass(frozen=True, slots=True)
class Started:
    """A session has begun; its rows appear in ``log``."""

    config: ExperimentConfig
    log: Path


@dataclass(frozen=True, slots=True)
class Changed:
    """The experiment as it stands, with all pushes and changes of gains so far."""

    config: ExperimentConfig


@dataclass(frozen=True, slots=True)
class Conflict:
    """The session's first QP without a solution: the limits that contradict each other."""

    text: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The session is over: a fall, a full log, or an error."""

    end: RunEnd


@dataclass(frozen=True, slots=True)
class Refused:
    """A command could not be carried out; the session goes on as it was."""

    message: str
    start: bool = False
    """Whether it was to begin a new session."""


Event = Started | Changed | Conflict | Ended | Refused
