"""Contacts as kinematic constraints: their Jacobian, their drift, and what they constrain.

RobotDynamicsETH 2.10.4.  Velocities are Pinocchio's (free flyer in base axes); everything that
belongs to a contact is in world axes, taken at the contact point, linear part first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_state, frame_id
from balance.errors import InputError

RANK_TOLERANCE = 1e-9  # of a singular value, relative to the largest one


@dataclass(frozen=True, slots=True)
class Contact:
    """What holds a link to the environment: a point of it, or a whole face around that point.

    Attributes:
        frame: name of the frame that carries the contact.
        position: the contact point in that frame, metres.
        face: false for a point, which may still turn (3 constraints); true for an extended contact,
            which may not (6 constraints).
    """

    frame: str
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    face: bool = False

    @property
    def rows(self) -> int:
        """Number of constraints."""
        return 6 if self.face else 3


@dataclass(frozen=True, slots=True)
class ConstraintRank:
    """How many constraints a set of contacts imposes, and on what; RobotDynamicsETH (2.256).

    Attributes:
        rows: number of rows of J_c.
        independent: rank(J_c), the number of independent contact constraints.
        base: rank(J_c,b), the number of base constraints; with 6 the joints can move the base in
            every direction.
    """

    rows: int
    independent: int
    base: int

    @property
    def internal(self) -> int:
        """Number of constraints on the joints alone: closed loops through the ground."""
        return self.independent - self.base

    @property
    def redundant(self) -> int:
        """Number of rows that follow from others; the contact forces are unique only if zero."""
        return self.rows - self.independent

    @property
    def base_is_controllable(self) -> bool:
        """Whether motions of the joints determine the motion of the base."""
        return self.base == 6


def contact_jacobian(model: pin.Model, q: ArrayLike, contacts: Sequence[Contact]) -> Array:
    """Stacked contact Jacobian J_c (rows, nv) with J_c v = 0; RobotDynamicsETH (2.254)-(2.255)."""
    q, _ = check_state(model, q, np.zeros(model.nv))
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    blocks = [np.zeros((0, model.nv))]
    for contact in contacts:
        joint, placement = attachment(model, contact)
        J = pin.getFrameJacobian(model, data, joint, placement, pin.LOCAL_WORLD_ALIGNED)
        blocks.append(J[: contact.rows])
    return np.vstack(blocks)


def contact_drift(
    model: pin.Model, q: ArrayLike, v: ArrayLike, contacts: Sequence[Contact]
) -> Array:
    """dJ_c/dt v (rows): acceleration of the contacts when dv/dt = 0; RobotDynamicsETH (2.254)."""
    q, v = check_state(model, q, v)
    data = model.createData()
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    parts = [np.zeros(0)]
    for contact in contacts:
        joint, placement = attachment(model, contact)
        # The classical acceleration is the one of the material point, unlike the spatial one.
        drift = pin.getFrameClassicalAcceleration(
            model, data, joint, placement, pin.LOCAL_WORLD_ALIGNED
        )
        parts.append(drift.vector[: contact.rows])
    return np.concatenate(parts)


def constraint_rank(
    model: pin.Model, q: ArrayLike, contacts: Sequence[Contact], tolerance: float = RANK_TOLERANCE
) -> ConstraintRank:
    """Rank analysis of J_c = [J_c,b  J_c,j]; RobotDynamicsETH (2.256).

    A singular value below ``tolerance`` times the largest one of J_c counts as zero.
    """
    J_c = contact_jacobian(model, q, contacts)
    threshold = tolerance * float(np.linalg.norm(J_c, 2)) if len(J_c) else 0.0
    return ConstraintRank(
        rows=len(J_c),
        independent=_rank(J_c, threshold),
        base=_rank(J_c[:, :6], threshold),
    )


def _rank(J: Array, threshold: float) -> int:
    return int((np.linalg.svd(J, compute_uv=False) > threshold).sum())


def attachment(model: pin.Model, contact: Contact) -> tuple[int, pin.SE3]:
    """The joint that carries the contact, and the placement of the contact point in it."""
    carrier = model.frames[frame_id(model, contact.frame)]
    position = np.asarray(contact.position, dtype=float)
    if position.shape != (3,) or not np.isfinite(position).all():
        raise InputError(
            f"the contact on '{contact.frame}' has position {contact.position}; "
            "expected 3 finite numbers in m"
        )
    return int(carrier.parentJoint), carrier.placement * pin.SE3(np.eye(3), position)
