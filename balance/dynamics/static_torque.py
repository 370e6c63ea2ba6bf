"""Torques of a robot at rest under contact wrenches, g(q) - sum J(q)^T w, and their derivatives.

``computeStaticTorqueDerivatives`` of Pinocchio differentiates by q with the wrenches held in the
axes of their bodies.  A point or a line, about which the body may turn, has its wrench in axes that
stay: seen from the body it turns the other way, which adds a term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array
from balance.dynamics.surface_place import Place, surface_jacobian


@dataclass(frozen=True)
class Bearing:
    """A surface that bears: where it is, and what it can transmit, ``rows @ wrench >= lower``.

    The wrench (6,) is at the surface's centre, its components but those in ``held`` are zero; in
    the surface's axes, or, where the body may turn about it, in ``axes`` (world), which stay.
    ``units`` (6,) are what its components may be: wrenches are counted in them.
    """

    name: str
    place: Place
    rows: Array
    lower: Array
    units: Array
    held: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    axes: Array | None = None

    def wrench(self, w: Array) -> Array:
        """The wrench (6,) whose components in their units are ``w``."""
        held, full = list(self.held), np.zeros(6)
        full[held] = w * self.units[held]
        return full

    def cone(self) -> tuple[Array, Array]:
        """A and b with A w >= b for components in their units; rows of A have length one."""
        held = list(self.held)
        A = self.rows[:, held] * self.units[held]
        lengths = np.linalg.norm(A, axis=1)
        return A / lengths[:, None], self.lower / lengths


def parts(bearings: Sequence[Bearing]) -> list[slice]:
    """Where the components of each wrench are among those of all."""
    ends = np.cumsum([len(bearing.held) for bearing in bearings]).tolist()
    return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def static_torque(
    model: pin.Model, data: pin.Data, q: Array, bearings: Sequence[Bearing], w: Array
) -> tuple[Array, Array]:
    """g(q) - sum J^T w (nv,), and its Jacobian by q and by the components ``w`` of all wrenches.

    ``data`` then has joint Jacobians and frame placements at ``q``.
    """
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    forces = pin.StdVec_Force()
    for _ in range(model.njoints):
        forces.append(pin.Force.Zero())
    J_turning = np.zeros((model.nv, model.nv))
    blocks = []
    for bearing, part in zip(bearings, parts(bearings), strict=True):
        place, held, wrench = bearing.place, list(bearing.held), bearing.wrench(w[part])
        J_S = surface_jacobian(model, data, place)
        R_SC = np.eye(3)
        if bearing.axes is not None:
            R_WS = data.oMf[place.frame].rotation @ place.placement.rotation
            R_SC = R_WS.T @ bearing.axes
        force, moment = R_SC @ wrench[:3], R_SC @ wrench[3:]
        if bearing.axes is not None:
            turned = np.vstack([pin.skew(force), pin.skew(moment)]) @ J_S[3:]
            J_turning -= J_S.T @ turned
        frame = model.frames[place.frame]
        X_JS = frame.placement * place.placement
        forces[frame.parentJoint] += X_JS.act(pin.Force(force, moment))
        J_C = np.vstack([R_SC.T @ J_S[:3], R_SC.T @ J_S[3:]])
        blocks.append(-J_C[held].T * bearing.units[held])
    J_q = pin.computeStaticTorqueDerivatives(model, data, q, forces) + J_turning
    tau = np.array(pin.computeStaticTorque(model, data, q, forces))
    return tau, np.hstack([J_q, *blocks])
