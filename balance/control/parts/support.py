"""The robot on its contacts, as every law sees it: evaluated once per control step.

A law asks ``here = support.at(q, v)`` and reads ``here.com``, ``here.G`` and so on: what depends on
the state is had from the answer alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import block_diag

from balance.dynamics.compiled import COMPILED, compiled
from balance.dynamics.linear_algebra import dot_into
from balance.dynamics.placements import joint_placements
from balance.dynamics.placements import moved_by as moved_by
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
    contacts hold, in their own axes.  ``A_q`` are the joints' columns.

    It is a view: its arrays cannot be written, and show the state of the last call of
    :meth:`Support.at`, which overwrites them in place.  Copy what shall outlive that.
    """

    __slots__ = (
        "A",
        "A_q",
        "A_q_T",
        "G",
        "J_c",
        "R_WB",
        "com",
        "data",
        "locked",
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
        self.R_WB, self.locked = read_only(data.oMi[1].rotation), data.Ig
        self.A_q, self.A_q_T = self.A[:, 6:], self.A.T[6:]

    @property
    def locked_inertia(self) -> Array:
        """Rotational inertia I_l about the CoM with all joints locked (3, 3), kg m^2."""
        return self.locked.inertia

    def joint_torques(self, wrenches: Array) -> Array:
        """sum_i J_iq^T w_i (nj,): torques that balance contact wrenches (r,), the base held."""
        return wrenches.dot(self.J_c)[6:]


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
        self._placements = joint_placements(data)
        to_joints, joints = [], []
        self._contact_joints: list[tuple[Callable[[], Array], Array]] = []
        self._turning: list[tuple[pin.SE3, pin.SE3, ContactSurface, Array]] = []
        for number, (frame, surface, columns) in enumerate(
            zip(frames, robot.soles, np.split(joints_to_origin, k, axis=1), strict=True)
        ):
            X_WJ, X_JS = data.oMi[frame.parentJoint], frame.placement * surface.placement
            if surface.has_area:
                to_joints.append(X_JS.toDualActionMatrix())
                self._contact_joints.append((X_WJ.toDualActionMatrix, columns))
                joints.append((frame.parentJoint, number))
            else:  # its axes do not turn with the joint
                to_joints.append(np.eye(6)[:, surface.held])
                self._turning.append((X_WJ, X_JS, surface, columns))
        self._to_joints = block_diag(*to_joints)
        self._firm = np.array(joints, dtype=np.intp).reshape(-1, 2)
        """Joint and number of each contact whose axes turn with its joint."""
        self._at_origin, self._G = np.zeros((6, r)), np.zeros((6, r))
        self._J, self._J_c = data.J, np.zeros((r, model.nv))
        moved = [moved_by(model, frame.parentJoint) for frame in frames]
        self._moves = np.repeat(moved, [len(surface.held) for surface in robot.soles], axis=0)
        """One where a coordinate moves a contact, zero elsewhere (r, nv)."""
        self.moving = np.flatnonzero(self._moves.any(axis=0))
        """Indices of the coordinates, base first, that move some contact."""
        self._view = SupportView(self)

    def at(self, q: Array, v: Array) -> SupportView:
        """Everything at configuration ``q`` and velocity ``v``."""
        here = self._view
        here.q, here.v = q, v
        pin.ccrba(self.model, self._data, q, v)
        self._carry_wrenches(here)
        return here

    def _carry_wrenches(self, here: SupportView) -> None:
        """Write how wrenches of the contacts act at the world's origin, the CoM and the joints."""
        maps = (
            self._joints_to_origin, self._to_joints, here.com, self._J, self._moves,
            self._to_com, self._at_origin, self._G, self._J_c,
        )  # fmt: skip
        if COMPILED and not self._turning:
            write_firm_maps(self._placements, self._firm, *maps)
            return
        for force_map, columns in self._contact_joints:
            columns[...] = force_map()
        for X_WJ, X_JS, surface, columns in self._turning:
            X_WS = X_WJ * X_JS
            X_WC = pin.SE3(surface.axes(X_WS.rotation), X_WS.translation)
            columns[:] = X_WC.toDualActionMatrix()
        write_contact_maps(*maps)


@compiled
def write_force_maps(placements: Array, contacts: NDArray[np.intp], maps: Array) -> None:
    """[R 0; [p]x R  R] of the joint of each contact (joint, number), side by side in ``maps``.

    That is ``toDualActionMatrix`` of Pinocchio, of many joints in one call.
    """
    for joint, number in contacts:
        first = 6 * number
        x, y, z = placements[joint, 3, 0], placements[joint, 3, 1], placements[joint, 3, 2]
        for j in range(3):
            a, b, c = placements[joint, j, 0], placements[joint, j, 1], placements[joint, j, 2]
            maps[0, first + j] = maps[3, first + 3 + j] = a
            maps[1, first + j] = maps[4, first + 3 + j] = b
            maps[2, first + j] = maps[5, first + 3 + j] = c
            maps[3, first + j] = y * c - z * b
            maps[4, first + j] = z * a - x * c
            maps[5, first + j] = x * b - y * a


@compiled
def write_contact_maps(
    joints_to_origin: Array,
    to_joints: Array,
    com: Array,
    J: Array,
    moves: Array,
    to_com: Array,
    at_origin: Array,
    G: Array,
    J_c: Array,
) -> None:
    """Fill ``to_com``, ``at_origin``, ``G`` and ``J_c``: how wrenches of contacts act where.

    Pinocchio's joint Jacobian ``J`` is taken at the world's origin.
    """
    dot_into(joints_to_origin, to_joints, at_origin)
    x, y, z = com[0], com[1], com[2]
    to_com[3, 1], to_com[3, 2], to_com[4, 2] = z, -y, x
    to_com[4, 0], to_com[5, 0], to_com[5, 1] = -z, y, -x
    dot_into(to_com, at_origin, G)
    dot_into(at_origin.T, J, J_c)
    J_c *= moves


@compiled
def write_firm_maps(
    placements: Array,
    contacts: NDArray[np.intp],
    joints_to_origin: Array,
    to_joints: Array,
    com: Array,
    J: Array,
    moves: Array,
    to_com: Array,
    at_origin: Array,
    G: Array,
    J_c: Array,
) -> None:
    """Both of these, where the axes of all contacts turn with their joints."""
    write_force_maps(placements, contacts, joints_to_origin)
    write_contact_maps(joints_to_origin, to_joints, com, J, moves, to_com, at_origin, G, J_c)


def read_only(array: Array) -> Array:
    """The same memory, which whoever has this array cannot write to."""
    view = array.view()
    view.flags.writeable = False
    return view


def supporting_joints(robot: Robot, frames: Iterable[int] = ()) -> NDArray[np.intp]:
    """Indices, among the actuated joints, of those between the base and a contact, or a frame."""
    found = set(contact_joints(robot, robot.soles).tolist())
    for frame in frames:
        joint = robot.model.frames[frame].parentJoint
        found.update(j - 2 for j in robot.model.supports[joint] if j > 1)
    return np.array(sorted(found), dtype=np.intp)
