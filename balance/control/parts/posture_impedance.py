"""Springs and dampers of the joints that bear no contact."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.support import supporting_joints
from balance.dynamics.compiled import compiled
from balance.robots import Robot

Array = NDArray[np.float64]


class PostureImpedance:
    """Torque -K (s - s_nominal) - B ds/dt on the joints that bear no contact: arms, waist, neck.

    K = omega^2 M_jj and B = 2 zeta omega M_jj, with M_jj the joint's own inertia in the nominal
    posture: one frequency and damping ratio suit a waist and a wrist alike, whereas one stiffness
    would make the lightest joint unstable at a finite control rate.  Led by a posture that moves, s
    counts from that one, and its accelerations are fed forward.
    """

    def __init__(self, robot: Robot, frequency_hz: float, damping_ratio: float) -> None:
        model = robot.model
        inertia = np.diag(pin.crba(model, model.createData(), robot.q_nominal))[6:].copy()
        inertia[supporting_joints(robot)] = 0.0
        omega = 2.0 * np.pi * frequency_hz
        self._pace = omega**2, 2.0 * damping_ratio * omega
        self.nominal = robot.q_nominal[7:].copy()
        self._inertia, self._rates = inertia, np.zeros_like(inertia)
        self._forward: Array | None = None
        self._set()

    def _set(self) -> None:
        self.stiffness, self.damping = (pace * self._inertia for pace in self._pace)

    def leave(self, joints: NDArray[np.intp]) -> None:
        """Leave joints to somebody else."""
        self._inertia[joints] = 0.0
        self._set()

    def lead(self, joints: Array, rates: Array, accelerations: Array) -> None:
        """Go along with a posture that moves, (nj,) each."""
        self.nominal, self._rates, self._forward = joints, rates, accelerations

    def acceleration(self, joints: Array, rates: Array) -> Array:
        """What the posture asks of all joints (nj,), rad/s^2, also of those that it leaves."""
        stiffness, damping = self._pace
        wanted = stiffness * (self.nominal - joints) + damping * (self._rates - rates)
        return wanted if self._forward is None else wanted + self._forward

    def torque(self, joints: Array, rates: Array) -> Array:
        """Torques (nj,) in N m at joint positions and rates."""
        torques = spring_torques(self.nominal, joints, rates, self.stiffness, self.damping)
        if self._forward is not None:
            torques += self.damping * self._rates + self._inertia * self._forward
        return torques


@compiled
def spring_torques(
    nominal: Array, joints: Array, rates: Array, stiffness: Array, damping: Array
) -> Array:
    """-K (s - s_nominal) - B ds/dt, (nj,)."""
    torques = nominal - joints
    torques *= stiffness
    torques -= damping * rates
    return torques
