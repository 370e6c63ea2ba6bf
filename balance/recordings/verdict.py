"""How a run ended, what it is judged to be, and by which bounds.

All of it values, never strings that somebody parses.  ``docs/design.md`` prints
:func:`bounds_table`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

HOLD_S = 0.25  # at the end of a run, for which a robot must stand still
MAX_COM_ERROR_M = 0.03
MAX_ROTATION_RAD = 0.09
MAX_ANGULAR_RATE = 0.15  # rad/s
AT_STOP_RAD = 1e-4  # a joint that is this near to the end of its range rests on it
LOADED_N = 1.0  # normal force above which a sole counts as touching the ground
MAX_SLIP_M = 0.02
MAX_FLIGHT_S = 0.1
MAX_PENETRATION_M = 0.005  # of a body into another, or into the floor
IN_FLOOR_M = 0.001  # a body this deep in the floor has touched it, whatever the engine says
MAX_TILT_RAD = math.radians(60.0)
MIN_HEIGHT_SHARE = 0.6  # of the nominal height of the base
LONGEST_WAIT_S = 10.0  # for which a run of a study goes on to see the verdict settle


class EndKind(StrEnum):
    """What ended a run."""

    FINISHED = "finished"
    """Its time was over."""
    SETTLED = "settled"
    """The robot stood still, so that nothing could change the verdict any more."""
    FELL = "fell"
    ABORTED = "aborted"


class Cause(StrEnum):
    """Why a run was aborted, or its robot fell or is no more than upright."""

    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"
    ERROR = "error"
    LEFT_SUPPORT = "left support"
    SLIP = "slip"
    TILT = "tilt"
    HEIGHT = "height"
    TOUCH = "touch"
    FLIGHT = "flight"
    PENETRATION = "penetration"
    UNSETTLED = "unsettled"
    JOINT_STOP = "joint stop"
    NO_TIME = "no time"
    TIMED_OUT = "timed out"
    UNFINISHED = "unfinished"


class Outcome(StrEnum):
    """The verdict in a word."""

    RECOVERED = "recovered"
    UPRIGHT = "upright"
    FELL = "fell"
    ABORTED = "aborted"


@dataclass(frozen=True)
class RunEnd:
    """How a run ended: when (s), and if not as planned, why, as a value and in words."""

    kind: EndKind = EndKind.FINISHED
    time_s: float | None = None
    cause: Cause | None = None
    text: str = ""

    def __str__(self) -> str:
        when = "" if self.time_s is None else f" at {self.time_s:.6g} s"
        return f"{self.kind}{when}" + (f": {self.text}" if self.text else "")

    def facts(self) -> dict[str, str]:
        """What a file says about it, by key."""
        time = "" if self.time_s is None else repr(self.time_s)
        values = self.kind.value, time, self.cause.value if self.cause else "", self.text
        return dict(zip(_FACTS, values, strict=True))

    @classmethod
    def from_facts(cls, facts: Mapping[bytes, bytes]) -> RunEnd:
        """The end that :meth:`facts` were told of; a ValueError quotes what makes no sense."""
        kind, time, cause, text = (
            facts.get(key.encode(), b"").decode(errors="replace") for key in _FACTS
        )
        old = _OLD_END.fullmatch(kind)
        if old:
            kind, time, text = old["kind"], old["time"] or "", old["text"]
            cause = _old_cause(kind, text)
        try:
            when = float(time) if time else None
            return cls(EndKind(kind), when, Cause(cause) if cause else None, text)
        except ValueError:
            raise ValueError(f"'{' '.join((kind, time, cause))[:60].strip()}'") from None


_FACTS = ("end", "end_time_s", "end_cause", "end_text")
# Until version 0.1 a log had all of it in one sentence.
_OLD_END = re.compile(r"(?P<kind>fell|aborted)( at (?P<time>\S+) s)?: (?P<text>.+)", re.DOTALL)


def _old_cause(kind: str, text: str) -> Cause:
    if kind == EndKind.FELL:
        return Cause.TILT if "tilted" in text else Cause.HEIGHT
    return Cause.INTERRUPTED if text.startswith("interrupted") else Cause.ERROR


def aborted(cause: Cause, text: str, time_s: float | None = None) -> RunEnd:
    """The end of a run that could not go on."""
    return RunEnd(EndKind.ABORTED, time_s, cause, text)


@dataclass(frozen=True)
class Verdict:
    """What a run came to; if the robot has not recovered, why, as a value and in words.

    ``time_s`` is when it fell or the run was aborted, ``began_s`` when a fall began: with the slip
    or with the CoM on its way out of the support.
    """

    outcome: Outcome
    time_s: float | None = None
    cause: Cause | None = None
    text: str | None = None
    began_s: float | None = None


def bounds_table() -> str:
    """The bounds as a Markdown table."""
    rows = (
        ("recovered", "stands still at the end for at least", f"{HOLD_S:g} s"),
        ("", "CoM, distance from its setpoint, below", f"{MAX_COM_ERROR_M:g} m"),
        ("", "base, rotation error, below", f"{MAX_ROTATION_RAD:g} rad"),
        ("", "base, angular rate, below", f"{MAX_ANGULAR_RATE:g} rad/s"),
        ("", "every joint further from a stop on which it did not rest", f"{AT_STOP_RAD:g} rad"),
        ("", "slip of a sole that bears load, at most", f"{MAX_SLIP_M:g} m"),
        ("", "time of a sole off the ground, at most", f"{MAX_FLIGHT_S:g} s"),
        ("", "a sole is off the ground below a normal force of", f"{LOADED_N:g} N"),
        ("", "penetration of a body into another, at most", f"{MAX_PENETRATION_M:g} m"),
        ("fell", "base, tilt, more than", f"{math.degrees(MAX_TILT_RAD):g} degrees"),
        ("", "base, height, below", f"{100 * MIN_HEIGHT_SHARE:g} % of the nominal one"),
        ("", "a body that carries no sole touches the floor, or is in it by", f"{IN_FLOOR_M:g} m"),
        ("studies", "a run goes on after its last push for at most", f"{LONGEST_WAIT_S:g} s"),
    )
    lines = ["| verdict | what | bound |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
