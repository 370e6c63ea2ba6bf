"""The momentum-based balancing law, Garofalo2015 (38)-(39), and its tracking form."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from balance.config import ExperimentConfig, WrenchLawConfig, section_of
from balance.control.parts.desired_momentum import desired_angular_momentum_rate
from balance.control.parts.feedback import Feedback
from balance.control.parts.inverse_dynamics import InverseDynamics
from balance.control.parts.setpoints import Desired
from balance.control.parts.wrench_law import WrenchLaw
from balance.robots import Robot

Array = NDArray[np.float64]


@final
class MomentumController(WrenchLaw):
    """Holds the CoM and the base's orientation, and brings the momentum to rest.

    The wanted wrench at the CoM is

        w_CoM = [m g e_z - K_P (x - x_d) - K_D (p - p_d);  R_d tau_P - D (l - l_d)],

    the wrench QP finds contact wrenches w_i that add up to it, and the torques are
    tau = -sum_i J_iq_bar^T w_i plus a joint impedance for arms, waist and neck.

    Differs: (38) has Lambda_h on both sides once J_ib_bar^T w_i = Lambda_h G_i w_i is used, so it
    cancels, and the QP works on the plain sum of wrenches at the CoM.  No mass matrix is needed:
    with A = [A_b A_q] and total wrench w at the CoM,

        tau = -(sum_i J_iq^T w_i - A_q^T Lambda_h w),   Lambda_h = diag(1/m, 1/m, 1/m, I_l^-1),

    where I_l is the locked inertia about the CoM.

    The tracking form (``tracking: true``), which the paper names as future work, adds the rate of
    the desired momentum (p_d, l_d) = (m dx_d/dt, I_l omega_d) to w_CoM and takes the torques from
    the full joint rows of (25).  While the contacts hold they bear exactly the wrenches w_i, as far
    as the joints can hold them (:mod:`balance.control.parts.inverse_dynamics`), hence

        m d^2e/dt^2 + m K_D de/dt + K_P e = 0   with   e = x - x_d,

    and d(l - l_d)/dt = R_d tau_P - D (l - l_d).
    """

    class Config(WrenchLawConfig):
        """With ``tracking`` no term is neglected.

        The momentum of a moving setpoint is fed forward, and the torques are the full inverse
        dynamics.
        """

        tracking: bool = False

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        super().__init__(config, robot)
        law = section_of(config, self.Config)
        self._inverse_dynamics: InverseDynamics | None = None
        if law.tracking:
            impedance = law.impedance or robot.impedance
            self._inverse_dynamics = InverseDynamics(
                self.support, impedance.frequency_hz, impedance.damping_ratio
            )
        self._data = robot.model.createData()
        self._feedback = Feedback(self.K_P, self.K_D, self.K_R, self.D, self.support.weight)

    def wanted_wrench(self, desired: Desired, q: Array, v: Array) -> Array:
        """The right side of (38), without Lambda_h."""
        support = self.support
        wanted = self._feedback.wrench(desired, support.com, support.momentum, q[3:7])
        if desired.moving:
            mass, inertia = support.mass, support.locked_inertia
            wanted[:3] += self.K_D.dot(mass * desired.com_velocity)
            wanted[:3] += mass * desired.com_acceleration
            wanted[3:] += self.D.dot(inertia.dot(desired.angular_velocity))
            if self._inverse_dynamics is not None:
                wanted[3:] += desired_angular_momentum_rate(
                    self.robot.model, self._data, q, v, desired
                )
        return wanted

    def torques(self, wrenches: Array, total: Array, q: Array, v: Array) -> Array:
        """Joint torques; in the tracking form all joint rows of (25), posture included."""
        if self._inverse_dynamics is not None:
            return self._inverse_dynamics.torques(q, v, wrenches)
        return super().torques(wrenches, total, q, v)

    def carried(self, total: Array) -> Array:
        """Lambda_h times the sum of the wrenches (6,)."""
        carried = total / self.support.mass
        carried[3:] = dposv(self.support.locked_inertia, total[3:])[1]
        return carried
