"""What every control law returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import Any

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
    """The contact-wrench QP had no solution; the last good wrenches were used."""
    BAD_STATE = 8
    """The measured state was not finite; the answer is safe but blind."""


@dataclass(slots=True)
class ControlOutput:
    """Joint torques (nj,), contact wrenches (k, 6) in surface frames, and the status."""

    torques: Array
    wrenches: Array
    status: ControlStatus
    active: NDArray[np.integer[Any]]
    """Indices of the active constraints: cone rows, then torque limits for laws that have them;
    ``controller.constraint_names`` has their names."""
    residual: Array
    """Wanted minus commanded wrench at the CoM (6,), world axes."""
