"""What happened when: pushes, a fall, and the verdict, as lines of text with a time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from balance.recordings.judging import judge
from balance.recordings.recording import Recording
from balance.recordings.verdict import Outcome


class EventKind(StrEnum):
    """What an event is about."""

    PUSH = "push"
    FALL = "fall"
    VERDICT = "verdict"


@dataclass(frozen=True)
class Event:
    """Something that happened at a time, s; ``bad`` if the robot did not come through it."""

    time_s: float
    kind: EventKind
    text: str
    bad: bool = False


def events_of(recording: Recording) -> list[Event]:
    """The events of a run in the order of time; the verdict comes with its last row."""
    verdict, end = judge(recording), float(recording.time[-1])
    events = [
        Event(push.start, EventKind.PUSH, f"push {number}: {push.impulse:.4g} N s on {push.body}"
              f" along ({', '.join(f'{x:.3g}' for x in push.direction)})"
              f"{' of the body' if push.in_body_axes else ''}, for {push.end - push.start:.4g} s")
        for number, push in enumerate(recording.pushes, 1)
        if push.start <= end
    ]  # fmt: skip
    if verdict.outcome is Outcome.FELL:
        moment = end if verdict.time_s is None else verdict.time_s
        events.append(Event(moment, EventKind.FALL, f"fell: {verdict.text}", bad=True))
    reason = f": {verdict.text}" if verdict.text else ""
    events.append(
        Event(
            end,
            EventKind.VERDICT,
            f"{verdict.outcome.value}{reason}",
            verdict.outcome is not Outcome.RECOVERED,
        )
    )
    return sorted(events, key=lambda event: event.time_s)
