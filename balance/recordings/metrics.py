"""Measures of a recording: peaks, settling, what its pushes were, and where a fall began."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.output import ControlStatus
from balance.recordings.judging import judge
from balance.recordings.recording import Recording, once
from balance.recordings.verdict import Outcome
from balance.robots import Robot
from balance.robots.capability.cop import cop_region
from balance.robots.support_polygon import support_polygon
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

SETTLING_BANDS = (10, 5, 2)  # percent of the peak
SETTLED_M = 1e-5  # an error that never exceeds this is settled from the start (also rad)


def peak(values: Array) -> float:
    """The largest of values that are never negative; 0 without any."""
    return float(np.max(values, initial=0.0))


def largest(vectors: Array) -> float:
    """The largest length of vectors (n, 3)."""
    return peak(np.linalg.norm(vectors, axis=1))


def axis_peaks(vectors: Array) -> list[float]:
    """The largest size of each component of vectors (n, 3)."""
    return [peak(np.abs(vectors[:, i])) for i in range(vectors.shape[1])]


def rms(values: Array) -> float:
    """Root mean square; 0 without values."""
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0


def share(recording: Recording, flag: ControlStatus) -> float:
    """Share of the control periods whose status has a flag."""
    rows = (recording.status & int(flag)) != 0
    return float(rows.mean()) if rows.size else 0.0


def estimate_errors(recording: Recording, block: int) -> Array:
    """Lengths (n,) of the errors of the estimated position, rotation or velocity of the base."""
    assert recording.estimation is not None
    columns = recording.estimation[:, 3 * block : 3 * block + 3]
    return np.asarray(np.linalg.norm(columns, axis=1))


def settling_times(time: Array, error: Array, start: float) -> dict[str, float | None]:
    """Time from ``start`` after which ``error`` stays inside 10, 5 and 2 % of its peak, s.

    None where it does not settle before the recording ends.
    """
    after = time >= start
    time, error = time[after], error[after]
    result: dict[str, float | None] = {}
    for percent in SETTLING_BANDS:
        band = max(percent / 100 * float(error.max(initial=0.0)), SETTLED_M)
        outside = np.flatnonzero(error > band)
        if outside.size == 0:
            result[str(percent)] = 0.0
        elif outside[-1] == len(error) - 1:
            result[str(percent)] = None
        else:
            result[str(percent)] = float(time[outside[-1] + 1] - start)
    return result


def settling_after_push(recording: Recording, error: Array) -> dict[str, float | None]:
    """How long vectors (n, 3) take to settle after the last push; never after a fall."""
    if judge(recording).outcome is Outcome.FELL:
        return {str(percent): None for percent in SETTLING_BANDS}
    start = max((push.start for push in recording.pushes), default=0.0)
    return settling_times(recording.time, np.linalg.norm(error, axis=1), start)


def support_reach(robot: Robot, direction: Array) -> float:
    """Distance (m) from the CoM's ground point to the edge of support along ``direction``.

    Zero for contacts that span no area.
    """
    return support_polygon(robot).reach(robot.com()[:2], direction)


def ankle_limit(robot: Robot, direction: Array) -> float:
    """Largest impulse (N s) that ankles alone can catch along a horizontal direction.

    Linear inverted pendulum: m omega d, with omega = sqrt(g / z_CoM) and d the distance from the
    CoM to the edge of where contacts and torque limits let the CoP be
    (:mod:`balance.robots.capability.cop`); where no torque binds, that is the edge of support.
    """
    horizontal = np.asarray(direction[:2]) / np.linalg.norm(direction[:2])
    com = robot.com()
    gravity = float(np.linalg.norm(robot.model.gravity.linear))
    omega = np.sqrt(gravity / com[2])
    return float(robot.mass * omega * cop_region(robot).reach(com[:2], horizontal))


def given_pushes(recording: Recording) -> list[dict[str, Any]]:
    """What each push delivered within the recorded time, and as a share of the ankle limit.

    ``direction`` is in world axes; one in a body's axes is turned as that body was when the push
    began.  The share is of the horizontal part of the impulse.
    """
    period = recording.config.control_period_s
    end = float(recording.time[-1]) + period if recording.time.size else 0.0
    given = []
    for push in recording.pushes:
        impulse, direction = push.delivered(end), _world_direction(recording, push)
        level = float(np.hypot(*direction[:2]))
        limit = ankle_limit(recording.robot, direction) if level > 1e-12 else 0.0
        given.append(
            {
                "body": push.body,
                "direction": [float(x) for x in direction],
                "impulse_Ns": impulse,
                "ankle_limit_fraction": impulse * level / limit if limit > 0.0 else 0.0,
                "start_s": push.start,
                "end_s": push.end,
            }
        )
    return given


def _world_direction(recording: Recording, push: Push) -> Array:
    if not push.in_body_axes or recording.time.size == 0:
        return push.direction
    import pinocchio as pin

    model, data = recording.robot.model, recording.robot.model.createData()
    row = min(int(np.searchsorted(recording.time, push.start)), recording.time.size - 1)
    pin.forwardKinematics(model, data, recording.q[row])
    placement = pin.updateFramePlacement(model, data, model.getFrameId(push.body))
    return np.asarray(placement.rotation @ push.direction)


@once
def strongest_push(recording: Recording) -> dict[str, Any]:
    """The push that came nearest to the ankle limit, or went furthest beyond it."""
    none = {"impulse_Ns": 0.0, "ankle_limit_fraction": 0.0}
    pushes = given_pushes(recording)
    return max(pushes, key=lambda p: (p["ankle_limit_fraction"], p["impulse_Ns"]), default=none)


def up_to_fall(recording: Recording) -> Recording:
    """What was recorded before a fall began: on the way down everything is large."""
    began = judge(recording).began_s
    if began is None:
        return recording
    rows = max(1, int(np.searchsorted(recording.time, began, side="right")))
    return recording.part(slice(rows))
