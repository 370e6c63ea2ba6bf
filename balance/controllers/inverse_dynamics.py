"""Joint torques without neglected terms: the full joint rows of Garofalo2015 (25).

The balancing law maps contact wrenches quasi-statically, tau = -sum_i J_iq_bar^T w_i.  Complete, the
joint rows are

    tau = Lambda_q ddq + Gamma_q xi - sum_i J_iq_bar^T w_i,

and what is missing is the joint acceleration ddq.  The structure of (25) gives it: the momentum rate
dh/dt follows from the wrenches alone, so the acceleration of a contact depends on ddq as its only
unknown,

    J_ib_bar (dh/dt - dA/dt v) + J_iq_bar ddq + dJ_i/dt v = 0,

with J_iq_bar the generalised Jacobian (33).  The joints that bear contacts solve this; all others
follow their posture.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import lstsq

from balance.controllers.support import Support, supporting_joints

Array = NDArray[np.float64]

RANK_TOLERANCE = 1e-5
"""Singular values of J_iq_bar below this share of the largest count as zero: a straight knee."""


class InverseDynamics:
    """Accelerations and torques that produce given contact wrenches while the contacts hold.

    A joint that bears no contact accelerates by ddq = omega^2 (s_nominal - s) - 2 zeta omega ds/dt;
    so do the others as far as the contacts leave them free.
    """

    def __init__(self, support: Support, frequency_hz: float, damping_ratio: float) -> None:
        self.support = support
        robot, self._model = support.robot, support.model
        self._data = self._model.createData()
        self._bearing = supporting_joints(robot)
        self._stiffness = (2.0 * np.pi * frequency_hz) ** 2
        self._damping = 4.0 * np.pi * frequency_hz * damping_ratio
        self._nominal = robot.q_nominal[7:].copy()
        frames = [(self._model.frames[s.frame_id], s.placement) for s in robot.soles]
        self._contacts = [(frame.parentJoint, frame.placement * X) for frame, X in frames]
        self._still = np.zeros(self._model.nv)

    def torques(self, q: Array, v: Array, wrenches: Array) -> Array:
        """Joint torques (nj,), N m, under which the contacts bear ``wrenches`` (k, 6).

        The joint rows of the equation of motion (1) by recursive Newton-Euler; its base rows
        balance, so these are also the joint rows of (25).
        """
        acceleration = self.acceleration(q, v, wrenches)
        generalised = pin.rnea(self._model, self._data, q, v, acceleration)
        return np.asarray(generalised[6:] - self.support.joint_torques(wrenches))

    def acceleration(self, q: Array, v: Array, wrenches: Array) -> Array:
        """dv/dt (nv,), Pinocchio's convention; ``support`` must be up to date for ``q`` and ``v``.

        The momentum changes as ``wrenches`` and weight say.  If there are more contact constraints
        than joints to meet them, their accelerations are least in the sense of least squares.
        """
        support, model, data = self.support, self._model, self._data
        rate = support.G.dot(wrenches.ravel())
        rate[:3] -= support.weight
        drift_rate = pin.computeCentroidalMomentumTimeVariation(model, data, q, v, self._still)
        J, drift = self._contact_rows()

        # dv_b/dt = A_b^-1 (dh/dt - dA/dt v - A_q ddq), the base rows of (13) and (14).
        columns = np.column_stack([rate - drift_rate.vector, support.A_q])
        base = np.linalg.solve(support.A[:, :6], columns)
        by_momentum, by_joints = base[:, 0], -base[:, 1:]
        J_q_bar = J[:, 6:] + J[:, :6].dot(by_joints)

        joints = self._stiffness * (self._nominal - q[7:]) - self._damping * v[6:]
        missing = -drift - J[:, :6].dot(by_momentum) - J_q_bar.dot(joints)
        bearing = self._bearing
        joints[bearing] += lstsq(
            J_q_bar[:, bearing],
            missing,
            cond=RANK_TOLERANCE,
            lapack_driver="gelsy",
            check_finite=False,
        )[0]
        return np.concatenate([by_momentum + by_joints.dot(joints), joints])

    def _contact_rows(self) -> tuple[Array, Array]:
        """Jacobian (6 k, nv) of the contacts in their own frames, and dJ/dt v (6 k,)."""
        model, data = self._model, self._data
        J = [
            pin.getFrameJacobian(model, self.support.data, joint, X, pin.LOCAL)
            for joint, X in self._contacts
        ]
        # With dv/dt = 0 a link's acceleration is its drift.
        drift = [X.actInv(data.a[joint]).vector for joint, X in self._contacts]
        return np.concatenate(J), np.concatenate(drift)
