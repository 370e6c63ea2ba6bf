"""YAML schema of the tasks of laws that decide on accelerations, forces and torques together."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import (
    Direction,
    NonNegative,
    Positive,
    Vector3,
    check_one_after_the_other,
)
from balance.errors import known_names

MOTION_TASKS: dict[str, str] = {
    "com": "the CoM follows its path, by K_P and K_D",
    "base": "the base keeps its orientation, by K_R and D",
    "momentum": "the centroidal momentum changes as Garofalo2015 (38) asks, by all four gains",
    "posture": "the joints that bear no contact keep their angle, by the impedance",
}
WANTED_FORCES = "wanted_forces"
FORCE_TASKS: dict[str, str] = {
    WANTED_FORCES: "contacts press with the forces given under that key",
    "forces": "the contacts share the load evenly",
    "torques": "the joint torques are small",
}
CONSTRAINTS: dict[str, str] = {
    "dynamics": "the equation of motion",
    "contacts": "the contact surfaces do not accelerate",
    "cones": "every contact wrench lies in its cone",
    "torque_limits": "every joint torque lies within its limits",
}


class CircleConfig(Strict):
    """A way around a centre, from where the frame is."""

    centre_m: Vector3
    """The centre, as an offset from the frame's nominal place."""
    normal: Direction
    """Axis about which it goes, anticlockwise [-]."""
    turns: float = 1.0
    """How many times around; negative: clockwise [-]."""


class FrameMoveConfig(Strict):
    """A smooth move of a frame's target from rest to rest, in world axes."""

    time_s: NonNegative
    """When it begins."""
    duration_s: Positive
    """How long it takes."""
    to_m: Vector3 | None = None
    """Where it ends, as an offset from the nominal place."""
    circle: CircleConfig | None = None
    """A way around, in place of `to_m`."""
    rpy_rad: Vector3 | None = None
    """How far it turns, as an offset from the nominal orientation. Example: [0, 0, 0.3]."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.to_m is not None and self.circle is not None:
            raise ValueError("a move has to_m or circle, not both")
        if self.to_m is None and self.circle is None and self.rpy_rad is None:
            raise ValueError("a move goes nowhere; give to_m, circle or rpy_rad")
        return self


class FrameTaskConfig(Strict):
    """Holds a frame of the robot, such as a hand or the torso, where the nominal posture has it."""

    frame: str
    """Name of the frame."""
    hold: Literal["position", "orientation", "pose"] = "pose"
    """What of it is held."""
    frequency_hz: Positive | None = None
    """Undamped natural frequency; that of the joint impedance if not given."""
    damping_ratio: Positive | None = None
    """Damping ratio; that of the joint impedance if not given [-]."""
    path: tuple[FrameMoveConfig, ...] = ()
    """Moves of its target, one after the other."""
    joints_follow: bool = False
    """Whether the posture of the joints between base and frame counts next to nothing, as that of
    joints that bear a contact."""

    @model_validator(mode="after")
    def _path_is_held(self) -> Self:
        check_one_after_the_other(self.path)
        for move in self.path:
            if self.hold == "position" and move.rpy_rad is not None:
                raise ValueError("rpy_rad turns a frame of which only the position is held")
            if self.hold == "orientation" and (move.to_m or move.circle):
                raise ValueError("a path moves a frame of which only the orientation is held")
        return self


class WantedForceConfig(Strict):
    """Force with which a contact presses on what it touches, in the contact's axes; what is left
    out is free."""

    normal_N: Annotated[float, Field(ge=0)] | None = None
    """Into the plane."""
    along_N: tuple[float, float] | None = None
    """Along x and y of the surface. Example: [5, 0]."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.normal_N is None and self.along_N is None:
            raise ValueError("a wanted force needs normal_N, along_N or both")
        return self


def check_weights(tasks: Collection[str], frames: Iterable[str], forces: Iterable[str]) -> None:
    """Raise a ValueError if ``tasks`` names one that is neither built in nor one of ``frames``.

    ``forces`` are the contacts that press with a wanted force.
    """
    _check_frame_names(frames)
    _check_forces(WANTED_FORCES in tasks, forces, "tasks")
    valid = [*MOTION_TASKS, WANTED_FORCES, *frames]
    if not set(tasks) - {WANTED_FORCES}:
        raise ValueError("'tasks' has no task for the robot's motion; name one, such as 'com'")
    for name in tasks:
        if name not in valid:
            raise ValueError(
                f"'tasks' has an unknown task '{name}'{known_names(name, valid)} "
                "(a task for a limb is defined under 'frames')"
            )


def check_priorities(
    priorities: Iterable[Iterable[str]], frames: Iterable[str], forces: Iterable[str]
) -> None:
    """Raise a ValueError if ``priorities`` are contradictory.

    The first priority holds what a real robot cannot trade: its dynamics and its limits.
    """
    _check_frame_names(frames)
    levels = [list(level) for level in priorities]
    valid = [*CONSTRAINTS, *MOTION_TASKS, *FORCE_TASKS, *frames]
    seen: dict[str, int] = {}
    for index, level in enumerate(levels, 1):
        if not level:
            raise ValueError(f"priority {index} is empty; remove it or name a task in it")
        for name in level:
            if name not in valid:
                raise ValueError(
                    f"priority {index} has an unknown task '{name}'{known_names(name, valid)}"
                )
            if name in seen:
                raise ValueError(
                    f"'{name}' has priority {seen[name]} and priority {index}; name it once"
                )
            seen[name] = index
    for name in ("dynamics", "cones", "torque_limits"):
        if seen.get(name) != 1:
            found = f"priority {seen[name]}" if name in seen else "no priority"
            raise ValueError(
                f"'{name}' ({CONSTRAINTS[name]}) has {found}; it must have priority 1, because "
                "physics does not yield to a task"
            )
    if "contacts" not in seen:
        raise ValueError("'contacts' has no priority; name it, best in priority 1")
    _check_forces(WANTED_FORCES in seen, forces, "priorities")
    soft = [name for name in levels[0] if name not in CONSTRAINTS]
    if soft:
        raise ValueError(
            f"'{soft[0]}' has priority 1 beside the dynamics; give it a lower one of its own"
        )


def _check_frame_names(frames: Iterable[str]) -> None:
    for name in frames:
        if name in MOTION_TASKS or name in FORCE_TASKS or name in CONSTRAINTS:
            raise ValueError(f"'frames.{name}' has the name of a built-in task; choose another")


def _check_forces(named: bool, forces: Iterable[str], where: str) -> None:
    given = any(True for _ in forces)
    if named and not given:
        raise ValueError(
            f"'{where}' names '{WANTED_FORCES}', but the key of that name says of no contact how "
            "hard it is to press"
        )
    if given and not named:
        raise ValueError(f"'{WANTED_FORCES}' is no task yet; name it in '{where}'")
