"""The verdict on a recording: the one function that says whether a robot has recovered."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.recordings.falls import find_fall, loaded_slip, normal_forces
from balance.recordings.joint_stops import new_stops
from balance.recordings.penetration import deepest_overlap
from balance.recordings.recording import Recording, once
from balance.recordings.stance_rows import spans
from balance.recordings.verdict import (
    HOLD_S,
    LOADED_N,
    MAX_ANGULAR_RATE,
    MAX_COM_ERROR_M,
    MAX_FLIGHT_S,
    MAX_PENETRATION_M,
    MAX_ROTATION_RAD,
    MAX_SLIP_M,
    Cause,
    EndKind,
    Outcome,
    Verdict,
)

Array = NDArray[np.float64]
Reason = tuple[Cause, str]

NAMED = 3  # joints in a verdict
ROUNDING = 1e-6  # of times, as a share of a control period


@once
def judge(recording: Recording) -> Verdict:
    """Whether the robot is back on its feet at the end of the run.

    ``recovered``: nothing but soles touched the ground, no body passed through another, no loaded
    sole slipped too far, none was in the air for too long, and at the end the robot stands still:
    CoM, base rotation and rate within their bounds for 0.25 s, and no joint on a stop on which it
    did not rest before.  ``upright``: it stands, but slipped, lifted or has not settled.  ``fell``:
    the posture was lost or something else touched the ground.  All numbers are in
    :mod:`balance.recordings.verdict`.
    """
    end = recording.end
    if recording.time.size == 0:
        return Verdict(Outcome.ABORTED, 0.0, end.cause, end.text or "nothing was simulated")
    if end.kind is EndKind.ABORTED:
        return Verdict(Outcome.ABORTED, float(recording.time[-1]), end.cause, end.text)
    fall = find_fall(recording)
    if fall is not None:
        return Verdict(Outcome.FELL, fall.time_s, fall.cause, fall.text, fall.began_s)
    reasons = [
        *_unfinished(recording),
        *_moved_soles(recording),
        *_passed_through(recording),
        *_not_settled(recording),
    ]
    if reasons:
        text = "; ".join(words for _, words in reasons)
        return Verdict(Outcome.UPRIGHT, cause=reasons[0][0], text=text)
    return Verdict(Outcome.RECOVERED)


def _moved_soles(recording: Recording) -> list[Reason]:
    """Soles that are not where they stood, or were not there all the time."""
    found = []
    slip, flight = float(loaded_slip(recording).max(initial=0.0)), longest_flight(recording)
    if slip > MAX_SLIP_M:
        found.append((Cause.SLIP, f"a sole slipped by {slip:.3f} m"))
    if flight > MAX_FLIGHT_S:
        found.append((Cause.FLIGHT, f"a sole was in the air for {flight:.3f} s"))
    return found + _unmeant_touches(recording)


def _unmeant_touches(recording: Recording) -> list[Reason]:
    """Contacts that bore load while they were to be off, other than to land."""
    if recording.bearing is None:
        return []
    found = []
    period = recording.config.control_period_s
    for number, sole in enumerate(recording.robot.soles):
        off = recording.bearing[:, number] == 0.0
        touched = spans(off & (recording.contact_wrenches[:, number, 2] >= LOADED_N))
        touched = [span for span in touched if not _lands(recording, number, *span)]
        first, last = max(touched, key=lambda span: span[1] - span[0], default=(0, 0))
        if (last - first) * period > MAX_FLIGHT_S:
            text = (
                f"the {sole.name} touched for {(last - first) * period:.3f} s in "
                f"{_told_phase(recording, first)}, which keeps it off"
            )
            found.append((Cause.TOUCH, text))
    return found


def _told_phase(recording: Recording, row: int) -> str:
    if recording.phase is None:
        return "a step"
    return f"the phase '{recording.config.phases[int(recording.phase[row])].name}'"


def _lands(recording: Recording, number: int, first: int, last: int) -> bool:
    """Whether a touch goes over into bearing where it began: a touch-down, light at first."""
    assert recording.bearing is not None
    if last >= len(recording.time) or recording.bearing[last, number] == 0.0:
        return False
    model, sole = recording.robot.model, recording.robot.soles[number]
    data, places = model.createData(), []
    for row in (first, last):
        pin.framesForwardKinematics(model, data, recording.q[row])
        places.append(sole.pose(data).translation)
    return float(np.linalg.norm(places[1] - places[0])) <= MAX_SLIP_M


def _unfinished(recording: Recording) -> list[Reason]:
    """A sequence of phases whose last one was not reached."""
    if recording.phase is None:
        return []
    phases, last = recording.config.phases, int(recording.phase[-1])
    if last == len(phases) - 1:
        return []
    text = f"the run ended in the phase '{phases[last].name}', {last + 1} of {len(phases)}"
    return [(Cause.UNFINISHED, text)]


def _passed_through(recording: Recording) -> list[Reason]:
    """Bodies that were where others are."""
    depth, pair = deepest_overlap(recording)
    if depth <= MAX_PENETRATION_M or pair is None:
        return []
    return [(Cause.PENETRATION, f"{pair} passed through each other by {1e3 * depth:.0f} mm")]


def _not_settled(recording: Recording) -> list[Reason]:
    """What is still out of bounds at the end, or why that cannot be said."""
    period = recording.config.control_period_s
    end = float(recording.time[-1]) + period
    last = max((push.end for push in recording.pushes if push.start < end), default=0.0)
    if end - last < HOLD_S - ROUNDING * period:
        left = max(end - last, 0.0)
        text = f"no time to judge: the recording ends {left:.3g} s after the last push"
        return [(Cause.NO_TIME, text)]
    window = recording.time >= recording.time[-1] - HOLD_S
    bounds = (
        ("CoM error", "m", recording.com_error, MAX_COM_ERROR_M),
        ("rotation error", "rad", recording.rotation_error, MAX_ROTATION_RAD),
        ("angular rate", "rad/s", recording.v[:, 3:6], MAX_ANGULAR_RATE),
    )
    found = []
    for name, unit, vectors, bound in bounds:
        most = float(np.linalg.norm(vectors[window], axis=1).max())
        if not most < bound:
            found.append((Cause.UNSETTLED, f"{name} {most:.3g} {unit}"))
    stops = [name for name, rows in new_stops(recording).items() if rows[window].any()]
    found += [(Cause.JOINT_STOP, name) for name in stops[:NAMED]]
    if len(stops) > NAMED:
        found.append((Cause.JOINT_STOP, f"{len(stops) - NAMED} more joints on their stops"))
    if not found:
        return []
    return [(found[0][0], f"not settled at the end: {', '.join(words for _, words in found)}")]


def longest_flight(recording: Recording) -> float:
    """Longest time for which a sole that was meant to bore no load, s."""
    airborne = normal_forces(recording) < LOADED_N
    if recording.bearing is not None:
        airborne &= recording.bearing == 1.0
    longest = max((last - first for sole in airborne.T for first, last in spans(sole)), default=0)
    return longest * recording.config.control_period_s
