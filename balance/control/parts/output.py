"""What every control law returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ControlStatus(IntFlag):
    """What happened in a control step; zero means that the law got all it asked for."""

    OK = 0
    WRENCH_LIMITED = 1
    """The contacts cannot produce the wanted wrench at the CoM."""
    TORQUE_LIMITED = 2
    """At least one joint torque was cut at its limit."""
    QP_FAILED = 4
    """A QP had no solution; the flags of the rungs say what was done instead."""
    BAD_STATE = 8
    """The measured state was not finite; the answer is safe but blind."""
    OTHER_SOLVER = 16
    """The chosen solver failed on a program, and another one solved it."""
    RELAXED = 32
    """Rung after a failed QP: the weight is held with evened weights."""
    MINIMUM_WRENCH = 64
    """Rung after a failed QP: contacts bear next to nothing, joints hold their posture."""
    DAMPED = 128
    """Last rung after a failed QP: the joints are braked."""
    LAW_FAILED = 256
    """The law raised an exception, or what it returned is no set of torques."""
    TARGET_MISSED = 512
    """A frame is farther from its moving target than it should ever be."""
    FALLEN = 1024
    """The posture was lost; the drives do what ``after_fall`` says."""


class Strategy(IntEnum):
    """How a law that may step holds the robot."""

    ANKLES = 0
    """The capture point is where the CoP can be."""
    HIPS = 1
    """The body leans to bring it back there."""
    STEPS = 2
    """A foot is on its way, from the decision until the robot stands on both again."""


@dataclass(slots=True)  # made in every step, where frozen would cost a microsecond
class Footstep:
    """What a law that may step is about: its strategy and the step under way.

    ``step`` is the number of that step, or of the last one, from 1 on; ``swing`` the number of the
    sole that is, or is about to be, in the air, -1 for none; ``landing`` (4,) where its centre is
    to land, m, and its yaw, rad, NaN for none.
    """

    strategy: Strategy
    step: int
    swing: int
    landing: Array


class Controller(Protocol):
    """What every law offers; it never knows which plant runs it."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints that ``ControlOutput.active`` indexes."""
        ...

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques for the measured configuration, velocity and time."""
        ...


@dataclass(slots=True)
class ControlOutput:
    """Joint torques (nj,), contact wrenches (k, 6) in the contacts' axes, and the status."""

    torques: Array
    wrenches: Array
    status: ControlStatus
    active: NDArray[np.integer[Any]]
    """Indices of the active constraints: cone rows, then torque limits for laws that have them;
    ``controller.constraint_names`` has their names."""
    residual: Array
    """Wanted minus commanded wrench at the CoM (6,), world axes."""
    conflict: str = ""
    """Why the law had no answer, in words, where it first had none."""
    bearing: Array | None = None
    """What each contact is meant to do, (k,), of a law that goes from stance to stance: 1 bear, 0
    stay off, 0.5 take up or give off its load."""
    phase: int = 0
    """Number of the phase that is under way, of such a law."""
    failure: str = ""
    """Why such a law cannot go on, in words."""
    footstep: Footstep | None = None
    """What a law that may step is about."""
