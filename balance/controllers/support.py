"""The robot on its contacts, as every law sees it: evaluated once per control step.

Holds views into Pinocchio's memory, which is overwritten in place, so that a step reads CoM,
momentum, centroidal momentum matrix and Jacobians without copying them.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.contacts import ContactSurface
from balance.robots import Robot

Array = NDArray[np.float64]


class Support:
    """CoM, momentum, contact poses and grasp map of a robot at the current state.

    ``com`` (3,) m, ``momentum`` (6,) kg m/s and kg m^2/s about the CoM, ``A`` (6, nv) centroidal
    momentum matrix, ``J`` (6, nv) joint Jacobian at the world origin, ``G`` (6, 6 k) the map of
    contact wrenches in surface frames to their sum at the CoM; world axes.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot, self.model, self.data = robot, robot.model, robot.model.createData()
        self.mass = robot.mass
        self.weight = -robot.mass * np.array(self.model.gravity.linear)
        self.contacts = [
            ContactState(robot.model, surface, index) for index, surface in enumerate(robot.soles)
        ]
        pin.ccrba(self.model, self.data, robot.q_nominal, np.zeros(self.model.nv))
        self.A, self.J, self.com = self.data.Ag, self.data.J, self.data.com[0]
        self.A_q = self.A[:, 6:]
        self._momentum, self._locked = self.data.hg, self.data.Ig
        for contact in self.contacts:
            contact.connect(self.data)
        self.G = np.zeros((6, 6 * len(self.contacts)))
        self.update(robot.q_nominal, np.zeros(self.model.nv))

    def update(self, q: Array, v: Array) -> None:
        """Evaluate everything at configuration ``q`` and velocity ``v``."""
        pin.ccrba(self.model, self.data, q, v)
        for contact in self.contacts:
            contact.fill(self.G, self.com)

    @property
    def momentum(self) -> Array:
        """Linear and angular momentum about the CoM (6,)."""
        return self._momentum.vector

    @property
    def locked_inertia(self) -> Array:
        """Rotational inertia about the CoM with all joints locked (3, 3), kg m^2."""
        return self._locked.inertia

    def joint_torques(self, wrenches: Array) -> Array:
        """sum_i J_iq^T w_i (nj,): torques that balance contact wrenches with the base held."""
        torques = np.zeros(self.model.nv - 6)
        for contact, wrench in zip(self.contacts, wrenches, strict=True):
            torques[contact.joints] += contact.joint_torques(self.J, wrench)
        return torques


class ContactState:
    """Pose of one contact surface, and the joints that move it."""

    def __init__(self, model: pin.Model, surface: ContactSurface, index: int) -> None:
        frame = model.frames[surface.frame_id]
        self.joint = frame.parentJoint
        X_JS = frame.placement * surface.placement
        self._R_JS, self._p_JS = X_JS.rotation.copy(), X_JS.translation.copy()
        self._columns = np.array(
            [model.joints[j].idx_v for j in model.supports[self.joint] if j > 1], dtype=np.intp
        )
        self.joints = self._columns - 6
        self._moving = np.concatenate([np.arange(6), self._columns])
        self._block = slice(6 * index, 6 * index + 6)
        self.R_WS, self.p_WS = np.empty((3, 3)), np.empty(3)

    def connect(self, data: pin.Data) -> None:
        """Take lasting views of the pose in ``data``."""
        placement = data.oMi[self.joint]
        self._R_WJ, self._p_WJ = placement.rotation, placement.translation

    def fill(self, G: Array, com: Array) -> None:
        """Update the pose and write this contact's columns of the grasp map."""
        np.dot(self._R_WJ, self._R_JS, out=self.R_WS)
        self.p_WS = self._R_WJ.dot(self._p_JS) + self._p_WJ
        block = G[:, self._block]
        block[:3, :3] = self.R_WS
        block[3:, 3:] = self.R_WS
        block[3:, :3] = cross_matrix(self.p_WS - com).dot(self.R_WS)

    def joint_torques(self, J: Array, wrench: Array) -> Array:
        """J_iq^T w_i on the joints that move this contact; J is taken at the world origin."""
        force = self.R_WS.dot(wrench[:3])
        moment = self.R_WS.dot(wrench[3:]) + cross_matrix(self.p_WS).dot(force)
        columns = J[:, self._columns]
        return np.asarray(force.dot(columns[:3]) + moment.dot(columns[3:]))

    def velocity(self, J: Array, v: Array) -> Array:
        """Linear and angular velocity (6,) of this contact in its own frame."""
        twist = J[:, self._moving].dot(v[self._moving])
        linear = twist[:3] - cross_matrix(self.p_WS).dot(twist[3:])
        return np.concatenate([linear.dot(self.R_WS), twist[3:].dot(self.R_WS)])


def cross_matrix(a: Array) -> Array:
    """(3, 3) matrix of the cross product with ``a``."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def supporting_joints(robot: Robot) -> NDArray[np.intp]:
    """Indices, among the actuated joints, of those between the base and a contact."""
    found: set[int] = set()
    for surface in robot.soles:
        joint = robot.model.frames[surface.frame_id].parentJoint
        found.update(j for j in robot.model.supports[joint] if j > 1)
    return np.array(sorted(found), dtype=np.intp) - 2
