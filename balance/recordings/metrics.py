"""Judging a recording: did the robot stay on its feet, how far did it sway, when did it settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.output import ControlStatus
from balance.recordings.demand import largest_uses, torque_effort, wrench_errors
from balance.recordings.disk_arrays import chunks
from balance.recordings.falls import MAX_SLIP_M, Cause, find_fall
from balance.recordings.limiting import largest_shortfall, limited_by
from balance.recordings.recording import LOADED_N, Recording
from balance.robots import Robot
from balance.robots.support_polygon import support_polygon

Array = NDArray[np.float64]

MAX_FLIGHT_S = 0.1
SETTLING_BANDS = (10, 5, 2)  # percent of the peak
SETTLED_M = 1e-5  # an error that never exceeds this is settled from the start (also rad)


@dataclass(frozen=True)
class Verdict:
    """``outcome`` is ``recovered``, ``upright``, ``fell`` or ``aborted``; the rest says why."""

    outcome: str
    time_s: float | None = None
    cause: str | None = None
    fall: Cause | None = None
    """What a fall began with: ``left support``, ``slip``, ``tilt``, ``height``, ``touch`` of some
    other body, or ``unsettled`` at the end of the run."""


def judge(recording: Recording) -> Verdict:
    """Whether the robot is back on its feet at the end of the run.

    ``recovered``: nothing but soles touched the ground, no sole slipped more than 2 cm or hung in
    the air for more than 0.1 s, and over the last 0.25 s the CoM error stayed below 3 cm, the
    rotation error below 0.09 rad and the base's angular rate below 0.15 rad/s.  ``upright``: the
    same bounds at the end, but a sole slipped or flew.  ``fell``: anything else.
    """
    kind, _, cause = recording.end.partition(": ")
    if recording.time.size == 0:
        return Verdict("aborted", 0.0, cause or "nothing was simulated")
    if kind == "aborted":
        return Verdict("aborted", float(recording.time[-1]), cause)
    fall = find_fall(recording)
    if fall is not None:
        return Verdict("fell", fall.time_s, fall.text, fall.cause)
    slip, flight = float(recording.sole_slip.max()), longest_flight(recording)
    if slip > MAX_SLIP_M:
        return Verdict("upright", None, f"a sole slipped by {slip:.3f} m")
    if flight > MAX_FLIGHT_S:
        return Verdict("upright", None, f"a sole was in the air for {flight:.3f} s")
    return Verdict("recovered")


def longest_flight(recording: Recording) -> float:
    """Longest time for which a sole bore no load, s."""
    period = recording.config.control_period_s
    longest = 0
    for sole in range(recording.contact_wrenches.shape[1]):
        airborne = recording.contact_wrenches[:, sole, 2] < LOADED_N
        edges = np.flatnonzero(np.diff(np.concatenate([[0], airborne.astype(int), [0]])))
        if edges.size:
            longest = max(longest, int((edges[1::2] - edges[::2]).max()))
    return longest * period


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


def _ankle_limit_fraction(recording: Recording) -> float:
    """The strongest push as a fraction of the ankle limit in its direction."""
    fractions = [0.0]
    for push in recording.pushes:
        horizontal = push.impulse * push.direction
        size = float(np.hypot(*horizontal[:2]))
        if size > 1e-12 and not push.in_body_axes:
            limit = ankle_limit(recording.robot, horizontal)
            fractions.append(size / limit if limit > 0.0 else 0.0)
    return max(fractions)


def _delivered(recording: Recording) -> float:
    """Impulse that the pushes delivered within the recorded time, N s."""
    if recording.time.size == 0:
        return 0.0
    end = float(recording.time[-1]) + recording.config.control_period_s
    return sum(push.delivered(end) for push in recording.pushes)


def summarise(recording: Recording) -> dict[str, Any]:
    """Everything that ``summary.json`` says."""
    verdict = judge(recording)
    com = np.linalg.norm(recording.com_error, axis=1)
    rotation = np.linalg.norm(recording.rotation_error, axis=1)
    start = max((push.start for push in recording.pushes), default=0.0)
    limited = (recording.status & int(ControlStatus.WRENCH_LIMITED)) != 0
    saturated = (recording.status & int(ControlStatus.TORQUE_LIMITED)) != 0
    friction, cop = largest_uses(recording)
    force_error, moment_error = wrench_errors(recording)

    def peak(values: Array) -> float:
        return float(np.max(values, initial=0.0))

    def axes(values: Array) -> list[float]:
        return [peak(np.abs(values[:, i])) for i in range(values.shape[1])]

    return {
        "outcome": verdict.outcome,
        "time_of_fall_s": verdict.time_s,
        "cause": verdict.cause,
        "fall_cause": verdict.fall,
        "robot": recording.robot.name,
        "law": recording.config.controller.law,
        "engine": recording.config.plant.engine,
        "simulated_s": float(recording.time.size * recording.config.control_period_s),
        "peak_com_error_m": peak(com),
        "peak_com_error_axes_m": axes(recording.com_error),
        "final_com_error_m": float(com[-1]) if com.size else 0.0,
        "peak_rotation_rad": peak(rotation),
        "peak_rotation_axes_rad": axes(recording.rotation_error),
        "peak_linear_momentum": peak(np.linalg.norm(recording.momentum[:, :3], axis=1)),
        "peak_angular_momentum": peak(np.linalg.norm(recording.momentum[:, 3:], axis=1)),
        "settling_time_s": settling_times(recording.time, com, start),
        "rotation_settling_time_s": settling_times(recording.time, rotation, start),
        "impulse_Ns": _delivered(recording),
        "ankle_limit_fraction": _ankle_limit_fraction(recording),
        "max_sole_lift_m": peak(recording.sole_lift),
        "max_sole_slip_m": peak(recording.sole_slip),
        "longest_flight_s": longest_flight(recording),
        "peak_torque_Nm": max(
            (peak(np.abs(recording.torques[rows])) for rows in chunks(com.size)), default=0.0
        ),
        "torque_effort_N2m2s": torque_effort(recording),
        "max_friction_use": friction,
        "max_cop_use": cop,
        "wrench_error_rms_N": force_error,
        "wrench_error_rms_Nm": moment_error,
        "wrench_limited_share": float(limited.mean()) if limited.size else 0.0,
        "torque_limited_share": float(saturated.mean()) if saturated.size else 0.0,
        "limited_by_s": limited_by(recording),
        "conflict": recording.conflict or None,
        "largest_shortfall": largest_shortfall(recording),
        **_estimate(recording),
        **recording.timing,
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
