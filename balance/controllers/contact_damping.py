"""Holding lightly loaded contacts still: what the wrench laws neglect.

A law that only maps contact wrenches to torques leaves a leg that bears almost no load to itself:
the motion of the base then drags its foot along, because the few newtons of contact force cannot
accelerate the leg.  A damper between the contact and the world gives the leg the torques to follow.
It acts on the leg's joints alone, fades as the contact takes up load, and vanishes while the
contact stands still: neither the equilibrium nor the wrenches of firm contacts change, also where
the ground itself moves or gives way.

Differs: Garofalo2015 has no such term; without it the TORO-like robot slips with its unloaded foot
in every lateral push above 0.4 of the ankle limit.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.controllers.support import Support
from balance.dynamics.checks import symmetrise

Array = NDArray[np.float64]

FIRM_SHARE = 1.0  # of an even share of the weight: a contact that bears more needs no damper


class ContactDamping:
    """Wrenches that bring slipping contacts to rest at a given rate.

    The damper of contact i is rate * Lambda_i, with Lambda_i = (J_i M^-1 J_i^T)^-1 the inertia that
    is felt at the contact of the free robot in its nominal posture: one rate suits a small robot
    and a large one, soles and hands.  It is scaled by 1 - f_n / f_firm, but not below zero, with
    f_n the normal force that the law asks of the contact.
    """

    def __init__(self, support: Support, rate: float) -> None:
        rows = [slice(6 * i, 6 * i + 6) for i in range(len(support.robot.soles))]
        # Of each contact: its part of stacked wrenches, its Jacobian, which follows the support,
        # and its damper.
        self._contacts = [
            (own, support.J_c[own], rate * Lambda)
            for own, Lambda in zip(rows, _apparent_inertias(support), strict=True)
        ]
        weight = float(np.linalg.norm(support.weight))
        self._firm = FIRM_SHARE * weight / len(support.robot.soles)

    def driven(self, wrenches: Array, v: Array) -> Array:
        """The wrenches (6 k,) that the legs are to give: what the law asks of the contacts,
        ``wrenches``, less those of the dampers at ``v``, all in the contacts' frames.
        """
        driven, firm = wrenches.copy(), self._firm
        for (own, J, damper), force in zip(self._contacts, wrenches[2::6].tolist(), strict=True):
            if force < firm:
                driven[own] += (1.0 - force / firm) * damper.dot(J.dot(v))
        return driven


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
