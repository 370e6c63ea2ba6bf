"""Holding lightly loaded contacts still: what the wrench laws neglect.

A law that only maps contact wrenches to torques leaves a leg that bears almost no load to itself:
the motion of the base then drags its foot along, because the few newtons of contact force cannot
accelerate the leg.  A damper between the contact and the world gives the leg the torques to follow.
It acts on the leg's joints alone and vanishes while the contact stands still, so neither the
equilibrium nor the wrenches of firm contacts change.

Differs: Garofalo2015 has no such term; without it the TORO-like robot slips with its unloaded foot
in every lateral push above 0.4 of the ankle limit.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import block_diag

from balance.controllers.support import Support
from balance.dynamics.checks import symmetrise

Array = NDArray[np.float64]


class ContactDamping:
    """Wrenches that bring slipping contacts to rest at a given rate.

    The damper of contact i is rate * Lambda_i, with Lambda_i = (J_i M^-1 J_i^T)^-1 the inertia that
    is felt at the contact of the free robot in its nominal posture: one rate suits a small robot
    and a large one, soles and hands.
    """

    def __init__(self, support: Support, rate: float) -> None:
        self._support = support
        self._dampers = -rate * block_diag(*_apparent_inertias(support))

    def wrenches(self, v: Array) -> Array:
        """Wrenches (6 k,) of the dampers on the contacts, in the contacts' frames, at ``v``."""
        return self._dampers.dot(self._support.J_c.dot(v))


def _apparent_inertias(support: Support) -> list[Array]:
    """Lambda_i of every contact (6, 6), in its own frame, in the nominal posture."""
    robot, model = support.robot, support.model
    data = model.createData()
    M = symmetrise(pin.crba(model, data, robot.q_nominal))
    pin.computeJointJacobians(model, data, robot.q_nominal)
    inertias = []
    for surface in robot.soles:
        frame = model.frames[surface.frame_id]
        J = pin.getFrameJacobian(
            model, data, frame.parentJoint, frame.placement * surface.placement, pin.LOCAL
        )
        inertias.append(np.linalg.inv(J @ np.linalg.solve(M, J.T)))
    return inertias
