"""Joint torques without neglected terms: the full joint rows of Garofalo2015 (25).

The balancing law maps contact wrenches quasi-statically, tau = -sum_i J_iq_bar^T w_i.  In full, the
joint rows are

    tau = Lambda_q ddq + Gamma_q xi - sum_i J_iq_bar^T w_i,

and what is missing is the joint acceleration ddq.  The structure of (25) gives it: dh/dt follows
from the wrenches alone, so ddq is the only unknown in the acceleration of a contact,

    J_ib_bar (dh/dt - dA/dt v) + J_iq_bar ddq + dJ_i/dt v = 0,

with J_iq_bar the generalised Jacobian (33).  The joints that bear contacts solve this; all others
follow their posture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.posture_impedance import PostureImpedance
from balance.control.parts.support import Support, SupportView, supporting_joints
from balance.robots.contact_rows import held_part

Array = NDArray[np.float64]

WEAK = 0.01
"""Share of the largest singular value of J_iq_bar below which a direction fades out."""


class LedFrame(Protocol):
    """A frame that joints before it accelerate, as :class:`.limb_task.LimbTask`."""

    frame: int

    def wanted(self, here: SupportView) -> tuple[Array, Array]:
        """Rows (n, nv) and values (n,) of conditions on dv/dt."""
        ...


class InverseDynamics:
    """Accelerations and torques that produce given contact wrenches while the contacts hold.

    A joint that bears no contact accelerates as the ``posture`` asks, by
    ddq = omega^2 (s_nominal - s) - 2 zeta omega ds/dt; the others do so as far as the contacts, and
    frames that lead a limb, leave them free.
    """

    def __init__(self, support: Support, posture: PostureImpedance) -> None:
        robot, self._model, self._weight = support.robot, support.model, support.weight
        self._data = self._model.createData()
        self._robot, self._posture = robot, posture
        self.limbs: tuple[LedFrame, ...] = ()
        self._bearing = supporting_joints(robot)
        frames = [self._model.frames[surface.frame_id] for surface in robot.soles]
        self._contacts = [
            (surface, frame.parentJoint, frame.placement * surface.placement)
            for frame, surface in zip(frames, robot.soles, strict=True)
        ]
        self._still = np.zeros(self._model.nv)

    def lead_limbs(self, limbs: Sequence[LedFrame]) -> None:
        """Have joints that bear no contact accelerate frames as their tasks ask."""
        self.limbs = tuple(limbs)
        self._bearing = supporting_joints(self._robot, [limb.frame for limb in limbs])

    def torques(self, here: SupportView, wrenches: Array) -> Array:
        """Joint torques (nj,), N m, under which the contacts bear ``wrenches`` (r,).

        The joint rows of the equation of motion (1) by recursive Newton-Euler; its base rows
        balance, so these are also the joint rows of (25).
        """
        acceleration = self.acceleration(here, wrenches)
        generalised = pin.rnea(self._model, self._data, here.q, here.v, acceleration)
        return np.asarray(generalised[6:] - here.joint_torques(wrenches))

    def acceleration(self, here: SupportView, wrenches: Array) -> Array:
        """dv/dt (nv,), Pinocchio's convention.

        The momentum changes as ``wrenches`` and weight say.  Where the joints cannot hold all
        contacts at that, the contacts' accelerations are least in the sense of least squares.
        """
        q, v, bearing = here.q, here.v, self._bearing
        rate = here.G.dot(wrenches)
        rate[:3] -= self._weight
        rate -= pin.computeCentroidalMomentumTimeVariation(
            self._model, self._data, q, v, self._still
        ).vector
        J, wanted = self._rows(here)

        # dv_b/dt = A_b^-1 (dh/dt - dA/dt v - A_q ddq), the base rows of (14).
        solved = np.linalg.solve(here.A[:, :6], np.column_stack([rate, here.A_q]))
        by_momentum, by_joints = solved[:, 0], -solved[:, 1:]
        J_q_bar = J[:, 6:] + J[:, :6].dot(by_joints)

        joints = self._posture.acceleration(q[7:], v[6:])
        missing = wanted - J[:, :6].dot(by_momentum) - J_q_bar.dot(joints)
        joints[bearing] += fading_least_squares(J_q_bar[:, bearing], missing)
        return np.concatenate([by_momentum + by_joints.dot(joints), joints])

    def _rows(self, here: SupportView) -> tuple[Array, Array]:
        """Jacobian of what contacts hold, in their own axes, and limbs follow; its wanted rates.

        That of contacts is -dJ/dt v: ``_data`` must hold the links' accelerations at dv/dt = 0.
        """
        rows, wanted, data = [], [], here.data
        for surface, joint, X in self._contacts:
            J = pin.getFrameJacobian(self._model, data, joint, X, pin.LOCAL)
            drift = X.actInv(self._data.a[joint]).vector
            R_WS = data.oMi[joint].rotation @ X.rotation
            rows.append(held_part(surface, R_WS, J))
            wanted.append(-held_part(surface, R_WS, drift))
        for limb in self.limbs:
            J, target = limb.wanted(here)
            rows.append(J)
            wanted.append(target)
        return np.concatenate(rows), np.concatenate(wanted)


def fading_least_squares(matrix: Array, right: Array) -> Array:
    """The x of least norm that minimises |matrix x - right|, less its weak directions.

    A direction with singular value sigma is inverted by 1 / sigma down to sigma_0 = ``WEAK`` times
    the largest, and by sigma / sigma_0^2 below.  A straight knee, or a hand on a wall that hardly
    lets the momentum change, then asks for no large acceleration, and nothing jumps on the way.
    """
    U, sigma, Vt = np.linalg.svd(matrix, full_matrices=False)
    weakest = WEAK * sigma.max(initial=1e-9)
    return np.asarray((right.dot(U) * sigma / np.maximum(sigma, weakest) ** 2).dot(Vt))
