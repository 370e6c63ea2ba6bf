"""Joint impedance for the joints that a balancing law leaves free: arms, waist, neck."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.support import supporting_joints
from balance.robots import Robot

Array = NDArray[np.float64]


class PostureImpedance:
    """Torque -K (s - s_nominal) - B ds/dt on the joints that bear no contact.

    K = omega^2 M_jj and B = 2 zeta omega M_jj, with M_jj the joint's own inertia in the nominal
    posture: one frequency and damping ratio suit a waist and a wrist alike, whereas one stiffness
    would make the lightest joint unstable at a finite control rate.
    """

    def __init__(self, robot: Robot, frequency_hz: float, damping_ratio: float) -> None:
        model = robot.model
        inertia = np.diag(pin.crba(model, model.createData(), robot.q_nominal))[6:].copy()
        inertia[supporting_joints(robot)] = 0.0
        omega = 2.0 * np.pi * frequency_hz
        self.stiffness = omega**2 * inertia
        self.damping = 2.0 * damping_ratio * omega * inertia
        self.nominal = robot.q_nominal[7:].copy()

    def torque(self, joints: Array, rates: Array) -> Array:
        """Torques (nj,) in N m at joint positions and rates."""
        torques = self.nominal - joints
        torques *= self.stiffness
        torques -= self.damping * rates
        return torques
