"""The phases of a recording: when each was, and how it went."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from balance.control.parts.output import Strategy
from balance.recordings.recording import Recording, once
from balance.recordings.stance_rows import spans

REST_S = 0.1  # at the end of a phase, in which forces are compared
REST_SPEED = 0.02  # m/s and rad/s, below which a robot is at rest
CHANGE_S = 0.1  # after contacts change, in which torques may not jump


class PhaseSpan(NamedTuple):
    """A phase as it was: number, name, first and last moment (s), and rows of the recording."""

    number: int
    name: str
    start_s: float
    end_s: float
    rows: slice


@once
def phase_spans(recording: Recording) -> tuple[PhaseSpan, ...]:
    """The phases in their order; none of a run without."""
    if recording.phase is None or not recording.time.size:
        return ()
    edges = np.flatnonzero(np.diff(recording.phase)) + 1
    bounds = [0, *edges.tolist(), recording.time.size]
    period, found = recording.config.control_period_s, []
    for first, last in pairwise(bounds):
        number = int(recording.phase[first])
        found.append(
            PhaseSpan(
                number,
                recording.config.phases[number].name,
                float(recording.time[first]),
                float(recording.time[last - 1]) + period,
                slice(first, last),
            )
        )
    return tuple(found)


def largest_jump(recording: Recording) -> float:
    """Largest change of a torque in a control period, in its limits, where contacts change."""
    if recording.bearing is None:
        return 0.0
    changes = np.abs(np.diff(recording.torques, axis=0)) / recording.robot.effort_limits
    window = max(1, round(CHANGE_S / recording.config.control_period_s))
    rows = np.flatnonzero((np.diff(recording.bearing, axis=0) != 0.0).any(axis=1))
    return max((float(changes[row : row + window].max(initial=0.0)) for row in rows), default=0.0)


def force_error_at_rest(recording: Recording, rows: slice) -> float:
    """Largest commanded less measured contact force at the end of a phase, N."""
    last = max(1, round(REST_S / recording.config.control_period_s))
    end = slice(max(rows.stop - last, rows.start), rows.stop)
    error = recording.wrenches[end, :, :3] - recording.contact_wrenches[end, :, :3]
    return float(np.linalg.norm(error, axis=2).max(initial=0.0))


def largest_force_error(recording: Recording) -> float | None:
    """The largest of these errors of the phases that end at rest; None if none does.

    A phase that ends in a touch-down, or as soon as load is taken over, ends in motion.
    """
    errors = []
    for span in phase_spans(recording):
        slow = np.abs(recording.v[span.rows][-1]).max() < REST_SPEED
        if slow and span.end_s - span.start_s > REST_S:
            errors.append(force_error_at_rest(recording, span.rows))
    return max(errors, default=None)


def told_phases(recording: Recording) -> list[dict[str, Any]]:
    """One entry for each phase: when, what bore, how near to what was commanded."""
    assert recording.bearing is not None
    names = [sole.name for sole in recording.robot.soles]
    return [
        {
            "name": span.name,
            "start_s": span.start_s,
            "end_s": span.end_s,
            "contacts": [
                name
                for name, flag in zip(names, recording.bearing[span.rows.stop - 1], strict=True)
                if flag > 0.0
            ],
            "force_error_N": force_error_at_rest(recording, span.rows),
            "max_com_error_m": float(
                np.linalg.norm(recording.com_error[span.rows], axis=1).max(initial=0.0)
            ),
        }
        for span in phase_spans(recording)
    ]


def strongest_strategy(recording: Recording) -> str:
    """What a law that may step held the robot with at most, in words."""
    assert recording.strategy is not None
    most = Strategy(int(recording.strategy.max(initial=Strategy.ANKLES)))
    if most is not Strategy.STEPS:
        return most.name.lower()
    steps = steps_taken(recording)
    return f"{steps} step" + "s" * (steps != 1)


def steps_taken(recording: Recording) -> int:
    """How often a foot was put down again after it was meant to be off."""
    if recording.bearing is None:
        return 0
    return sum(
        max(0, len(spans(recording.bearing[:, number] > 0.0)) - 1)
        for number, sole in enumerate(recording.robot.soles)
        if sole.is_foot
    )
