"""Laws that ask for a wrench at the CoM, share it among the contacts and map it to torques."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig, WrenchLawConfig, section_of
from balance.control.parts.contact_damping import ContactDamping
from balance.control.parts.distribution import make_distribution
from balance.control.parts.gains import gain_matrices
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.control.parts.posture import PostureImpedance
from balance.control.parts.safety_frame import BalancingLaw
from balance.control.parts.setpoints import Desired, setpoint_path
from balance.control.parts.support import Support
from balance.control.qp import QPStatus
from balance.robots import Robot

Array = NDArray[np.float64]


class WrenchLaw(BalancingLaw):
    """The steps that such laws have in common; a law says which wrench, and which torques."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law = section_of(config, WrenchLawConfig)
        self.distribution = make_distribution(robot, law.contacts, law.qp)
        super().__init__(law, robot, self.distribution.solver)
        self.robot, self.support = robot, Support(robot)
        self.K_P, self.K_D, self.K_R, self.D = gain_matrices(law.gains, robot)
        impedance = law.impedance or robot.impedance
        self.posture = PostureImpedance(robot, impedance.frequency_hz, impedance.damping_ratio)
        self.contact_damping = ContactDamping(self.support, law.contact_damping, law.contact_return)
        self.path = setpoint_path(law.setpoints, robot)
        self._limits = robot.effort_limits
        # The regularisation of the QP alone leaves some 1e-5 of the weight unmet.
        self._negligible = 1e-4 * float(np.linalg.norm(self.support.weight))

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the rows of the wrench cones."""
        return self.distribution.names

    def attempt(self, q: Array, v: Array, t: float) -> ControlOutput | None:
        """Torques for a finite configuration ``q``, velocity ``v`` and time ``t`` in s."""
        self.support.update(q, v)
        wanted = self.wanted_wrench(self.path.at(t), q, v)
        solution = self.distribution.solve(self.support.G, wanted)
        if solution.status is not QPStatus.SOLVED:
            return None
        status = ControlStatus.OK
        residual = solution.residual
        if len(solution.active) and residual.dot(residual) > self._negligible**2:
            status = ControlStatus.WRENCH_LIMITED
        torques = self.torques(solution.stacked, solution.total, q, v)
        excess = np.abs(torques) - self._limits
        if excess[excess.argmax()] > 0.0:
            status |= ControlStatus.TORQUE_LIMITED
            torques = np.minimum(np.maximum(torques, -self._limits), self._limits)
        return ControlOutput(torques, solution.wrenches, status, solution.active, residual)

    def torques(self, wrenches: Array, total: Array, q: Array, v: Array) -> Array:
        """All joint torques (nj,): of contact wrenches (r,), posture and contact dampers.

        Wrenches w_i with the sum ``total`` at the CoM take tau = x^T A_q - sum_i J_iq^T w_i with
        x = :meth:`carried`.
        """
        torques = self.posture.torque(q[7:], v[6:])
        torques += self.carried(total).dot(self.support.A_q)
        torques -= self.support.joint_torques(self.contact_damping.driven(wrenches, v))
        return torques

    @abstractmethod
    def wanted_wrench(self, desired: Desired, q: Array, v: Array) -> Array:
        """Wanted wrench at the CoM (6,), N and N m in world axes."""

    @abstractmethod
    def carried(self, total: Array) -> Array:
        """x (6,), m/s^2 and 1/s^2, of the torques x^T A_q that move the joints' share along.

        With the contacts' wrenches, of sum ``total`` at the CoM, the whole robot accelerates, and
        no contact drives the joints for that.  A law differs from another in what it takes into
        account of this.
        """
