"""Which constraints kept a law from what it wanted, for how long, and by how much.

Read from a recording: the commanded wrenches against the cones that the law assumes, the commanded
torques against the limits of the drives, the joints against the ends of their ranges, and the
status, which says when a law had no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.distribution import contact_cones
from balance.control.parts.output import ControlStatus
from balance.recordings.joint_stops import new_stops
from balance.recordings.recording import Recording, once
from balance.simulation.mismatch import modelled_mass

Array = NDArray[np.float64]
Rows = NDArray[np.bool_]

GAP_S = 0.02  # spans that are nearer to each other are one
AT_LIMIT = 1e-7  # margin of an active constraint, relative to the robot's weight or to the limit
RUNGS = {
    ControlStatus.RELAXED: "weight held",
    ControlStatus.MINIMUM_WRENCH: "posture held",
    ControlStatus.DAMPED: "joints braked",
}
"""What was done where a law had no answer of its own."""
NO_QP, NO_LAW, NO_STATE = "QP without solution", "law failed", "state not measured"
BEHIND = "a frame behind its target"
NO_ANSWER = (*(f"{why}: {done}" for why in (NO_QP, NO_LAW) for done in RUNGS.values()), NO_STATE)
"""Why it had none, in all the words of :func:`limiting_rows`."""


@once
def limiting_rows(recording: Recording) -> dict[str, Rows]:
    """For each constraint that stood in the way, in words: the control periods in which it did."""
    found: dict[str, Rows] = {}
    robot, status = recording.robot, recording.status
    limited = np.flatnonzero(status & int(ControlStatus.WRENCH_LIMITED))
    if limited.size:
        weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        mass = modelled_mass(robot, recording.config)
        cones = contact_cones(robot, recording.config.controller.contacts, mass)
        for index, (sole, cone) in enumerate(zip(robot.soles, cones, strict=True)):
            margins = recording.wrenches[limited, index] @ cone.rows.T - cone.lower
            at_edge = np.zeros((len(status), len(cone.names)), dtype=bool)
            at_edge[limited] = margins <= AT_LIMIT * weight
            # A sole that bears next to nothing is at all its edges at once.
            at_edge[at_edge[:, 0], 1:] = False
            for name, rows in zip(cone.names, at_edge.T, strict=True):
                _add(found, f"{sole.name}: {name}", rows)
    limited = np.flatnonzero(status & int(ControlStatus.TORQUE_LIMITED))
    if limited.size:
        share = np.abs(recording.torques[limited]) / robot.effort_limits
        at_limit = np.zeros((len(status), len(robot.effort_limits)), dtype=bool)
        at_limit[limited] = share >= 1.0 - AT_LIMIT
        for name, rows in zip(robot.joint_names, at_limit.T, strict=True):
            _add(found, f"{name.replace('_', ' ')}: torque limit", rows)
    for name, rows in new_stops(recording).items():
        _add(found, name, rows)
    failed = (status & int(ControlStatus.LAW_FAILED)) != 0
    for flag, done in RUNGS.items():
        rows = (status & int(flag)) != 0
        _add(found, f"{NO_QP}: {done}", rows & ~failed)
        _add(found, f"{NO_LAW}: {done}", rows & failed)
    _add(found, BEHIND, (status & int(ControlStatus.TARGET_MISSED)) != 0)
    _add(found, NO_STATE, (status & int(ControlStatus.BAD_STATE)) != 0)
    return found


def _add(found: dict[str, Rows], name: str, rows: Rows) -> None:
    """Several rows of a cone may say the same in words."""
    if rows.any():
        found[name] = found[name] | rows if name in found else rows


@dataclass(frozen=True)
class Moment:
    """A time span, s, in which a law did not get what it wanted, and what stood in the way."""

    start: float
    end: float
    names: tuple[str, ...]


def limited_moments(recording: Recording) -> list[Moment]:
    """Spans without a gap of more than ``GAP_S``; names are in the order of their time."""
    named = limiting_rows(recording)
    if not named:
        return []
    rows = np.flatnonzero(np.any(list(named.values()), axis=0))
    gap = max(1, round(GAP_S / recording.config.control_period_s))
    moments = []
    for span in np.split(rows, np.flatnonzero(np.diff(rows) > gap) + 1):
        counts = {name: int(where[span].sum()) for name, where in named.items()}
        names = sorted((n for n in counts if counts[n]), key=lambda name: -counts[name])
        end = float(recording.time[span[-1]]) + recording.config.control_period_s
        moments.append(Moment(float(recording.time[span[0]]), end, tuple(names)))
    return moments


def law_failures(recording: Recording) -> str:
    """How often a law failed, which was then answered without it; empty if it never did."""
    failed = (recording.status & int(ControlStatus.LAW_FAILED)) != 0
    if not failed.any():
        return ""
    share = f"{100.0 * failed.mean():.3g} % of" if not failed.all() else "all of"
    return f"the law failed in {share} its steps, which were answered without it"


def limited_by(recording: Recording) -> dict[str, float]:
    """How long each constraint stood in the way, s; the longest first."""
    period = recording.config.control_period_s
    times = {
        name: round(float(rows.sum()) * period, 9)
        for name, rows in limiting_rows(recording).items()
    }
    return dict(sorted(times.items(), key=lambda item: -item[1]))


def largest_shortfall(recording: Recording) -> dict[str, Any]:
    """Largest force and moment at the CoM that the contacts could not produce, when, and why."""
    missing = recording.shortfall
    found: dict[str, Any] = {
        "force_N": 0.0, "time_s": None, "moment_Nm": 0.0, "moment_time_s": None, "limited_by": None,
    }  # fmt: skip
    if len(missing) == 0:
        return found
    row = 0
    for size, when, part in (
        ("moment_Nm", "moment_time_s", slice(3, 6)),
        ("force_N", "time_s", slice(3)),
    ):
        lengths = np.linalg.norm(missing[:, part], axis=1)
        largest = int(np.argmax(lengths))
        if lengths[largest] > 0.0:
            row = largest
            found[size], found[when] = float(lengths[row]), float(recording.time[row])
    names = [name for name, rows in limiting_rows(recording).items() if rows[row]]
    return {**found, "limited_by": "; ".join(names) or None}
