"""The balancing law of Ott et al. (2011), the baseline of Garofalo2015: its (35)-(37)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.controllers.setpoints import Desired
from balance.controllers.velocity_feedback import orientation_torque, velocity_gains
from balance.controllers.wrench_law import WrenchLaw
from balance.robots import Robot

Array = NDArray[np.float64]


@final
class OttController(WrenchLaw):
    """A spring and a damper at the CoM, and one of each about the base.

    The wanted wrench at the CoM is (36) with the velocity of the CoM and the base's own angular
    velocity in place of the momentum,

        w_CoM = [m g e_z - K_P (x - x_d) - K_D (dx/dt - dx_d/dt);  R_d tau_P - D (omega - omega_d)],

    the wrench QP solves (37), and the torques are tau = -sum_i J_iq_breve^T w_i.  The gains follow
    from those of the momentum law by :func:`velocity_gains`, so that both have the same target.

    Differs: as in the momentum law the spring's torque is added, and a setpoint that moves adds
    m times its acceleration; (36) is for a fixed one.
    """

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        super().__init__(config, robot)
        self.K_D_velocity, self.D_omega = velocity_gains(self.K_D, self.D, robot)

    def wanted_wrench(self, desired: Desired, q: Array, v: Array) -> Array:
        """The right side of (36)."""
        support = self.support
        velocity = support.momentum[:3] / support.mass
        wanted = np.empty(6)
        wanted[:3] = support.weight - self.K_P.dot(support.com - desired.com)
        wanted[:3] -= self.K_D_velocity.dot(velocity - desired.com_velocity)
        wanted[:3] += support.mass * desired.com_acceleration
        omega = support.data.oMi[1].rotation.dot(v[3:6])
        wanted[3:] = orientation_torque(self.K_R, self.D_omega, desired, q[3:7], omega)
        return wanted

    def balancing_torques(self, wrenches: Array) -> Array:
        """tau = -sum_i J_iq_breve^T w_i, with J_iq_breve the joint columns of (35).

        At constant velocity of the CoM and constant angular velocity of the base, a moving joint
        shifts the base by -A_pq dq / m; therefore sum_i J_iq_breve^T w_i is sum_i J_iq^T w_i less
        A_pq^T f / m, with f the sum of the contact forces.
        """
        support = self.support
        force = support.G[:3].dot(wrenches.ravel())
        return np.asarray(
            force.dot(support.A_q[:3]) / support.mass - support.joint_torques(wrenches)
        )
