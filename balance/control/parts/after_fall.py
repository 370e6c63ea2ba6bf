"""What the drives do once the posture is lost: the law has nothing to balance any more."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.output import ControlOutput, ControlStatus
from balance.robots import Robot

Array = NDArray[np.float64]

FREQUENCY_HZ, DAMPING_RATIO = 6.0, 1.0  # so stiff that friction of the drives does not hold wrists


class FallenLaw:
    """Holds the posture in which the robot stood by a joint impedance, RobotDynamicsETH (3.72).

    A limp robot has no torques at all.  Gains are per unit of the inertia that a joint moves while
    all others are free: what a light pelvis between two heavy limbs lets a hip feel.
    """

    constraint_names: tuple[str, ...] = ()

    def __init__(self, robot: Robot, limp: bool) -> None:
        self._posture, self._limits = robot.q_nominal[7:], robot.effort_limits
        inverse = pin.computeMinverse(robot.model, robot.model.createData(), robot.q_nominal)
        inertia = 0.0 * self._limits if limp else 1.0 / np.diag(inverse)[6:]
        omega = 2.0 * math.pi * FREQUENCY_HZ
        self._stiffness, self._damping = omega**2 * inertia, 2.0 * DAMPING_RATIO * omega * inertia
        self._unknown = np.full((len(robot.soles), 6), np.nan)

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques within their limits; of contacts nothing is known, nor wanted."""
        torques = self._stiffness * (self._posture - q[7:]) - self._damping * v[6:]
        cut = np.clip(np.nan_to_num(torques), -self._limits, self._limits)
        none = np.empty(0, dtype=np.intp)
        return ControlOutput(cut, self._unknown, ControlStatus.FALLEN, none, np.zeros(6))
