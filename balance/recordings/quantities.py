"""Every figure of ``summary.json``, one entry each, in its order.

An entry says how the figure is computed from a recording, and drives the summary, the table in the
terminal, the table and the figure of a comparison, what can be swept and tuned and which way, the
reports of studies, and a table of the docs.  The name of the function is its key.  Of a robot that
fell, ``recording`` is what was recorded before the fall began, except where ``whole`` says so: on
the way down everything is large.
"""

from __future__ import annotations

from typing import Any

from balance.config.quantity import NONE, Quantity, Shown, quantity
from balance.config.user_code import shown_name
from balance.control.parts.output import ControlStatus
from balance.recordings import (
    demand,
    falls,
    joint_speeds,
    joint_stops,
    limiting,
    metrics,
    penetration,
)
from balance.recordings.judging import judge, longest_flight
from balance.recordings.recording import Recording
from balance.recordings.touches import touched_pairs
from balance.recordings.verdict import Outcome

NOWHERE, TERMINAL, COMPARE = Shown.NOWHERE, Shown.TERMINAL, Shown.COMPARE
HEADLINE = Shown.TERMINAL | Shown.COMPARE | Shown.BARS | Shown.TUNING
COMPARED = Shown.COMPARE | Shown.BARS

AXES = {axis: (axis, NOWHERE) for axis in "xyz"}
NOT_SETTLED = "not settled"
SETTLING = {"10": ("10 %", HEADLINE), "5": ("5 %", TERMINAL), "2": ("2 %", TERMINAL)}
ROTATION_SETTLING = {
    "10": ("10 %", HEADLINE & ~Shown.BARS), "5": ("5 %", NOWHERE), "2": ("2 %", NOWHERE),
}  # fmt: skip


@quantity("outcome", digits=None, whole=True, group="run")
def outcome(recording: Recording) -> str:
    """The verdict: recovered, upright, fell or aborted."""
    return judge(recording).outcome.value


@quantity(
    "time of the fall, or of the end of an aborted run", "s", none=NONE, whole=True, group="run"
)
def time_of_fall_s(recording: Recording) -> float | None:
    """When the robot fell, or the run was aborted."""
    return judge(recording).time_s


@quantity("cause", digits=None, none=NONE, whole=True, group="run")
def cause(recording: Recording) -> str | None:
    """Why the robot has not recovered, in words."""
    return judge(recording).text


@quantity("cause of the fall", digits=None, none=NONE, whole=True, group="run")
def fall_cause(recording: Recording) -> str | None:
    """Why the robot fell, in a word."""
    verdict = judge(recording)
    return verdict.cause.value if verdict.outcome is Outcome.FELL and verdict.cause else None


@quantity("robot", digits=None, group="run")
def robot(recording: Recording) -> str:
    """Name of the robot."""
    return recording.robot.name


@quantity("law", digits=None, group="run")
def law(recording: Recording) -> str:
    """Name of the control law."""
    return shown_name(recording.config.controller.law)


@quantity("engine", digits=None, group="run")
def engine(recording: Recording) -> str:
    """Name of the physics engine."""
    return shown_name(recording.config.plant.engine)


@quantity("simulated time", "s", whole=True, group="run")
def simulated_s(recording: Recording) -> float:
    """How long the run lasted."""
    return float(recording.time.size * recording.config.control_period_s)


@quantity(
    "CoM, largest error", "mm", 1, scale=1e3, better="lower", large=0.5, short="CoM peak",
    group="CoM", shown=HEADLINE,
)  # fmt: skip
def peak_com_error_m(recording: Recording) -> float:
    """Largest distance of the CoM from its setpoint."""
    return metrics.largest(recording.com_error)


@quantity("CoM, largest error along", "mm", 1, scale=1e3, better="lower", group="CoM", parts=AXES)
def peak_com_error_axes_m(recording: Recording) -> list[float]:
    """The same along each axis of the world."""
    return metrics.axis_peaks(recording.com_error)


@quantity(
    "hip rotation, largest", "rad", 3, better="lower", large=1.5, group="hip rotation",
    shown=HEADLINE & ~Shown.BARS,
)  # fmt: skip
def peak_rotation_rad(recording: Recording) -> float:
    """Largest angle between the desired and the actual base."""
    return metrics.largest(recording.rotation_error)


@quantity("hip rotation, largest about", "rad", 3, better="lower", group="hip rotation", parts=AXES)
def peak_rotation_axes_rad(recording: Recording) -> list[float]:
    """The rotation vector's largest component along each axis of the desired base."""
    return metrics.axis_peaks(recording.rotation_error)


@quantity("linear momentum, largest", "kg m/s", 1, group="momentum", shown=TERMINAL | COMPARE)
def peak_linear_momentum(recording: Recording) -> float:
    """Largest linear momentum."""
    return metrics.largest(recording.momentum[:, :3])


@quantity("angular momentum, largest", "kg m²/s", 2, group="momentum", shown=TERMINAL | COMPARE)
def peak_angular_momentum(recording: Recording) -> float:
    """Largest angular momentum about the CoM."""
    return metrics.largest(recording.momentum[:, 3:])


