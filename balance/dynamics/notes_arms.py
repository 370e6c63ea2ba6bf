"""The two arms of the lecture notes as Pinocchio models: planar (example 2.8.5) and SCARA (2.8.1).

Links are thin uniform rods, so that the arms have dynamics too; the notes give none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.errors import InputError

END = "end"
"""Name of the end-effector frame of both arms."""
_ROD_RADIUS = 0.03
_TOOL = 0.2
"""Length of the SCARA arm's sliding tool, m."""


def planar_arm(
    lengths: Sequence[float] = (1.0, 1.0, 1.0), base_height: float = 1.0, link_mass: float = 1.0
) -> pin.Model:
    """Revolute joints about y in the plane y = 0, links along z at q = 0; example 2.8.5.

    ``lengths`` l_1, l_2, ... (m), one joint each, the first ``base_height`` l_0 above the ground.
    The frame of joint i is called ``link_i``, that at the tip ``end``.
    """
    model = pin.Model()
    model.name = f"planar arm with {len(lengths)} joints"
    joint, offset = 0, base_height
    for index, length in enumerate(_positive(lengths), start=1):
        joint = model.addJoint(joint, pin.JointModelRY(), _shift(z=offset), f"joint_{index}")
        model.appendBodyToJoint(joint, _rod(link_mass, length), _shift(z=0.5 * length))
        model.addBodyFrame(f"link_{index}", joint, pin.SE3.Identity(), 0)
        offset = length
    model.addFrame(pin.Frame(END, joint, 0, _shift(z=offset), pin.FrameType.OP_FRAME))
    return model


def scara(
    lengths: Sequence[float] = (0.4, 0.3), base_height: float = 0.5, link_mass: float = 1.0
) -> pin.Model:
    """q = (alpha, beta, gamma, zeta): three rotations about the vertical and a slide along it.

    RobotDynamicsETH (2.132).  ``lengths`` are those of the two horizontal links, m.
    """
    first, second = _positive(lengths, count=2)
    model = pin.Model()
    model.name = "SCARA arm"
    turn, along_x = pin.JointModelRZ(), pin.exp3(np.array([0.0, 0.5 * np.pi, 0.0]))
    alpha = model.addJoint(0, turn, _shift(z=base_height), "alpha")
    beta = model.addJoint(alpha, turn, _shift(x=first), "beta")
    gamma = model.addJoint(beta, turn, _shift(x=second), "gamma")
    zeta = model.addJoint(gamma, pin.JointModelPZ(), pin.SE3.Identity(), "zeta")
    for joint, length in ((alpha, first), (beta, second)):
        middle = pin.SE3(along_x, np.array([0.5 * length, 0.0, 0.0]))
        model.appendBodyToJoint(joint, _rod(link_mass, length), middle)
    model.appendBodyToJoint(gamma, _rod(0.2 * link_mass, 0.05), pin.SE3.Identity())
    model.appendBodyToJoint(zeta, _rod(0.5 * link_mass, _TOOL), pin.SE3.Identity())
    for name, joint in zip(model.names[1:], (alpha, beta, gamma, zeta), strict=True):
        model.addBodyFrame(f"{name}_link", joint, pin.SE3.Identity(), 0)
    model.addFrame(pin.Frame(END, zeta, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return model


def scara_coordinates(
    q: ArrayLike, lengths: Sequence[float] = (0.4, 0.3), base_height: float = 0.5
) -> Array:
    """chi_o = (x, y, z, phi) of the SCARA arm's tool in closed form; RobotDynamicsETH (2.136)."""
    alpha, beta, gamma, zeta = check_vector("q", q, 4)
    first, second = _positive(lengths, count=2)
    x = first * np.cos(alpha) + second * np.cos(alpha + beta)
    y = first * np.sin(alpha) + second * np.sin(alpha + beta)
    return np.array([x, y, base_height + zeta, alpha + beta + gamma])


def _positive(lengths: Sequence[float], count: int | None = None) -> Array:
    values = np.asarray(lengths, dtype=float)
    wrong_count = values.ndim != 1 or (count is not None and len(values) != count)
    if wrong_count or len(values) == 0 or not (values > 0.0).all():
        wanted = "at least one length" if count is None else f"{count} lengths"
        raise InputError(f"lengths is {values.tolist()}; expected {wanted} above 0, in m")
    return values


def _shift(x: float = 0.0, z: float = 0.0) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array([x, 0.0, z]))


def _rod(mass: float, length: float) -> pin.Inertia:
    return pin.Inertia.FromCylinder(mass, _ROD_RADIUS, length)
