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

from balance.control.parts.support import Support, SupportView, read_only
from balance.robots import Robot
from balance.robots.contact_rows import held_part

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


class BodyView(SupportView):
    """The robot on its contacts with its mass matrix, velocity terms and contact drift, a view.

    ``M`` (nv, nv), ``bias`` (nv,) with gravity, ``drift`` (r,) in the contacts' axes,
    ``momentum_drift`` (6,) the part dA/dt v of dh/dt = A dv/dt + dA/dt v, world axes.
    """

    __slots__ = ("M", "_moving", "bias", "drift", "momentum_drift")

    def __init__(self, body: WholeBody) -> None:
        super().__init__(body)
        self.M, self.bias = read_only(body._M), read_only(body._data.nle)
        self.drift = read_only(body._drift)
        self.momentum_drift = read_only(body._force_and_moment.ravel())
        self._moving = body.moving

    def equations(self) -> MotionEquations:
        """The equations in Pinocchio's velocity coordinates."""
        return MotionEquations(self.M, self.bias, self.J_c, self.drift, self._moving)


class WholeBody(Support):
    """A robot on its contacts whose :meth:`at` has the equations of motion as well."""

    def __init__(self, robot: Robot, contact_damping: float = 0.0) -> None:
        """``contact_damping`` is the rate k, 1/s, at which a moving contact comes to rest."""
        super().__init__(robot)
        self.contact_damping = contact_damping
        model, nv = robot.model, robot.model.nv
        self._M, self._drift = np.zeros((nv, nv)), np.zeros(self.rows.count)
        self._force_and_moment = np.zeros((2, 3))
        # crba fills the upper triangle only; half of the diagonal comes from each side.
        self._half = np.triu(np.ones((nv, nv)), 1) + 0.5 * np.eye(nv)
        self._rest = np.zeros(nv)
        frames = [model.frames[surface.frame_id] for surface in robot.soles]
        self.attached = [
            (surface, frame.parentJoint, frame.placement * surface.placement)
            for frame, surface in zip(frames, robot.soles, strict=True)
        ]
        self._body_view = BodyView(self)

    def at(self, q: Array, v: Array) -> BodyView:
        """Everything at configuration ``q`` and velocity ``v``."""
        model, here = self.model, self._body_view
        half = self._half * pin.crba(model, here.data, q)
        np.add(half, half.T, out=self._M)
        pin.nonLinearEffects(model, here.data, q, v)
        pin.forwardKinematics(model, here.data, q, v, self._rest)
        self._evaluate(here, q, v)
        self._fill_drift(here)
        self._fill_momentum_drift(here)
        return here

    def _fill_drift(self, here: BodyView) -> None:
        for own, (surface, joint, placement) in zip(self.rows.slices, self.attached, strict=True):
            # The classical acceleration is that of the surface's points, unlike the spatial one.
            drift = pin.getFrameClassicalAcceleration(
                self.model, here.data, joint, placement, pin.LOCAL
            ).vector
            if not surface.has_area:
                R_WS = here.data.oMi[joint].rotation @ placement.rotation
                drift = held_part(surface, R_WS, drift)
            self._drift[own] = drift
        self._drift += self.contact_damping * here.J_c.dot(here.v)

    def _fill_momentum_drift(self, here: BodyView) -> None:
        """The unactuated rows of the equation of motion, carried from the base to the CoM."""
        drift = self._force_and_moment
        np.dot(here.bias[:6].reshape(2, 3), here.R_WB.T, out=drift)
        drift[1] += pin.skew(here.q[:3] - here.com).dot(drift[0])
        drift[0] -= self.weight
