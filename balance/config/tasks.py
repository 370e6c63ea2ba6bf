"""YAML schema of the tasks of laws that decide on accelerations, forces and torques together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from balance.config.schema import Strict
from balance.config.values import Positive
from balance.errors import known_names

MOTION_TASKS: dict[str, str] = {
    "com": "the CoM follows its path, by K_P and K_D",
    "base": "the base keeps its orientation, by K_R and D",
    "momentum": "the centroidal momentum changes as Garofalo2015 (38) asks, by all four gains",
    "posture": "the joints that bear no contact keep their angle, by the impedance",
}
FORCE_TASKS: dict[str, str] = {
    "forces": "the contacts share the load evenly",
    "torques": "the joint torques are small",
}
CONSTRAINTS: dict[str, str] = {
    "dynamics": "the equation of motion",
    "contacts": "the contact surfaces do not accelerate",
    "cones": "every contact wrench lies in its cone",
    "torque_limits": "every joint torque lies within its limits",
}


class FrameTaskConfig(Strict):
    """Holds a frame of the robot, such as a hand or the torso, where the nominal posture has it.

    Its frequency and damping ratio are those of the joint impedance if they are not given.
    """

    frame: str
    hold: Literal["position", "orientation", "pose"] = "pose"
    frequency_hz: Positive | None = None
    damping_ratio: Positive | None = None


def check_weights(tasks: Iterable[str], frames: Iterable[str]) -> None:
    """Raise a ValueError if ``tasks`` names one that is neither built in nor one of ``frames``."""
    _check_frame_names(frames)
    valid = [*MOTION_TASKS, *frames]
    for name in tasks:
        if name not in valid:
            raise ValueError(
                f"'tasks' has an unknown task '{name}'{known_names(name, valid)} "
                "(a task for a limb is defined under 'frames')"
            )


def check_priorities(priorities: Iterable[Iterable[str]], frames: Iterable[str]) -> None:
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
    soft = [name for name in levels[0] if name not in CONSTRAINTS]
    if soft:
        raise ValueError(
            f"'{soft[0]}' has priority 1 beside the dynamics; give it a lower one of its own"
        )


def _check_frame_names(frames: Iterable[str]) -> None:
    for name in frames:
        if name in MOTION_TASKS or name in FORCE_TASKS or name in CONSTRAINTS:
            raise ValueError(f"'frames.{name}' has the name of a built-in task; choose another")
