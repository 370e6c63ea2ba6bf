"""Springs and dampers of the joints: of those that bear no contact, and of all that stand."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.laws import ImpedanceConfig
from balance.control.parts.support import supporting_joints
from balance.dynamics.checks import symmetrise
from balance.dynamics.compiled import compiled
from balance.dynamics.joint_control import gains_of_oscillator
from balance.robots import Robot

Array = NDArray[np.float64]

STANDING = ImpedanceConfig(frequency_hz=0.7, damping_ratio=1.0)
"""Of joints that bear a contact, for a CoM height of 1 m."""
SLOWEST_S = 0.002
"""Control period at which a foot in the air is still to be held without shaking."""
LARGEST = 0.5
"""Most that a spring or a damper may change within that period: k_p T^2 / I and k_d T / I."""


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

    def bear(self, robot: Robot, wanted: ImpedanceConfig) -> None:
        """Give the joints that bear a contact springs and dampers too, RobotDynamicsETH (3.78).

        Those of an oscillator whose frequency goes with 1 / sqrt(height), times the inertia of the
        whole robot about the joint's axis, shared among the contacts; at most what the joint can
        bear when its foot is in the air.
        """
        bearing, free = supporting_joints(robot), _free_inertias(robot)
        frequency = wanted.frequency_hz / float(np.sqrt(robot.com()[2]))
        k_p, k_d = gains_of_oscillator(frequency, wanted.damping_ratio)
        share = _inertias_about_axes(robot) / len(robot.soles)
        springs = np.minimum(k_p * share, LARGEST * free / SLOWEST_S**2)
        dampers = np.minimum(k_d * share, LARGEST * free / SLOWEST_S)
        self.stiffness[bearing], self.damping[bearing] = springs[bearing], dampers[bearing]

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
        return torques if self._forward is None else torques + self.forward()

    @property
    def moves(self) -> bool:
        """Whether it is led by a posture that moves."""
        return self._forward is not None

    def forward(self) -> Array:
        """Torques (nj,) that go along with such a posture."""
        assert self._forward is not None
        return self.damping * self._rates + self._inertia * self._forward


@compiled
def spring_torques(
    nominal: Array, joints: Array, rates: Array, stiffness: Array, damping: Array
) -> Array:
    """-K (s - s_nominal) - B ds/dt, (nj,)."""
    torques = nominal - joints
    torques *= stiffness
    torques -= damping * rates
    return torques


def _free_inertias(robot: Robot) -> Array:
    """1 / (M^-1)_jj (nj,), kg m^2: what a joint feels of the robot in the air, all others free."""
    M = symmetrise(pin.crba(robot.model, robot.model.createData(), robot.q_nominal))
    return np.asarray(1.0 / np.diag(np.linalg.inv(M))[6:])


def _inertias_about_axes(robot: Robot) -> Array:
    """Inertia of the whole robot in its nominal posture about every joint's axis (nj,), kg m^2."""
    model, data = robot.model, robot.model.createData()
    pin.ccrba(model, data, robot.q_nominal, np.zeros(model.nv))
    pin.computeJointJacobians(model, data, robot.q_nominal)
    # Pinocchio's Jacobian has the twist of every joint at the world's origin; h = I twist is the
    # momentum of the robot that turns with it as one body, and twist . h the inertia.
    whole = pin.Inertia(data.Ig.mass, np.array(data.com[0]), np.array(data.Ig.inertia))
    twists = data.J[:, 6:]
    return np.asarray((twists * whole.matrix().dot(twists)).sum(axis=0))
