"""Equations of motion of the whole body on its contacts, evaluated once per control step.

    M a + bias = S^T tau + J^T f,        J a + drift = 0,

with a the accelerations, tau the joint torques, f what the contacts transmit of wrenches, J the
Jacobian of what they hold (:mod:`balance.robots.contact_rows`: three rows of a point, six of a
patch) and S the selection of the actuated coordinates.

Differs: the papers have drift = dJ/dt v, which keeps a contact surface that slips or tips at its
velocity.  With drift = dJ/dt v + k J v it comes to rest at the rate k; nothing changes for contacts
at rest, and k = 0 is the papers' form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.support import Support
from balance.robots import Robot
from balance.robots.contact_rows import ContactRows, held_part

Array = NDArray[np.float64]


@dataclass(slots=True)
class MotionEquations:
    """The equations above in coordinates whose first ``base`` entries are not actuated.

    ``M`` (n, n), ``bias`` (n,), ``J`` (r, n), ``drift`` (r,); ``moving`` are the columns of J that
    are not zero.  Pinocchio's dv/dt is ``to_dv @ a + dv_bias``, or ``a`` itself if they are None.
    """

    M: Array
    bias: Array
    J: Array
    drift: Array
    moving: NDArray[np.intp]
    base: int = 6
    to_dv: Array | None = None
    dv_bias: Array | None = None


class WholeBody(Support):
    """The robot on its contacts with its mass matrix, velocity terms and contact Jacobian.

    ``M`` (nv, nv), ``bias`` (nv,) with gravity, ``J_c`` (r, nv) and ``drift`` (r,) in the contacts'
    axes, ``momentum_drift`` (6,) the part dA/dt v of dh/dt = A dv/dt + dA/dt v, world axes.
    """

    def __init__(self, robot: Robot, contact_damping: float = 0.0) -> None:
        """``contact_damping`` is the rate k, 1/s, at which a moving contact comes to rest."""
        model = robot.model
        self.contact_damping = contact_damping
        nv = model.nv
        self.q, self.v = robot.q_nominal, np.zeros(nv)
        self.M, self.bias = np.zeros((nv, nv)), np.zeros(nv)
        self.drift = np.zeros(ContactRows(robot.soles).count)
        self._force_and_moment = np.zeros((2, 3))
        self.momentum_drift = self._force_and_moment.ravel()
        # crba fills the upper triangle only; half of the diagonal comes from each side.
        self._half = np.triu(np.ones((nv, nv)), 1) + 0.5 * np.eye(nv)
        self._rest = np.zeros(nv)
        frames = [model.frames[surface.frame_id] for surface in robot.soles]
        self._attached = [
            (surface, frame.parentJoint, frame.placement * surface.placement)
            for frame, surface in zip(frames, robot.soles, strict=True)
        ]
        super().__init__(robot)

    def update(self, q: Array, v: Array) -> None:
        """Evaluate everything at configuration ``q`` and velocity ``v``."""
        model, data = self.model, self.data
        self.q, self.v = q, v
        half = self._half * pin.crba(model, data, q)
        np.add(half, half.T, out=self.M)
        self.bias = pin.nonLinearEffects(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, self._rest)
        super().update(q, v)
        self._fill_drift()
        self._fill_momentum_drift()

    def _fill_drift(self) -> None:
        for own, (surface, joint, placement) in zip(self.rows.slices, self._attached, strict=True):
            # The classical acceleration is that of the surface's points, unlike the spatial one.
            drift = pin.getFrameClassicalAcceleration(
                self.model, self.data, joint, placement, pin.LOCAL
            ).vector
            if not surface.has_area:
                R_WS = self.data.oMi[joint].rotation @ placement.rotation
                drift = held_part(surface, R_WS, drift)
            self.drift[own] = drift
        self.drift += self.contact_damping * self.J_c.dot(self.v)

    def _fill_momentum_drift(self) -> None:
        """The unactuated rows of the equation of motion, carried from the base to the CoM."""
        drift = self._force_and_moment
        np.dot(self.bias[:6].reshape(2, 3), self.R_WB.T, out=drift)
        drift[1] += pin.skew(self.q[:3] - self.com).dot(drift[0])
        drift[0] -= self.weight

    def equations(self) -> MotionEquations:
        """The equations in Pinocchio's velocity coordinates."""
        return MotionEquations(self.M, self.bias, self.J_c, self.drift, self.moving)
