"""The balancing law of Ott et al. (2011), the baseline of Garofalo2015: its (35)-(37)."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig, WrenchLawConfig, section_of
from balance.config.schema import Strict
from balance.config.values import Gain, gain_matrix
from balance.control.parts.feedback import Feedback
from balance.control.parts.gains import velocity_gains
from balance.control.parts.setpoints import Desired
from balance.control.parts.support import SupportView
from balance.control.parts.wrench_law import WrenchLaw
from balance.robots import Robot

Array = NDArray[np.float64]


class VelocityGainsConfig(Strict):
    """Dampers of (36)."""

    K_D: Gain
    """On the velocity of the CoM [N s/m]. Example: 600."""
    D: Gain
    """On the angular velocity of the base [N m s/rad]. Example: 20."""


@final
class OttController(WrenchLaw):
    """A spring and a damper at the CoM, and one of each about the base.

    The wanted wrench at the CoM is (36) with the velocity of the CoM and the base's own angular
    velocity in place of the momentum,

        w_CoM = [m g e_z - K_P (x - x_d) - K_D (dx/dt - dx_d/dt);  R_d tau_P - D (omega - omega_d)],

    the wrench QP solves (37), and the torques are tau = -sum_i J_iq_breve^T w_i.  The gains follow
    from those of the momentum law by :func:`velocity_gains`, so that both have the same target,
    unless the law is given its own.

    Differs: as in the momentum law the spring's torque is added, and a setpoint that moves adds
    m times its acceleration; (36) is for a fixed one.
    """

    can_change_contacts = True

    class Config(WrenchLawConfig):
        """Keys of `law: ott2011`."""

        velocity_gains: VelocityGainsConfig | None = None
        """K_D and D of (36) itself, in place of those converted from `gains`; K_P and K_R stay.
        Example: {K_D: 600, D: 20}."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        super().__init__(config, robot)
        own = section_of(config, self.Config).velocity_gains
        if own is None:
            self.K_D_velocity, self.D_omega = velocity_gains(self.K_D, self.D, robot)
        else:
            self.K_D_velocity, self.D_omega = gain_matrix(own.K_D), gain_matrix(own.D)
        self._feedback = Feedback(
            self.K_P, self.K_D_velocity, self.K_R, self.D_omega, self.support.weight
        )
        self._rates = np.zeros(6)
        self._share = np.repeat([1.0 / robot.mass, 0.0], 3)

    def wanted_wrench(self, here: SupportView, desired: Desired) -> Array:
        """The right side of (36), K_D dx_d/dt + m d2x_d/dt2 and D omega_d added."""
        rates = self._rates
        np.divide(here.momentum[:3], here.mass, out=rates[:3])  # dx/dt
        rates[3:] = here.R_WB.dot(here.v[3:6])  # omega
        wanted = self._feedback.wrench(desired, here.com, rates, here.R_WB)
        if desired.moving:
            wanted[:3] += self.K_D_velocity.dot(desired.com_velocity)
            wanted[:3] += here.mass * desired.com_acceleration
            wanted[3:] += self.D_omega.dot(desired.angular_velocity)
        return wanted

    def rigid_acceleration(self, here: SupportView, total: Array) -> Array:
        """The contact forces over the mass (6,): tau = -sum_i J_iq_breve^T w_i of (35).

        At constant velocity of the CoM and constant angular velocity of the base, a moving joint
        shifts the base by -A_pq dq / m; therefore sum_i J_iq_breve^T w_i is sum_i J_iq^T w_i less
        A_pq^T f / m, with f the sum of the contact forces.
        """
        return total * self._share