@quantity("sole lift, largest", "mm", scale=1e3, better="lower", group="soles", shown=TERMINAL)
def max_sole_lift_m(recording: Recording) -> float:
    """Highest corner of a sole above the ground."""
    return metrics.peak(recording.sole_lift)


@quantity("sole slip, largest", "mm", scale=1e3, better="lower", group="soles", shown=TERMINAL)
def max_sole_slip_m(recording: Recording) -> float:
    """Longest way along the ground of a sole that bears load."""
    return metrics.peak(falls.loaded_slip(recording))


@quantity("longest flight of a sole", "s", 3, better="lower", group="soles")
def longest_flight_s(recording: Recording) -> float:
    """Longest time for which a sole bore no load."""
    return longest_flight(recording)


@quantity("deepest body in another", "mm", 1, scale=1e3, better="lower", group="bodies")
def max_self_penetration_m(recording: Recording) -> float:
    """How deep a body was in another one."""
    return penetration.deepest_overlap(recording)[0]


@quantity("deepest pair", digits=None, none=NONE, group="bodies")
def deepest_pair(recording: Recording) -> str | None:
    """The two bodies that were deepest in each other."""
    return penetration.deepest_overlap(recording)[1]


@quantity("deepest body in the floor", "mm", 1, scale=1e3, better="lower", whole=True,
          group="bodies")  # fmt: skip
def max_body_penetration_m(recording: Recording) -> float:
    """How deep a body was in the floor, also in a fall."""
    return metrics.peak(recording.penetration[:, 0])


@quantity("touches", digits=None, whole=True, group="bodies", in_tables=False)
def touches(recording: Recording) -> list[dict[str, Any]]:
    """What touched besides the soles: each pair, from when, how long and how hard."""
    return touched_pairs(recording)


@quantity("largest joint speed / rated speed", "%", 0, scale=100.0, better="lower", group="drives")
def max_joint_speed_ratio(recording: Recording) -> float:
    """Largest joint speed over the rated one."""
    return joint_speeds.fastest(recording)[0]


@quantity("fastest joint", digits=None, none=NONE, group="drives")
def fastest_joint(recording: Recording) -> str | None:
    """Whose speed came nearest to the rated one."""
    return joint_speeds.fastest(recording)[1]


@quantity("driven joint speed / rated speed", "%", 0, scale=100.0, better="lower", group="drives")
def max_driven_speed_ratio(recording: Recording) -> float:
    """Largest ratio but for excursions above 1 that begin in a push or within 20 ms of it."""
    return joint_speeds.largest_driven_ratio(recording)


@quantity("joint speed by a hit / rated", "%", 0, scale=100.0, none=NONE, group="drives")
def max_hit_speed_ratio(recording: Recording) -> float | None:
    """Largest ratio of those excursions; none without any."""
    return joint_speeds.largest_hit_ratio(recording)


@quantity("joints on a stop", "s", group="drives", first=("joint_at_stop", "joint_at_stop_s"))
def joints_at_stop_s(recording: Recording) -> dict[str, float]:
    """How long each joint was on one of its stops, the longest first."""
    return joint_stops.joints_at_stop(recording)


@quantity("CoM, error at the end", "mm", 1, scale=1e3, better="lower", whole=True, group="CoM")
def final_com_error_m(recording: Recording) -> float:
    """Distance of the CoM from its setpoint at the end of the run."""
    return metrics.largest(recording.com_error[-1:])


@quantity(
    "CoM, settling time", "s", better="lower", none=NOT_SETTLED, short="CoM settling",
    whole=True, group="CoM", parts=SETTLING,
)  # fmt: skip
def settling_time_s(recording: Recording) -> dict[str, float | None]:
    """From the last push until the CoM's error stays inside 10, 5 and 2 % of its peak."""
    return metrics.settling_after_push(recording, recording.com_error)


@quantity(
    "hip rotation, settling", "s", better="lower", none=NOT_SETTLED, whole=True,
    group="hip rotation", parts=ROTATION_SETTLING,
)  # fmt: skip
def rotation_settling_time_s(recording: Recording) -> dict[str, float | None]:
    """The same for the rotation of the base."""
    return metrics.settling_after_push(recording, recording.rotation_error)


@quantity("impulse delivered", "N s", whole=True, group="push", shown=TERMINAL)
def impulse_Ns(recording: Recording) -> float:
    """Impulse of the push that came nearest to the ankle limit, or went furthest beyond it."""
    return metrics.strongest_push(recording)["impulse_Ns"]


@quantity("impulse / ankle limit", whole=True, group="push", shown=TERMINAL)
def ankle_limit_fraction(recording: Recording) -> float:
    """That push's level impulse over the largest that ankles alone can catch."""
    return metrics.strongest_push(recording)["ankle_limit_fraction"]


@quantity("pushes", digits=None, whole=True, group="push", in_tables=False)
def pushes(recording: Recording) -> list[dict[str, Any]]:
    """What each push delivered, where, when and which way."""
    return metrics.given_pushes(recording)


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


QUANTITIES = tuple(entry for entry in list(globals().values()) if isinstance(entry, Quantity))
