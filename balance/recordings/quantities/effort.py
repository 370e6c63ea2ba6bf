"""Figures of what a law asked for and got: torques, contact forces, estimates, computing time."""

from __future__ import annotations

from typing import Any

from balance.config.quantity import NONE, Shown, quantity
from balance.control.parts.output import ControlStatus
from balance.recordings import demand, limiting, metrics
from balance.recordings.recording import Recording

NOWHERE, TERMINAL, COMPARE = Shown.NOWHERE, Shown.TERMINAL, Shown.COMPARE
COMPARED = Shown.COMPARE | Shown.BARS


@quantity("joint torque, largest", "N m", 1, group="demand")
def peak_torque_Nm(recording: Recording) -> float:
    """Largest torque of a joint."""
    return demand.largest_torque(recording)


@quantity("torque effort", "N²m²s", 0, better="lower", large=1e6, group="demand",
          shown=COMPARED | Shown.TUNING)  # fmt: skip
def torque_effort_N2m2s(recording: Recording) -> float:
    """Integral of the squared joint torques beyond those of standing."""
    return demand.torque_effort(recording)


@quantity("largest friction use", "%", 0, scale=100.0, better="lower", short="friction use",
          full=100.0, group="demand", shown=COMPARED)  # fmt: skip
def max_friction_use(recording: Recording) -> float:
    """Tangential force over what friction allows, of contacts that bear 5 % of the weight."""
    return demand.largest_friction_use(recording)


@quantity("largest CoP use", "%", 0, scale=100.0, better="lower", short="CoP use",
          full=100.0, group="demand", shown=COMPARED)  # fmt: skip
def max_cop_use(recording: Recording) -> float:
    """Way of the centre of pressure from the middle of such a contact to its edge."""
    return demand.largest_cop_use(recording)


@quantity("contact force error, rms", "N", 1, better="lower", short="force error, rms",
          none=NONE, group="demand", shown=COMPARED)  # fmt: skip
def wrench_error_rms_N(recording: Recording) -> float | None:
    """Commanded less measured contact forces; none of a law that commands torques alone."""
    return demand.wrench_errors(recording)[0]


@quantity("contact moment error, rms", "N m", 2, better="lower", short="moment error, rms",
          none=NONE, group="demand", shown=COMPARED)  # fmt: skip
def wrench_error_rms_Nm(recording: Recording) -> float | None:
    """Commanded less measured contact moments; likewise."""
    return demand.wrench_errors(recording)[1]


@quantity("wrench limited", "% of time", 1, scale=100.0, better="lower", group="demand",
          shown=COMPARE)  # fmt: skip
def wrench_limited_share(recording: Recording) -> float:
    """Share of the control periods in which contacts could not give what the law wanted."""
    return metrics.share(recording, ControlStatus.WRENCH_LIMITED)


@quantity("torque limited", "% of time", 1, scale=100.0, better="lower", group="demand",
          shown=COMPARE)  # fmt: skip
def torque_limited_share(recording: Recording) -> float:
    """Share of the control periods in which drives could not."""
    return metrics.share(recording, ControlStatus.TORQUE_LIMITED)


@quantity("limited by", "s", group="demand", first=("limited_by", ""))
def limited_by_s(recording: Recording) -> dict[str, float]:
    """How long each constraint stood in the law's way, the longest first."""
    return limiting.limited_by(recording)


@quantity("shortfall", digits=1, none=NONE, group="demand", texts=("limited_by",), parts={
    "force_N": ("largest force [N]", NOWHERE), "time_s": ("when [s]", NOWHERE),
    "moment_Nm": ("largest moment [N m]", NOWHERE), "moment_time_s": ("when [s]", NOWHERE),
    "limited_by": ("constraint", NOWHERE),
})  # fmt: skip
def largest_shortfall(recording: Recording) -> dict[str, Any]:
    """Largest force and moment at the CoM that the contacts could not produce, when, and why."""
    return limiting.largest_shortfall(recording)


_ESTIMATE: dict[str, Any] = {
    "digits": 4, "better": "lower", "needs": "estimation", "group": "estimate",
}  # fmt: skip


@quantity("estimated position, rms error", "m", **_ESTIMATE)
def estimate_rms_position_m(recording: Recording) -> float:
    """Root mean square error of the estimated position of the base."""
    return metrics.rms(metrics.estimate_errors(recording, 0))


@quantity("estimated position, largest error", "m", **_ESTIMATE)
def estimate_max_position_m(recording: Recording) -> float:
    """Its largest error."""
    return metrics.peak(metrics.estimate_errors(recording, 0))


@quantity("estimated rotation, rms error", "rad", **_ESTIMATE)
def estimate_rms_rotation_rad(recording: Recording) -> float:
    """Root mean square error of the estimated rotation of the base."""
    return metrics.rms(metrics.estimate_errors(recording, 1))


@quantity("estimated rotation, largest error", "rad", **_ESTIMATE)
def estimate_max_rotation_rad(recording: Recording) -> float:
    """Its largest error."""
    return metrics.peak(metrics.estimate_errors(recording, 1))


@quantity("estimated velocity, rms error", "m/s", **_ESTIMATE)
def estimate_rms_velocity_m_s(recording: Recording) -> float:
    """Root mean square error of the estimated velocity of the base."""
    return metrics.rms(metrics.estimate_errors(recording, 2))


@quantity("estimated velocity, largest error", "m/s", **_ESTIMATE)
def estimate_max_velocity_m_s(recording: Recording) -> float:
    """Its largest error."""
    return metrics.peak(metrics.estimate_errors(recording, 2))


@quantity("conflict", digits=None, none=NONE, whole=True, group="demand")
def conflict(recording: Recording) -> str | None:
    """Limits that contradicted each other when a QP first had no solution."""
    return recording.conflict or None


@quantity("control step", "µs", 0, better="lower", whole=True, group="time", parts={
    "median": ("median", TERMINAL | COMPARED), "p99": ("p99", TERMINAL | COMPARE),
})  # fmt: skip
def control_step_us(recording: Recording) -> dict[str, float]:
    """Real time that a control step took."""
    return recording.timing["control_step_us"]


@quantity("simulated / real time", better="higher", whole=True, group="time", shown=TERMINAL)
def realtime_factor(recording: Recording) -> float:
    """Simulated over real time."""
    return recording.timing["realtime_factor"]
