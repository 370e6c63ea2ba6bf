"""The robot on its contacts, as every law sees it: evaluated once per control step.

Holds views into Pinocchio's memory, which is overwritten in place, so that a step reads CoM,
momentum, centroidal momentum matrix and Jacobians without copying them.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import block_diag

from balance.robots import Robot
from balance.robots.contact_rows import ContactRows
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]


class Support:
    """CoM, momentum, contact Jacobian and grasp map of a robot at the current state.

    ``com`` (3,) m, ``momentum`` (6,) kg m/s and kg m^2/s about the CoM, ``A`` (6, nv) centroidal
    momentum matrix, ``R_WB`` (3, 3) orientation of the base, ``G`` (6, r) the map of what the
    contacts transmit, in their own axes, to its sum at the CoM, all in world axes; ``J_c`` (r, nv)
    the Jacobian of what the contacts hold, in their own axes; ``rows`` says which r components of
    wrenches and velocities those are.  ``A_q`` and ``J_q`` are the joints' columns.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot, self.model, self.data = robot, robot.model, robot.model.createData()
        model, data, k = self.model, self.data, len(robot.soles)
        self.rows = ContactRows(robot.soles)
        self.mass = robot.mass
        self.weight = -robot.mass * np.array(model.gravity.linear)
        # Views of Pinocchio's memory.
        self.A, self._J, self.com, self.momentum = data.Ag, data.J, data.com[0], data.hg.vector
        self.A_q, self.R_WB = self.A[:, 6:], data.oMi[1].rotation
        self._locked = data.Ig
        # Maps of wrenches: from the contacts to their joints, which is constant, from there to the
        # world's origin, both together, and from the origin to the CoM.
        frames = [model.frames[surface.frame_id] for surface in robot.soles]
        joints_to_origin, r = np.zeros((6, 6 * k)), self.rows.count
        self._joints_to_origin, self._to_com = joints_to_origin, np.eye(6)
        self._minus_lever = self._to_com[3:, :3].T  # a cross matrix is minus its transpose
        to_joints = []
        self._contact_joints: list[tuple[pin.SE3, Array]] = []
        self._turning: list[tuple[pin.SE3, pin.SE3, ContactSurface, Array]] = []
        for frame, surface, columns in zip(
            frames, robot.soles, np.split(joints_to_origin, k, axis=1), strict=True
        ):
            X_WJ, X_JS = data.oMi[frame.parentJoint], frame.placement * surface.placement
            if surface.has_area:
                to_joints.append(X_JS.toDualActionMatrix())
                self._contact_joints.append((X_WJ, columns))
            else:  # its axes do not turn with the joint
                to_joints.append(np.eye(6)[:, surface.held])
                self._turning.append((X_WJ, X_JS, surface, columns))
        self._to_joints = block_diag(*to_joints)
        self._at_origin, self.G, self.J_c = (
            np.zeros((6, r)),
            np.zeros((6, r)),
            np.zeros((r, model.nv)),
        )
        self.J_q = self.J_c[:, 6:]
        moved = [_moved_by(model, frame.parentJoint) for frame in frames]
        self._moves = np.repeat(moved, [len(surface.held) for surface in robot.soles], axis=0)
        """One where a coordinate moves a contact, zero elsewhere (r, nv)."""
        self.moving = np.flatnonzero(self._moves.any(axis=0))
        """Indices of the coordinates, base first, that move some contact."""
        self.update(robot.q_nominal, np.zeros(model.nv))

    def update(self, q: Array, v: Array) -> None:
        """Evaluate everything at configuration ``q`` and velocity ``v``."""
        pin.ccrba(self.model, self.data, q, v)
        for X_WJ, columns in self._contact_joints:
            columns[:] = X_WJ.toDualActionMatrix()
        for X_WJ, X_JS, surface, columns in self._turning:
            X_WS = X_WJ * X_JS
            X_WC = pin.SE3(surface.axes(X_WS.rotation), X_WS.translation)
            columns[:] = X_WC.toDualActionMatrix()
        np.dot(self._joints_to_origin, self._to_joints, out=self._at_origin)
        self._minus_lever[:] = pin.skew(self.com)
        np.dot(self._to_com, self._at_origin, out=self.G)
        # Pinocchio's joint Jacobian is taken at the world's origin.
        np.dot(self._at_origin.T, self._J, out=self.J_c)
        self.J_c *= self._moves

    @property
    def locked_inertia(self) -> Array:
        """Rotational inertia about the CoM with all joints locked (3, 3), kg m^2."""
        return self._locked.inertia

    def joint_torques(self, wrenches: Array) -> Array:
        """sum_i J_iq^T w_i (nj,): torques that balance contact wrenches (r,), the base held."""
        return wrenches.dot(self.J_q)


def _moved_by(model: pin.Model, joint: int) -> Array:
    """One for each coordinate (nv,) that moves ``joint``, zero for the others."""
    moved = np.zeros(model.nv)
    for index in list(model.supports[joint])[1:]:
        first = model.joints[index].idx_v
        moved[first : first + model.joints[index].nv] = 1.0
    return moved


def supporting_joints(robot: Robot) -> NDArray[np.intp]:
    """Indices, among the actuated joints, of those between the base and a contact."""
    found: set[int] = set()
    for surface in robot.soles:
        joint = robot.model.frames[surface.frame_id].parentJoint
        found.update(j for j in robot.model.supports[joint] if j > 1)
    return np.array(sorted(found), dtype=np.intp) - 2
