"""The momentum-based balancing law, Garofalo2015 (38)-(39)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from balance.config import ExperimentConfig, MomentumLaw
from balance.controllers.distribution import make_distribution
from balance.controllers.gains import gain_matrices
from balance.controllers.orientation import relative_quaternion, spring_torque
from balance.controllers.output import ControlOutput, ControlStatus
from balance.controllers.posture import PostureImpedance
from balance.controllers.setpoints import Desired, SetpointPath
from balance.controllers.support import Support
from balance.qp import QPStatus
from balance.robots import Robot

Array = NDArray[np.float64]


class MomentumController:
    """Holds the CoM and the base's orientation through the contact wrenches.

    The wanted wrench at the CoM is

        w_CoM = [m g e_z - K_P (x - x_d) - K_D (p - p_d);  R_d tau_P - D (l - l_d)],

    the wrench QP finds contact wrenches w_i that add up to it, and the torques are
    tau = -sum_i J_iq_bar^T w_i plus a joint impedance for arms, waist and neck.

    Differs: (38) has Lambda_h on both sides once J_ib_bar^T w_i = Lambda_h G_i w_i is used, so it
    cancels, and the QP works on the plain sum of wrenches at the CoM.  No mass matrix is needed:
    with A = [A_b A_q] and total wrench w at the CoM,

        tau = -(sum_i J_iq^T w_i - A_q^T Lambda_h w),   Lambda_h = diag(1/m, 1/m, 1/m, I_l^-1),

    where I_l is the locked inertia about the CoM.
    """

    def __init__(self, config: ExperimentConfig, robot: Robot) -> None:
        law: MomentumLaw = config.controller
        self.robot, self.support = robot, Support(robot)
        self.K_P, self.K_D, self.K_R, self.D = gain_matrices(law.gains, robot)
        self.distribution = make_distribution(robot, law.contacts, law.qp)
        impedance = law.impedance or robot.impedance
        self.posture = PostureImpedance(robot, impedance.frequency_hz, impedance.damping_ratio)
        R_WB = pin.Quaternion(robot.q_nominal[3:7]).matrix()
        self.path = SetpointPath(robot.com(), R_WB, law.setpoints)
        self.limits = robot.effort_limits
        # The regularisation of the QP alone leaves some 1e-5 of the weight unmet.
        self._negligible = 1e-4 * float(np.linalg.norm(self.support.weight))
        self._last_wrenches = self.distribution.even_share(
            self.support.G, np.concatenate([self.support.weight, np.zeros(3)])
        ).reshape(-1, 6)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the rows of the wrench cones."""
        return self.distribution.names

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques for the measured configuration ``q``, velocity ``v`` and time ``t`` in s."""
        self.support.update(q, v)
        solution = self.distribution.solve(self.support.G, self.wanted_wrench(self.path.at(t), q))
        status = ControlStatus.OK
        wrenches = solution.wrenches
        if solution.status is not QPStatus.SOLVED:
            status |= ControlStatus.QP_FAILED
            wrenches = self._last_wrenches
        elif len(solution.active) and np.abs(solution.residual).max() > self._negligible:
            status |= ControlStatus.WRENCH_LIMITED
        self._last_wrenches = wrenches
        torques = self._balancing_torques(wrenches)
        torques += self.posture.torque(q[7:], v[6:])
        limited = np.minimum(np.maximum(torques, -self.limits), self.limits)
        if (limited != torques).any():
            status |= ControlStatus.TORQUE_LIMITED
        return ControlOutput(limited, wrenches, status, solution.active, solution.residual)

    def wanted_wrench(self, desired: Desired, q: Array) -> Array:
        """Wanted wrench at the CoM (6,), N and N m in world axes: the right side of (38)."""
        support = self.support
        momentum = support.momentum
        linear, angular = momentum[:3], momentum[3:]
        if desired.moving:
            linear = linear - support.mass * desired.com_velocity
            angular = angular - support.locked_inertia @ desired.angular_velocity
        wanted = np.empty(6)
        wanted[:3] = support.weight - self.K_P.dot(support.com - desired.com)
        wanted[:3] -= self.K_D.dot(linear)
        if desired.moving:
            wanted[:3] += support.mass * desired.com_acceleration
        delta, eps = relative_quaternion(desired.quaternion, q[3:7])
        wanted[3:] = desired.rotation.dot(spring_torque(self.K_R, delta, eps))
        wanted[3:] -= self.D.dot(angular)
        return wanted

    def _balancing_torques(self, wrenches: Array) -> Array:
        """tau = -sum_i J_iq_bar^T w_i, with J_iq_bar the joint columns of J_i A_Q^-1 (25)."""
        support = self.support
        total = support.G.dot(wrenches.ravel())
        scaled = np.empty(6)
        scaled[:3] = total[:3] / support.mass
        scaled[3:] = dposv(support.locked_inertia, total[3:])[1]
        return np.asarray(scaled.dot(support.A_q) - support.joint_torques(wrenches))
