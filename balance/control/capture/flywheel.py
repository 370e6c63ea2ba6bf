"""The body as a flywheel: angular momentum from rotations of the base and of the free joints.

With the contacts at rest and the CoM where it is, the angular momentum about the CoM is

    l = B ddelta/dt,      delta = (theta, s_f - s_f,nominal),

theta the base's rotation vector in the axes of its desired orientation and s_f the joints that bear
no contact; the joints that do follow from the contacts.  B is taken in the nominal posture.
Angular momentum has no integral (Saccon2017): lambda = B delta is its integral to first order, the
excursion that is used up.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.capture.reach import Reach, base_ranges, joint_swings
from balance.control.parts.setpoints import Desired
from balance.control.parts.support import supporting_joints
from balance.control.parts.whole_body import BodyView
from balance.robots import Robot

Array = NDArray[np.float64]

_YAW_RANGE = 0.0
_PASSES = 4  # each one lets at least one more coordinate reach the end of its range
_SOFTENING = 1e-9  # kg^2 m^4, keeps the allocation solvable when all but two coordinates are spent


class Flywheel:
    """``B`` (3, n) kg m^2 and the coordinates delta (n,) of the current state.

    ``free`` are the indices of the joints in delta; ``max_lean`` (rad) is how far the base may lean
    sideways, forwards and backwards, ``joint_share`` the share of their range that joints may use.
    """

    def __init__(self, robot: Robot, standing: BodyView, joint_share: float) -> None:
        """``standing`` is ``robot`` in its nominal posture."""
        nv = robot.model.nv
        bearing = supporting_joints(robot)
        self.free = np.setdiff1d(np.arange(nv - 6), bearing)
        self.B, self.motion, self.shift = momentum_map(standing, bearing, self.free)
        self.C = standing.A[3:].dot(self.shift)
        """Angular momentum per velocity of the CoM, base and free joints held (3, 3), kg m."""
        self.inertia = np.abs(np.diag(standing.R_WB.T.dot(self.B[:, :3])))
        """Angular momentum per angular velocity of the base, all free joints held (3,)."""
        self._nominal = robot.q_nominal[7:][self.free].copy()
        self.reach = Reach(robot, self.free)
        idle = _carries_a_foot(robot)[self.free]
        base, joints = base_ranges(self.reach), joint_swings(self.reach, idle)
        self._up = np.concatenate([base[0], joint_share * joints[0]])
        self._down = np.concatenate([base[1], joint_share * joints[1]])

    def state(self, body: BodyView, desired: Desired) -> tuple[Array, Array]:
        """delta (n,) rad and its rate, relative to the desired orientation."""
        R_DB = desired.rotation.T.dot(body.R_WB)
        theta = pin.log3(R_DB)
        omega = R_DB.dot(body.v[3:6]) - desired.rotation.T.dot(desired.angular_velocity)
        joints, rates = body.q[7:][self.free], body.v[6:][self.free]
        return np.concatenate([theta, joints - self._nominal]), np.concatenate([omega, rates])

    def shares(self, excursion: Array) -> tuple[Array, Array]:
        """The share (n, 2) of each coordinate in a level excursion, and the coordinates for it."""
        B = self.B
        reach = np.where(B[:2].T.dot(excursion) >= 0.0, self._up, self._down)
        weighted = B * reach**2
        gram = weighted.dot(B.T) + _SOFTENING * np.eye(3)
        share = np.linalg.solve(gram, weighted).T[:, :2]
        return share, np.clip(share.dot(excursion), -self._down, self._up)

    def most(self, axis: Array) -> float:
        """Largest excursion along ``axis`` (2,) in the shares."""
        share, _ = self.shares(axis)
        moved = share.dot(axis)
        reach = np.where(moved >= 0.0, self._up, self._down)
        used = np.abs(moved) > 1e-9
        farthest = float(np.min(reach[used] / np.abs(moved[used])))
        return self.reach.along(moved, farthest)


def momentum_map(body: BodyView, bearing: NDArray[np.intp], free: NDArray[np.intp]) -> tuple[Array, Array, Array]:
    """B at the state of ``body``, from the conditions on contacts, CoM and base as linear rows."""
    nv = body.model.nv
    turning = np.zeros((3, nv))
    turning[:, 3:6] = np.eye(3)
    conditions = np.concatenate([body.J_c, body.A[:3], turning])
    following = np.concatenate([np.arange(6), 6 + bearing])
    inverse = np.linalg.pinv(conditions[:, following])
    motion = np.zeros((nv, 3 + len(free)))
    motion[6 + free, np.arange(3, 3 + len(free))] = 1.0
    wanted = np.zeros((len(conditions), 3 + len(free)))
    wanted[-3:, :3] = np.eye(3)
    motion[following] = inverse.dot(wanted - conditions.dot(motion))
    moved = np.zeros((len(conditions), 3))
    moved[len(body.J_c) : len(body.J_c) + 3] = body.mass * np.eye(3)
    shift = np.zeros((nv, 3))
    shift[following] = inverse.dot(moved)
    return np.asarray(body.A[3:].dot(motion)), motion, shift


def _carries_a_foot(robot: Robot) -> NDArray[np.bool_]:
    """Which joints (nj,) lie between the base and a foot: a lifted leg is no arm to swing."""
    carries = np.zeros(robot.model.nv - 6, dtype=bool)
    for surface in robot.surfaces:
        if surface.is_foot:
            joint = robot.model.frames[surface.frame_id].parentJoint
            chain = [j - 2 for j in robot.model.supports[joint] if j > 1]
            carries[chain] = True
    return carries
