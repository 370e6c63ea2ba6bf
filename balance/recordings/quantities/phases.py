"""Figures of runs whose contacts change: stances in sequence, and steps."""

from __future__ import annotations

from typing import Any

from balance.config.quantity import NONE, Shown, quantity
from balance.recordings import phase_rows
from balance.recordings.recording import Recording


@quantity("steps", digits=0, group="phases", shown=Shown.TERMINAL, needs="bearing")
def steps(recording: Recording) -> int:
    """How often a foot was lifted as planned and put down again."""
    return phase_rows.steps_taken(recording)


@quantity("strategy", digits=None, group="phases", shown=Shown.TERMINAL, needs="strategy")
def strategy(recording: Recording) -> str:
    """What the robot held itself with at most: ankles, hips, 1 step, 2 steps ..."""
    return phase_rows.strongest_strategy(recording)


@quantity("phases", digits=None, whole=True, group="phases", in_tables=False, needs="phase")
def phases(recording: Recording) -> list[dict[str, Any]]:
    """Each phase: its name, when it was, what bore, force error at its end, largest CoM error."""
    return phase_rows.told_phases(recording)


@quantity("largest force error at rest", "N", 1, better="lower", group="phases", needs="phase",
          none=NONE)  # fmt: skip
def max_force_error_N(recording: Recording) -> float | None:
    """Largest commanded less measured contact force at the end of a phase that ends at rest."""
    return phase_rows.largest_force_error(recording)


@quantity("largest torque jump", "%", 1, scale=100.0, better="lower", group="phases",
          needs="bearing")  # fmt: skip
def max_torque_jump(recording: Recording) -> float:
    """Largest change of a torque in a control period, in its limits, where contacts change."""
    return phase_rows.largest_jump(recording)
