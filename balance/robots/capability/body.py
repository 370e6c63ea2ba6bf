"""A robot on its contacts at rest: mass matrix, gravity, contact Jacobian and momentum map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.contact_rows import held_part
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RestingBody:
    """A robot at rest at ``q``: ``M`` (nv, nv), ``gravity`` (nv,), ``J`` (r, nv) of the contacts.

    ``A`` (6, nv) maps velocities to linear and angular momentum about the CoM, world axes;
    ``data`` has all placements and joint Jacobians up to date.
    """

    q: Array
    M: Array
    gravity: Array
    J: Array
    A: Array
    com: Array
    data: pin.Data


def at_rest(robot: Robot, q: Array, contacts: Sequence[ContactSurface]) -> RestingBody:
    """``robot`` at ``q`` on some of its surfaces."""
    model, data = robot.model, robot.model.createData()
    pin.computeAllTerms(model, data, q, np.zeros(model.nv))
    pin.updateFramePlacements(model, data)
    A = np.array(pin.computeCentroidalMap(model, data, q))
    M = np.triu(data.M) + np.triu(data.M, 1).T
    rows = []
    for contact in contacts:
        J_L = pin.getFrameJacobian(model, data, contact.frame_id, pin.ReferenceFrame.LOCAL)
        J_S = contact.placement.toActionMatrixInverse() @ J_L
        rows.append(held_part(contact, contact.pose(data).rotation, J_S))
    J = np.vstack(rows) if rows else np.empty((0, model.nv))
    return RestingBody(q, M, np.array(data.nle), J, A, np.array(data.com[0]), data)


def contact_joints(robot: Robot, contacts: Sequence[ContactSurface]) -> NDArray[np.intp]:
    """Indices, among the actuated joints, of those between the base and a contact."""
    found: set[int] = set()
    for contact in contacts:
        joint = robot.model.frames[contact.frame_id].parentJoint
        found.update(j for j in robot.model.supports[joint] if j > 1)
    return np.array(sorted(found), dtype=np.intp) - 2


def level_directions(azimuths: Array) -> Array:
    """Unit vectors (n, 2) of azimuths (n,) in rad."""
    return np.stack([np.cos(azimuths), np.sin(azimuths)], axis=1)
