"""The velocity of anything that can serve as a base: a link, a compound frame, or the average.

Traversaro2016 (10), (28), (33)-(35), (38): a 6D velocity in mixed representation (velocity of the
origin, angular velocity, inertial axes) as a Jacobian times Pinocchio's v.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array, check_floating_base, frame_id
from balance.dynamics.momentum import locked_inertia
from balance.dynamics.representations import velocity_map, velocity_map_rate
from balance.errors import FrameError, InputError

MODEL_BASE = "B"
"""Stands for the base that the model was built with, the frame of its free flyer."""
COM = "G"
"""Stands for the CoM as the origin of a compound frame."""
CENTROIDAL = "centroidal"
"""Stands for the average 6D velocity."""

_COMPOUND = re.compile(r"(?P<origin>.+)\[(?P<axes>.+)\]")
_MIXED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True, slots=True)
class BaseVelocity:
    """A 6D velocity J v, the rate of its Jacobian, and the pose that it is the velocity of."""

    J: Array
    """(6, nv) Jacobian with respect to Pinocchio's v."""
    dJ: Array
    """(6, nv) its time derivative along v."""
    origin: Array
    """(3,) point whose velocity the linear part is, in the inertial frame, m."""
    rotation: Array | None
    """(3, 3) axes whose angular velocity the angular part is; None for the average velocity."""


def base_velocity(
    model: pin.Model, data: pin.Data, q: Array, v: Array, frame: str, representation: str = "mixed"
) -> BaseVelocity:
    """Velocity of the base ``frame``: a frame's name, ``"C[D]"``, ``"G[B]"`` or ``"centroidal"``.

    ``B`` is the model's own base and, as the origin of a compound, ``G`` is the CoM; every other
    name is looked up in the model.  ``data`` is overwritten.
    """
    check_floating_base(model)
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    pin.updateFramePlacements(model, data)
    pin.dccrba(model, data, q, v)
    if frame == CENTROIDAL:
        mixed = _average_velocity(model, data, v)
    else:
        compound = None if model.existFrame(frame) else _COMPOUND.fullmatch(frame)
        origin, axes = compound.group("origin", "axes") if compound else (frame, frame)
        mixed = _compound(model, data, origin, axes)
    return mixed if representation == "mixed" else _represented(mixed, v, representation)


def _compound(model: pin.Model, data: pin.Data, origin: str, axes: str) -> BaseVelocity:
    """C[D] of (26)-(28): linear part of C, angular part of D; the CoM's linear part is (38)."""
    if axes == COM:
        raise FrameError(
            "the centre of mass G has a position but no axes; name a base such as 'G[B]', the CoM "
            "with the axes of the model's base, or 'centroidal'"
        )
    pose, J, dJ = _link(model, data, axes)
    translation = pose.translation
    if origin == COM:
        mass, _ = locked_inertia(model, data)
        translation, J[:3], dJ[:3] = data.com[0].copy(), data.Ag[:3] / mass, data.dAg[:3] / mass
    elif origin != axes:
        pose_C, J_C, dJ_C = _link(model, data, origin)
        translation, J[:3], dJ[:3] = pose_C.translation, J_C[:3], dJ_C[:3]
    return BaseVelocity(J, dJ, translation, pose.rotation)


def _link(model: pin.Model, data: pin.Data, name: str) -> tuple[pin.SE3, Array, Array]:
    """Pose, mixed Jacobian (10) and its rate, of a frame fixed to a link."""
    if name == MODEL_BASE:
        J = pin.getJointJacobian(model, data, 1, _MIXED)
        dJ = pin.getJointJacobianTimeVariation(model, data, 1, _MIXED)
        return data.oMi[1].copy(), J, dJ
    index = frame_id(model, name)
    if model.frames[index].parentJoint == 0:
        raise FrameError(
            f"frame '{name}' of model '{model.name}' is fixed to the world and cannot be a base; "
            "name a frame of a link"
        )
    J = pin.getFrameJacobian(model, data, index, _MIXED)
    dJ = pin.getFrameJacobianTimeVariation(model, data, index, _MIXED)
    return data.oMf[index].copy(), J, dJ


def _average_velocity(model: pin.Model, data: pin.Data, v: Array) -> BaseVelocity:
    """Average 6D velocity (33): that of the CoM, and the angular velocity L^-1 l."""
    mass, L = locked_inertia(model, data)
    A, dA = data.Ag, data.dAg
    # Turning the base with the joints locked gives l = L omega, so L = A_l[base angular] R^T.
    R = data.oMi[1].rotation
    dL = dA[3:, 3:6] @ R.T - L @ pin.skew(R @ v[3:6])
    J, dJ = A / mass, dA / mass
    J[3:] = np.linalg.solve(L, A[3:])
    dJ[3:] = np.linalg.solve(L, dA[3:] - dL @ J[3:])
    return BaseVelocity(J, dJ, data.com[0].copy(), None)


def _represented(mixed: BaseVelocity, v: Array, representation: str) -> BaseVelocity:
    """``mixed`` in another velocity representation."""
    if mixed.rotation is None and representation == "body":
        raise InputError(
            "the average velocity belongs to no frame, so 'centroidal' has no body representation;"
            " use 'mixed' or 'inertial'"
        )
    rotation = np.eye(3) if mixed.rotation is None else mixed.rotation
    pose = pin.SE3(rotation, mixed.origin)
    X = velocity_map("mixed", representation, pose)
    dX = velocity_map_rate("mixed", representation, pose, mixed.J @ v)
    return BaseVelocity(X @ mixed.J, dX @ mixed.J + X @ mixed.dJ, mixed.origin, mixed.rotation)
