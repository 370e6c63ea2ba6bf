"""What the drives do once the posture is lost: the law has nothing to balance any more."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.output import ControlOutput, ControlStatus
from balance.robots import Robot

Array = NDArray[np.float64]

FREQUENCY_HZ, DAMPING_RATIO = 6.0, 1.0
LARGEST_SAG_RAD = 1.0  # at a drive's limit; softer, it creeps for seconds against its own friction


class FallenLaw:
    """Holds the posture in which the robot stood by a joint impedance, RobotDynamicsETH (3.72).

    A limp robot has no torques at all.  Gains are per unit of the inertia that a joint moves while
    all others are free: what a light pelvis between two heavy limbs lets a hip feel.  Light joints,
    which friction of their drives rather than inertia slows down, are stiffer: their drives are at
    their limits ``LARGEST_SAG_RAD`` off the posture.
    """

    constraint_names: tuple[str, ...] = ()

    def __init__(self, robot: Robot, limp: bool) -> None:
        self._posture, self._limits = robot.q_nominal[7:], robot.effort_limits
        inverse = pin.computeMinverse(robot.model, robot.model.createData(), robot.q_nominal)
        inertia, strength = 1.0 / np.diag(inverse)[6:], 0.0 if limp else 1.0
        omega = 2.0 * math.pi * FREQUENCY_HZ
        stiffness = np.maximum(omega**2 * inertia, self._limits / LARGEST_SAG_RAD)
        self._stiffness = strength * stiffness
        self._damping = strength * 2.0 * DAMPING_RATIO * np.sqrt(stiffness * inertia)
        self._unknown = np.full((len(robot.soles), 6), np.nan)

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques within their limits; of contacts nothing is known, nor wanted."""
        torques = self._stiffness * (self._posture - q[7:]) - self._damping * v[6:]
        cut = np.clip(np.nan_to_num(torques), -self._limits, self._limits)
        none = np.empty(0, dtype=np.intp)
        return ControlOutput(cut, self._unknown, ControlStatus.FALLEN, none, np.zeros(6))
