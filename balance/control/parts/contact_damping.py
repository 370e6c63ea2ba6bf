"""Holding lightly loaded contacts still: what the wrench laws neglect.

A law that only maps contact wrenches to torques leaves a leg that bears almost no load to itself:
the motion of the base then drags its foot along, because the few newtons of contact force cannot
accelerate the leg.  A damper between the contact and the world gives the leg the torques to follow.
It acts on the leg's joints alone, fades as the contact takes up load, and vanishes while the
contact stands still: neither the equilibrium nor the wrenches of firm contacts change, also where
the ground itself moves or gives way.

What a damper lets slip stays slipped: push after push, the feet creep apart.  A spring beside it,
if asked for, brings an unloaded contact back along its surface.

Differs: Garofalo2015 has no such terms; without the damper the TORO-like robot slips with its
unloaded foot in every lateral push above 0.4 of the ankle limit.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import block_diag

from balance.control.parts.support import Support, SupportView
from balance.dynamics.checks import symmetrise
from balance.dynamics.compiled import compiled
from balance.robots.contact_rows import held_part
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

FIRM_SHARE = 1.0  # of an even share of the weight: a contact that bears more needs no damper
LIGHT_SHARE = 0.5  # the same for the spring, which would strain contacts that stand firmly askew
FOLLOWED = 0.5  # of the displacement of the most loaded contact, which the others go along with
ALONG = (0, 1, 5)  # of a contact's motion: both directions of its surface, and turning on it


class ContactDamping:
    """Wrenches that bring slipping contacts to rest at a given rate, and if asked for, back.

    The damper of contact i is rate * Lambda_i, with Lambda_i = (J_i M^-1 J_i^T)^-1 the inertia that
    is felt at the contact of the free robot in its nominal posture: one rate suits a small robot
    and a large one, soles and hands.  It is scaled by 1 - f_n / f_firm, but not below zero, with
    f_n the normal force that the law asks of the contact.

    The spring is ``back`` times (rate / 2)^2 Lambda_i, so that 1 is critical damping, and acts
    along the surface only.  It pulls towards the nominal place, shifted and turned by half of what
    the most loaded contact has been: the contacts find together, and as a whole back to where the
    setpoints want them.  The turning does not shift the place of others, however far they are: a
    contact that ran after a pivoting one would drive it further by its reaction.
    """

    def __init__(self, support: Support, rate: float, back: float = 0.0) -> None:
        nominal, k = _nominal_contacts(support), len(support.robot.soles)
        self._normal = support.rows.normal
        # Of each contact its part of stacked wrenches.
        self._slices = support.rows.slices
        self.dampers = block_diag(*(rate * Lambda for _, _, _, Lambda in nominal))
        """Those of all contacts (r, r)."""
        self._damps = rate > 0.0
        # Of each contact: its joint, its place there, its nominal pose, and its spring.
        self._soles, stiffness = support.robot.soles, back * (rate / 2.0) ** 2
        self._springs = [
            (joint, place, X_WC, stiffness * Lambda[:, _along(sole)])
            for sole, (joint, place, X_WC, Lambda) in zip(self._soles, nominal, strict=True)
        ]
        weight = float(np.linalg.norm(support.weight))
        self.loads, self.firm = np.zeros(self.dampers.shape), np.ones(len(self.dampers))
        """Of stacked wrenches f_n / f_firm of a contact, for each of its rows (r, r); ones (r,)."""
        for own, normal in zip(self._slices, self._normal, strict=True):
            self.loads[own, normal] = k / (FIRM_SHARE * weight)
        self._light = LIGHT_SHARE * weight / k if back and k > 1 else 0.0
        self.dampers_alone = self._damps and not self._light
        """Whether there are dampers and no springs."""

    def driven(self, here: SupportView, wrenches: Array) -> Array:
        """The wrenches (r,) that the legs are to give: what the law asks of the contacts,
        ``wrenches``, less those of dampers and springs, all in the contacts' axes.
        """
        driven = wrenches
        if self._damps:
            driven = damped(wrenches, self.loads, self.firm, self.dampers, here.J_c, here.v)
        if self._light:
            forces = wrenches[self._normal].tolist()
            if min(forces) < self._light:
                driven = driven.copy()
                self._pull_back(here, driven, forces)
        return driven

    def _pull_back(self, here: SupportView, driven: Array, forces: list[float]) -> None:
        """Add what it takes to move lightly loaded contacts along their surfaces."""
        leader = forces.index(max(forces))
        shift, turn, _ = self._displacement(here, leader)
        for i, force in enumerate(forces):
            if force < self._light and i != leader:
                own_shift, own_turn, R = self._displacement(here, i)
                away = (own_shift - FOLLOWED * shift).dot(R)
                away[2] = (own_turn - FOLLOWED * turn).dot(R[:, 2])
                spring = self._springs[i][3]
                pull = (1.0 - force / self._light) * spring.dot(away[: spring.shape[1]])
                driven[self._slices[i]] += pull

    def _displacement(self, here: SupportView, contact: int) -> tuple[Array, Array, Array]:
        """How far a contact is from its nominal place, m and rad, and its axes; world axes."""
        joint, place, nominal, _ = self._springs[contact]
        X = here.data.oMi[joint] * place
        R = self._soles[contact].axes(X.rotation)
        # sin(angle) times axis: exact enough for what slips, and bounded for what has fallen.
        turn = pin.unSkew(X.rotation @ nominal.rotation.T)
        return X.translation - nominal.translation, turn, R


@compiled
def damped(
    wrenches: Array, loads: Array, firm: Array, dampers: Array, J_c: Array, v: Array
) -> Array:
    """Wrenches (r,) and (1 - f_n / f_firm) damper_i J_i v of contacts that bear less than f_firm.

    ``loads`` (r, r) takes wrenches to f_n / f_firm, which is one (``firm``, (r,)) where a contact
    needs no damper; ``dampers`` (r, r) has those of all contacts.
    """
    lightness = firm - np.minimum(loads.dot(wrenches), firm)
    return wrenches + lightness * dampers.dot(J_c.dot(v))


def _along(sole: ContactSurface) -> list[int]:
    """Where ``ALONG`` is among what a contact holds; a point does not hold the turning."""
    return [sole.held.index(component) for component in ALONG if component in sole.held]


def _nominal_contacts(support: Support) -> list[tuple[int, pin.SE3, pin.SE3, Array]]:
    """Of every contact its joint, its place there, and, in the nominal posture, its pose in the
    world and Lambda_i, of what it holds, in its own axes.
    """
    robot, model = support.robot, support.model
    data = model.createData()
    M = symmetrise(pin.crba(model, data, robot.q_nominal))
    pin.computeJointJacobians(model, data, robot.q_nominal)
    found = []
    for surface in robot.soles:
        frame = model.frames[surface.frame_id]
        joint, place = frame.parentJoint, frame.placement * surface.placement
        X_WS = data.oMi[joint] * place
        J = pin.getFrameJacobian(model, data, joint, place, pin.LOCAL)
        J = held_part(surface, X_WS.rotation, J)
        Lambda = np.linalg.inv(J @ np.linalg.solve(M, J.T))
        found.append((joint, place, X_WS, Lambda))
    return found
