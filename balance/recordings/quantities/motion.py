"""Figures of a run's outcome, of the CoM, the base and the momentum, and of the pushes."""

from __future__ import annotations

from typing import Any

from balance.config.quantity import NONE, Shown, quantity
from balance.config.user_code import shown_name
from balance.recordings import metrics
from balance.recordings.judging import judge
from balance.recordings.recording import Recording
from balance.recordings.verdict import Outcome

NOWHERE, TERMINAL, COMPARE = Shown.NOWHERE, Shown.TERMINAL, Shown.COMPARE
HEADLINE = Shown.TERMINAL | Shown.COMPARE | Shown.BARS | Shown.TUNING

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
