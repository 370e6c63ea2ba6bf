"""The momentum-based balancing law, Garofalo2015 (38)-(39)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from balance.config import ExperimentConfig, MomentumLaw
from balance.contacts import friction_pyramid, wrench_cone
from balance.controllers.gains import gain_matrices
from balance.controllers.orientation import relative_quaternion, spring_torque
from balance.controllers.output import ControlOutput, ControlStatus
from balance.controllers.posture import PostureImpedance
from balance.controllers.setpoints import Desired, SetpointPath
from balance.qp import QPStatus, make_solver
from balance.qp.wrenches import WrenchDistribution
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
        self.robot, self.model, self.data = robot, robot.model, robot.model.createData()
        self.K_P, self.K_D, self.K_R, self.D = gain_matrices(law.gains, robot)
        self.weight = -robot.mass * np.array(self.model.gravity.linear)
        # The regularisation of the QP alone leaves some 1e-5 of the weight unmet.
        self._negligible = 1e-4 * float(np.linalg.norm(self.weight))
        self.distribution = _distribution(law, robot)
        impedance = law.impedance or robot.impedance
        self.posture = PostureImpedance(robot, impedance.frequency_hz, impedance.damping_ratio)
        self.path = SetpointPath(
            robot.com(), pin.Quaternion(robot.q_nominal[3:7]).matrix(), law.setpoints
        )
        self.limits = robot.effort_limits
        self._feet = [_Foot(robot, index) for index in range(len(robot.soles))]
        self._G = np.zeros((6, 6 * len(self._feet)))
        self._wanted = np.empty(6)
        pin.ccrba(self.model, self.data, robot.q_nominal, np.zeros(self.model.nv))
        # Pinocchio writes into the same memory at every call, so these views stay current.
        self._A_q, self._J = self.data.Ag[:, 6:], self.data.J
        self._com, self._momentum = self.data.com[0], self.data.hg
        self._locked_inertia = self.data.Ig
        for foot in self._feet:
            foot.connect(self.data)
        self._last_wrenches = self.distribution.even_share(
            self._grasp_map(), np.concatenate([self.weight, np.zeros(3)])
        ).reshape(-1, 6)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the rows of the wrench cones."""
        return self.distribution.names

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques for the measured configuration ``q``, velocity ``v`` and time ``t`` in s."""
        pin.ccrba(self.model, self.data, q, v)
        desired = self.path.at(t)
        wanted = self.wanted_wrench(desired, q)
        G = self._grasp_map()
        solution = self.distribution.solve(G, wanted)
        status = ControlStatus.OK
        wrenches = solution.wrenches
        if solution.status is not QPStatus.SOLVED:
            status |= ControlStatus.QP_FAILED
            wrenches = self._last_wrenches
        elif len(solution.active) and np.abs(solution.residual).max() > self._negligible:
            status |= ControlStatus.WRENCH_LIMITED
        self._last_wrenches = wrenches
        torques = self._torques(wrenches, G)
        torques += self.posture.torque(q[7:], v[6:])
        limited = np.minimum(np.maximum(torques, -self.limits), self.limits)
        if (limited != torques).any():
            status |= ControlStatus.TORQUE_LIMITED
        return ControlOutput(limited, wrenches, status, solution.active, solution.residual)

    def wanted_wrench(self, desired: Desired, q: Array) -> Array:
        """Wanted wrench at the CoM (6,), N and N m in world axes: the right side of (38)."""
        momentum = self._momentum.vector
        wanted = self._wanted
        linear, angular = momentum[:3], momentum[3:]
        if desired.moving:
            mass = self.robot.mass
            linear = linear - mass * desired.com_velocity
            angular = angular - self._locked_inertia.inertia @ desired.angular_velocity
        wanted[:3] = self.weight - self.K_P.dot(self._com - desired.com) - self.K_D.dot(linear)
        if desired.moving:
            wanted[:3] += mass * desired.com_acceleration
        delta, eps = relative_quaternion(desired.quaternion, q[3:7])
        spring = spring_torque(self.K_R, delta, eps)
        wanted[3:] = desired.rotation.dot(spring) - self.D.dot(angular)
        return wanted

    def _grasp_map(self) -> Array:
        """G (6, 6 k): wrenches in surface frames to their sum at the CoM in world axes."""
        for foot in self._feet:
            foot.fill(self._G, self._com)
        return self._G

    def _torques(self, wrenches: Array, G: Array) -> Array:
        """tau = -sum_i J_iq_bar^T w_i, with J_iq_bar the joint columns of J_i A_Q^-1 (25)."""
        total = G.dot(wrenches.ravel())
        acceleration = np.empty(6)
        acceleration[:3] = total[:3] / self.robot.mass
        acceleration[3:] = dposv(self._locked_inertia.inertia, total[3:])[1]
        torques = acceleration.dot(self._A_q)
        for foot, wrench in zip(self._feet, wrenches, strict=True):
            torques[foot.joints] -= foot.joint_torques(self._J, wrench)
        return torques


class _Foot:
    """Where a contact is, and which joints move it."""

    def __init__(self, robot: Robot, index: int) -> None:
        sole, model = robot.soles[index], robot.model
        frame = model.frames[sole.frame_id]
        self.joint = frame.parentJoint
        X_JS = frame.placement * sole.placement
        self.R_JS, self.p_JS = X_JS.rotation.copy(), X_JS.translation.copy()
        self.columns = np.array(
            [model.joints[j].idx_v for j in model.supports[self.joint] if j > 1]
        )
        self.joints = self.columns - 6
        self.slice = slice(6 * index, 6 * index + 6)
        self.R_WS, self.p_WS = np.empty((3, 3)), np.empty(3)

    def connect(self, data: pin.Data) -> None:
        placement = data.oMi[self.joint]
        self._R_WJ, self._p_WJ = placement.rotation, placement.translation

    def fill(self, G: Array, com: Array) -> None:
        """Write this contact's columns of the grasp map."""
        np.dot(self._R_WJ, self.R_JS, out=self.R_WS)
        self.p_WS = self._R_WJ.dot(self.p_JS) + self._p_WJ
        block = G[:, self.slice]
        block[:3, :3] = self.R_WS
        block[3:, 3:] = self.R_WS
        block[3:, :3] = _cross_matrix(self.p_WS - com).dot(self.R_WS)

    def joint_torques(self, J: Array, wrench: Array) -> Array:
        """J_iq^T w_i on the joints that move this contact; J is taken at the world origin."""
        force = self.R_WS.dot(wrench[:3])
        moment = self.R_WS.dot(wrench[3:]) + _cross_matrix(self.p_WS).dot(force)
        columns = J[:, self.columns]
        return np.asarray(force.dot(columns[:3]) + moment.dot(columns[3:]))


def _cross_matrix(a: Array) -> Array:
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _distribution(law: MomentumLaw, robot: Robot) -> WrenchDistribution:
    pyramid = friction_pyramid(law.contacts.friction)
    cones = [
        wrench_cone(
            sole.half_length,
            sole.half_width,
            pyramid,
            cop_margin=law.contacts.cop_margin_m,
            min_normal_force=law.contacts.min_normal_force_N,
            max_normal_force=law.contacts.max_normal_force_N,
        )
        for sole in robot.soles
    ]
    return WrenchDistribution(
        robot.soles,
        cones,
        pyramid,
        make_solver(law.qp.solver),
        linear_weight=law.qp.linear_weight,
        angular_weight=law.qp.angular_weight,
        regularisation=law.qp.regularisation,
    )
