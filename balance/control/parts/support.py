"""The robot on its contacts, as every law sees it: evaluated once per control step.

A law asks ``here = support.at(q, v)`` and reads ``here.com``, ``here.G`` and so on: what depends on
the state is had from the answer alone.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import block_diag

from balance.robots import Robot
from balance.robots.capability.body import contact_joints
from balance.robots.contact_rows import ContactRows
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]


class SupportView:
    """CoM, momentum, contact Jacobian and grasp map of a robot at one state.

    ``q`` and ``v`` are that state, ``com`` (3,) m, ``momentum`` h = (p, l) (6,) kg m/s and
    kg m^2/s about the CoM, ``A`` (6, nv) the centroidal momentum matrix, h = A v, ``R_WB`` (3, 3)
    the orientation of the base, ``G`` (6, r) the map of what the contacts transmit, in their own
    axes, to its sum at the CoM, all in world axes; ``J_c`` (r, nv) the Jacobian of what the
    contacts hold, in their own axes.  ``A_q`` and ``J_q`` are the joints' columns.

    It is a view: its arrays cannot be written, and show the state of the last call of
    :meth:`Support.at`, which overwrites them in place.  Copy what shall outlive that.
    """

    __slots__ = (
        "A",
        "A_q",
        "G",
        "J_c",
        "J_q",
        "R_WB",
        "_locked",
        "com",
        "data",
        "mass",
        "model",
        "momentum",
        "q",
        "v",
    )

    def __init__(self, support: Support) -> None:
        data = support._data
        self.model, self.data, self.mass = support.model, data, support.mass
        self.q, self.v = support.robot.q_nominal, np.zeros(support.model.nv)
        self.G, self.J_c = read_only(support._G), read_only(support._J_c)
        # Pinocchio's memory, without a copy.
        self.A, self.com, self.momentum = map(read_only, (data.Ag, data.com[0], data.hg.vector))
        self.R_WB, self._locked = read_only(data.oMi[1].rotation), data.Ig
        self.A_q, self.J_q = self.A[:, 6:], self.J_c[:, 6:]

    @property
    def locked_inertia(self) -> Array:
        """Rotational inertia I_l about the CoM with all joints locked (3, 3), kg m^2."""
        return self._locked.inertia

    def joint_torques(self, wrenches: Array) -> Array:
        """sum_i J_iq^T w_i (nj,): torques that balance contact wrenches (r,), the base held."""
        return wrenches.dot(self.J_q)


class Support:
    """A robot on its contacts: what no state changes, and with :meth:`at` what it does.

    ``rows`` says which r components of wrenches and velocities the contacts hold; ``weight`` (3,)
    is the force that bears the robot, N.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot, self.model, self.mass = robot, robot.model, robot.mass
        self.rows = ContactRows(robot.soles)
        self.weight = -robot.mass * np.array(robot.model.gravity.linear)
        self._data = data = robot.model.createData()
        model, k, r = robot.model, len(robot.soles), self.rows.count
        # Maps of wrenches: from the contacts to their joints, which is constant, from there to the
        # world's origin, both together, and from the origin to the CoM.
        frames = [model.frames[surface.frame_id] for surface in robot.soles]
        joints_to_origin = np.zeros((6, 6 * k))
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
        self._at_origin, self._G = np.zeros((6, r)), np.zeros((6, r))
        self._J, self._J_c = data.J, np.zeros((r, model.nv))
        moved = [_moved_by(model, frame.parentJoint) for frame in frames]
        self._moves = np.repeat(moved, [len(surface.held) for surface in robot.soles], axis=0)
        """One where a coordinate moves a contact, zero elsewhere (r, nv)."""
        self.moving = np.flatnonzero(self._moves.any(axis=0))
        """Indices of the coordinates, base first, that move some contact."""
        self._view = SupportView(self)

    def at(self, q: Array, v: Array) -> SupportView:
        """Everything at configuration ``q`` and velocity ``v``."""
        self._evaluate(self._view, q, v)
        return self._view

    def _evaluate(self, here: SupportView, q: Array, v: Array) -> None:
        here.q, here.v = q, v
        pin.ccrba(self.model, here.data, q, v)
        for X_WJ, columns in self._contact_joints:
            columns[:] = X_WJ.toDualActionMatrix()
        for X_WJ, X_JS, surface, columns in self._turning:
            X_WS = X_WJ * X_JS
            X_WC = pin.SE3(surface.axes(X_WS.rotation), X_WS.translation)
            columns[:] = X_WC.toDualActionMatrix()
        np.dot(self._joints_to_origin, self._to_joints, out=self._at_origin)
        self._minus_lever[:] = pin.skew(here.com)
        np.dot(self._to_com, self._at_origin, out=self._G)
        # Pinocchio's joint Jacobian is taken at the world's origin.
        np.dot(self._at_origin.T, self._J, out=self._J_c)
        self._J_c *= self._moves


def read_only(array: Array) -> Array:
    """The same memory, which whoever has this array cannot write to."""
    view = array.view()
    view.flags.writeable = False
    return view


def _moved_by(model: pin.Model, joint: int) -> Array:
    """One for each coordinate (nv,) that moves ``joint``, zero for the others."""
    moved = np.zeros(model.nv)
    for index in list(model.supports[joint])[1:]:
        first = model.joints[index].idx_v
        moved[first : first + model.joints[index].nv] = 1.0
    return moved


def supporting_joints(robot: Robot, frames: Iterable[int] = ()) -> NDArray[np.intp]:
    """Indices, among the actuated joints, of those between the base and a contact, or a frame."""
    found = set(contact_joints(robot, robot.soles).tolist())
    for frame in frames:
        joint = robot.model.frames[frame].parentJoint
        found.update(j - 2 for j in robot.model.supports[joint] if j > 1)
    return np.array(sorted(found), dtype=np.intp)
