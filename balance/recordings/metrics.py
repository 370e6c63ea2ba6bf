"""The figures of a recording: how far the robot swayed, when it settled, what it took."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.config.user_code import shown_name
from balance.control.parts.output import ControlStatus
from balance.recordings.demand import largest_uses, torque_effort, wrench_errors
from balance.recordings.disk_arrays import chunks
from balance.recordings.falls import loaded_slip
from balance.recordings.joint_stops import joints_at_stop, largest_speed_ratio
from balance.recordings.judging import judge, longest_flight
from balance.recordings.limiting import largest_shortfall, limited_by
from balance.recordings.recording import Recording
from balance.recordings.verdict import Outcome, Verdict
from balance.robots import Robot
from balance.robots.support_polygon import support_polygon
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

SETTLING_BANDS = (10, 5, 2)  # percent of the peak
SETTLED_M = 1e-5  # an error that never exceeds this is settled from the start (also rad)


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


def support_reach(robot: Robot, direction: Array) -> float:
    """Distance (m) from the CoM's ground point to the edge of support along ``direction``.

    Zero for contacts that span no area.
    """
    return support_polygon(robot).reach(robot.com()[:2], direction)


def ankle_limit(robot: Robot, direction: Array) -> float:
    """Largest impulse (N s) that ankles alone can catch along a horizontal direction.

    Linear inverted pendulum: m omega d, with omega = sqrt(g / z_CoM) and d the distance from the
    CoM to the edge of support.
    """
    horizontal = np.asarray(direction[:2]) / np.linalg.norm(direction[:2])
    gravity = float(np.linalg.norm(robot.model.gravity.linear))
    omega = np.sqrt(gravity / robot.com()[2])
    return float(robot.mass * omega * support_reach(robot, horizontal))


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


def up_to_fall(recording: Recording, verdict: Verdict | None = None) -> Recording:
    """What was recorded before a fall began: on the way down everything is large."""
    verdict = verdict or judge(recording)
    if verdict.began_s is None:
        return recording
    n = recording.time.size
    rows = max(1, int(np.searchsorted(recording.time, verdict.began_s, side="right")))
    arrays: dict[str, Any] = {
        field.name: value[:rows]
        for field in fields(recording)
        if isinstance(value := getattr(recording, field.name), np.ndarray) and len(value) == n
    }
    return replace(recording, **arrays)


def summarise(recording: Recording) -> dict[str, Any]:
    """Everything that ``summary.json`` says.  Of a robot that fell, figures are up to the fall."""
    verdict = judge(recording)
    fell = verdict.outcome is Outcome.FELL
    start = max((push.start for push in recording.pushes), default=0.0)
    com = np.linalg.norm(recording.com_error, axis=1)
    rotation = np.linalg.norm(recording.rotation_error, axis=1)
    pushes = given_pushes(recording)
    # The headline is the push that came nearest to the ankle limit, or went furthest beyond it.
    strongest = max(
        pushes, key=lambda p: (p["ankle_limit_fraction"], p["impulse_Ns"]), default=None
    )
    return {
        "outcome": verdict.outcome.value,
        "time_of_fall_s": verdict.time_s,
        "cause": verdict.text,
        "fall_cause": verdict.cause.value if fell and verdict.cause else None,
        "robot": recording.robot.name,
        "law": shown_name(recording.config.controller.law),
        "engine": shown_name(recording.config.plant.engine),
        "simulated_s": float(recording.time.size * recording.config.control_period_s),
        **_motion(up_to_fall(recording, verdict)),
        "final_com_error_m": float(com[-1]) if com.size else 0.0,
        "settling_time_s": _unsettled() if fell else settling_times(recording.time, com, start),
        "rotation_settling_time_s": (
            _unsettled() if fell else settling_times(recording.time, rotation, start)
        ),
        "impulse_Ns": strongest["impulse_Ns"] if strongest else 0.0,
        "ankle_limit_fraction": strongest["ankle_limit_fraction"] if strongest else 0.0,
        "pushes": pushes,
        **_demand(up_to_fall(recording, verdict)),
        "conflict": recording.conflict or None,
        **recording.timing,
    }


def _unsettled() -> dict[str, float | None]:
    """The settling times of a robot that does not stand."""
    return {str(percent): None for percent in SETTLING_BANDS}


def _peak(values: Array) -> float:
    return float(np.max(values, initial=0.0))


def _axis_peaks(values: Array) -> list[float]:
    return [_peak(np.abs(values[:, i])) for i in range(values.shape[1])]


def _motion(recording: Recording) -> dict[str, Any]:
    """How far and how fast the robot moved."""
    ratio, fastest = largest_speed_ratio(recording)
    return {
        "peak_com_error_m": _peak(np.linalg.norm(recording.com_error, axis=1)),
        "peak_com_error_axes_m": _axis_peaks(recording.com_error),
        "peak_rotation_rad": _peak(np.linalg.norm(recording.rotation_error, axis=1)),
        "peak_rotation_axes_rad": _axis_peaks(recording.rotation_error),
        "peak_linear_momentum": _peak(np.linalg.norm(recording.momentum[:, :3], axis=1)),
        "peak_angular_momentum": _peak(np.linalg.norm(recording.momentum[:, 3:], axis=1)),
        "max_sole_lift_m": _peak(recording.sole_lift),
        "max_sole_slip_m": _peak(loaded_slip(recording)),
        "longest_flight_s": longest_flight(recording),
        "max_joint_speed_ratio": ratio,
        "fastest_joint": fastest,
        "joints_at_stop_s": joints_at_stop(recording),
    }


def _demand(recording: Recording) -> dict[str, Any]:
    """What contacts, drives and the estimate had to give, and what stood in the law's way."""
    limited = (recording.status & int(ControlStatus.WRENCH_LIMITED)) != 0
    saturated = (recording.status & int(ControlStatus.TORQUE_LIMITED)) != 0
    friction, cop = largest_uses(recording)
    force_error, moment_error = wrench_errors(recording)
    rows = recording.time.size
    return {
        "peak_torque_Nm": max(
            (_peak(np.abs(recording.torques[part])) for part in chunks(rows)), default=0.0
        ),
        "torque_effort_N2m2s": torque_effort(recording),
        "max_friction_use": friction,
        "max_cop_use": cop,
        "wrench_error_rms_N": force_error,
        "wrench_error_rms_Nm": moment_error,
        "wrench_limited_share": float(limited.mean()) if rows else 0.0,
        "torque_limited_share": float(saturated.mean()) if rows else 0.0,
        "limited_by_s": limited_by(recording),
        "largest_shortfall": largest_shortfall(recording),
        **_estimate(recording),
    }


def _estimate(recording: Recording) -> dict[str, float]:
    """Root mean square and largest errors of the estimated base, if there is an estimate."""
    errors = recording.estimation
    if errors is None:
        return {}
    result = {}
    for i, name in enumerate(("position_m", "rotation_rad", "velocity_m_s")):
        size = np.linalg.norm(errors[:, 3 * i : 3 * i + 3], axis=1)
        result[f"estimate_rms_{name}"] = float(np.sqrt(np.mean(size**2))) if size.size else 0.0
        result[f"estimate_max_{name}"] = float(np.max(size, initial=0.0))
    return result
