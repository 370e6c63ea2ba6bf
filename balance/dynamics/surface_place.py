"""Where a surface of a body is to be: the conditions on its pose, with their Jacobian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array

Turn = Literal["all", "flat", "line", "flat line", "none"]
"""What of a surface's orientation is given: all of it; only that its z is the target's; that its x
is the target's; only that its x lies in the target's plane; nothing."""
STRAIGHT = 1e-6  # sine of an angle that is taken for none


@dataclass(frozen=True)
class Place:
    """The place of a surface whose frame S is at ``placement`` in the model's frame ``frame``.

    ``target`` is a frame T in the world; the origin of S is to be in that of T along the axes of T
    in ``position``, and stays within ``window`` (half sides along x and y, m) along the others.
    """

    frame: int
    placement: pin.SE3
    target: pin.SE3
    position: tuple[int, ...] = (0, 1, 2)
    window: tuple[float, float] | None = None
    turn: Turn = "all"


class PlaceRows(NamedTuple):
    """Equalities (m, rad) and inequalities (m, not negative), each with its Jacobian."""

    c: Array
    J_c: Array
    h: Array
    J_h: Array


def surface_jacobian(model: pin.Model, data: pin.Data, place: Place) -> Array:
    """Velocity of S in its own axes (6, nv); ``data`` has joint Jacobians and frames."""
    J_L = pin.getFrameJacobian(model, data, place.frame, pin.ReferenceFrame.LOCAL)
    return np.asarray(place.placement.toActionMatrixInverse() @ J_L)


def place_rows(model: pin.Model, data: pin.Data, place: Place) -> PlaceRows:
    """How far a surface is from its place; ``data`` has joint Jacobians and frames."""
    X_TS = place.target.actInv(data.oMf[place.frame] * place.placement)
    J_S = surface_jacobian(model, data, place)
    J_p = X_TS.rotation @ J_S[:3]
    turn, J_turn = _turned(X_TS.rotation, J_S[3:], place.turn)
    held = list(place.position)
    c = np.concatenate([X_TS.translation[held], turn])
    J_c = np.vstack([J_p[held], J_turn])
    free = [axis for axis in (0, 1) if axis not in held]
    if place.window is None or not free:
        return PlaceRows(c, J_c, np.empty(0), np.empty((0, model.nv)))
    half = np.array(place.window)[free]
    p, J = X_TS.translation[free], J_p[free]
    return PlaceRows(c, J_c, np.concatenate([half - p, half + p]), np.vstack([-J, J]))


def _turned(R: Array, J_w: Array, turn: Turn) -> tuple[Array, Array]:
    """Rows about the orientation R of S in T; ``J_w`` gives the angular velocity in S."""
    if turn == "all":
        return np.array(pin.log3(R)), np.asarray(pin.Jlog3(R) @ J_w)
    if turn == "flat":
        value, D = _tilt(R[:, 2])
        return value, D @ (-R @ pin.skew(np.array([0.0, 0.0, 1.0])) @ J_w)
    J_x = -R @ pin.skew(np.array([1.0, 0.0, 0.0])) @ J_w
    if turn == "line":
        return R[1:, 0], J_x[1:]
    if turn == "flat line":
        return R[2:, 0], J_x[2:]
    return np.empty(0), np.empty((0, J_w.shape[1]))


def _tilt(z: Array) -> tuple[Array, Array]:
    """Rotation vector, x and y, from the z axis to the unit vector z; and its derivative by z.

    That is theta / sin(theta) (-z_y, z_x), theta the angle between them: unlike (z_x, z_y) it is
    largest, not zero, for a surface that lies the wrong side up.
    """
    s, cosine = float(np.hypot(z[0], z[1])), float(z[2])
    theta = float(np.arctan2(s, cosine))
    if s < STRAIGHT:
        if cosine > 0.0:
            return np.array([-z[1], z[0]]), np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
        s = STRAIGHT
    f = theta / s
    df = (s - theta * cosine) / s**2
    gradient = df * np.array([cosine * z[0] / s, cosine * z[1] / s, -s])
    value = f * np.array([-z[1], z[0]])
    D = np.outer([-z[1], z[0]], gradient)
    D[0, 1] -= f
    D[1, 0] += f
    return value, D
