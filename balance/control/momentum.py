"""The momentum-based balancing law, Garofalo2015 (38)-(39), and its tracking form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig, WrenchLawConfig, section_of
from balance.config.tasks import FrameTaskConfig
from balance.control.parts.feedback import Feedback
from balance.control.parts.inverse_dynamics import InverseDynamics
from balance.control.parts.setpoints import Desired, desired_angular_momentum_rate
from balance.control.parts.support import SupportView
from balance.control.parts.wrench_law import WrenchLaw
from balance.robots import Robot

Array = NDArray[np.float64]


@final
class MomentumController(WrenchLaw):
    """Holds the CoM and the base's orientation, and brings the momentum to rest.

    With x the CoM, h = (p, l) the momentum about it and R_B the base's orientation, a step is

        w_CoM = [m g e_z - K_P (x - x_d);  R_d tau_P]                                     (39)
        tau_P = -2 (delta K_R eps + eps x K_R eps),   (delta, eps) the quaternion of R_d^T R_B
        sum_i J_ib_bar^T w_i = Lambda_h (w_CoM - diag(K_D, D) h),   every w_i in its cone   (38)
        tau = -sum_i J_iq_bar^T w_i

    and a joint impedance for arms, waist and neck.  (38) and (39) are :meth:`wanted_wrench`, the
    contact wrenches w_i come from the QP of :mod:`balance.control.qp.wrenches`, the torques from
    :meth:`~WrenchLaw.torques` with :meth:`rigid_acceleration`.  ``WrenchLaw.attempt`` calls these
    one after the other.

    Neither M nor its inverse is needed.  Were the joints locked, momentum h would mean the velocity
    Lambda_h h of one rigid body, Lambda_h = diag(1/m, 1/m, 1/m, I_l^-1) with the locked inertia
    I_l, and contact i would move at G_i^T times that, G_i being what carries its wrench to the CoM.
    So J_ib_bar = G_i^T Lambda_h: Lambda_h stands on both sides of (38) and cancels, and the QP
    works on the plain sum of wrenches,

        sum_i G_i w_i = w_CoM - diag(K_D, D) h.

    With h = A_b v_b + A_q dq the joints move contacts at J_iq_bar = J_iq - G_i^T Lambda_h A_q at
    constant momentum, (33), hence

        tau = -sum_i J_iq^T w_i + A_q^T Lambda_h sum_i G_i w_i.

    Differs: (39) as printed subtracts tau_P, which would push away from the desired orientation;
    here it is added.  R_d turns it from the axes of the desired frame to those of the world.  For a
    setpoint that moves, momenta count from (p_d, l_d) = (m dx_d/dt, I_l omega_d), and dp_d/dt is
    added; the paper has a fixed one.

    The tracking form (``tracking: true``), which the paper names as future work, adds dl_d/dt too
    and takes the torques from the full joint rows of (25).  While the contacts hold they bear
    exactly the wrenches w_i, as far as the joints can hold them
    (:mod:`balance.control.parts.inverse_dynamics`), hence

        m d^2e/dt^2 + m K_D de/dt + K_P e = 0   with   e = x - x_d,

    and d(l - l_d)/dt = R_d tau_P - D (l - l_d).
    """

    can_change_contacts = True

    class Config(WrenchLawConfig):
        """Keys of `law: momentum`."""

        tracking: bool = False
        """Neglect no term: feed the momentum of a moving setpoint forward, and take torques from
        the full inverse dynamics."""

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        super().__init__(config, robot)
        law = section_of(config, self.Config)
        self._inverse_dynamics: InverseDynamics | None = None
        if law.tracking:
            self._inverse_dynamics = InverseDynamics(self.support, self.posture)
        self._data = robot.model.createData()
        self._feedback = Feedback(self.K_P, self.K_D, self.K_R, self.D, self.support.weight)

    def lead_limbs(self, limbs: Mapping[str, FrameTaskConfig]) -> None:
        """Have limbs that move follow tasks; in the tracking form as exactly as contacts hold."""
        super().lead_limbs(limbs)
        if self._inverse_dynamics is not None:
            self._inverse_dynamics.lead_limbs(tuple(self.limbs.values()))

    def wanted_wrench(self, here: SupportView, desired: Desired) -> Array:
        """(39) less the dampers of (38), without Lambda_h:

        [m g e_z - K_P (x - x_d) - K_D (p - p_d) + dp_d/dt;
         R_d tau_P               - D (l - l_d)   + dl_d/dt (tracking form only)].
        """
        # At rest p_d = l_d = 0, and all of it is one product with (x, p, l, axes of the base): see
        # Feedback.
        wanted = self._feedback.wrench(desired, here.com, here.momentum, here.R_WB)
        if desired.moving:
            mass, inertia = here.mass, here.locked_inertia
            wanted[:3] += self.K_D.dot(mass * desired.com_velocity)  # K_D p_d
            wanted[:3] += mass * desired.com_acceleration  # dp_d/dt
            wanted[3:] += self.D.dot(inertia.dot(desired.angular_velocity))  # D l_d
            if self._inverse_dynamics is not None:
                wanted[3:] += desired_angular_momentum_rate(self._data, here, desired)  # dl_d/dt
        return wanted

    def rigid_acceleration(self, here: SupportView, total: Array) -> Array:
        """Lambda_h sum_i G_i w_i (6,): how ``total`` would accelerate the robot, joints locked."""
        return here.locked.inverse().dot(total)

    def torques(self, here: SupportView, wrenches: Array, total: Array) -> Array:
        """tau = -sum_i J_iq_bar^T w_i and posture; in the tracking form all joint rows of (25)."""
        if self._inverse_dynamics is not None:
            return self._inverse_dynamics.torques(here, wrenches)
        return super().torques(here, wrenches, total)
