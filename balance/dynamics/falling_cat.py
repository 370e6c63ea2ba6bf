"""The falling cat: a body of two halves that turns over without angular momentum, Saccon2017 VI.

Two equal cylinders, front and rear, meet in a spine that bends to any side but does not twist (a
universal joint: two joints of one degree of freedom, nothing in between).  The cat bends, rolls
the bend once around its body, and straightens: a closed loop of the two joints.  Its angular
momentum is zero throughout, and yet it lands turned, because the connection is curved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.centroidal_frame import ShapePath
from balance.dynamics.checks import Array
from balance.dynamics.connection import (
    check_one_dof_joints,
    mechanical_connection,
    shape_configuration,
)
from balance.dynamics.holonomy import turn_without_momentum
from balance.dynamics.lagrange_poincare import lagrange_poincare
from balance.errors import InputError

HALF_MASS = 2.0
"""Mass of each half, kg: a cat of 4 kg."""
HALF_LENGTH = 0.25
"""Length of each half, m."""
RADIUS = 0.09
"""Radius of the body, legs drawn in, m."""
LARGEST_BEND = np.deg2rad(110.0)
"""Bend beyond which the halves of a cat would meet, rad."""
PHASES = (0.2, 0.8)
"""Parts of the motion at which the cat is bent, and at which it starts to straighten."""


def falling_cat(radius: float = RADIUS, length: float = HALF_LENGTH) -> pin.Model:
    """The cat with a free flyer on its front half; x along the body, forwards, z to its back.

    Joints ``side`` (about z) and ``arch`` (about y) bend the rear half; both are zero when it is
    straight.  The joint is the origin of the base frame.
    """
    if not (radius > 0.0 and length > 0.0):
        raise InputError(f"radius {radius} m and length {length} m must both be positive")
    # A cylinder along x; the solid's own axis is z in Pinocchio.
    along_x = pin.SE3(pin.utils.rotate("y", 0.5 * np.pi), np.zeros(3))
    solid = along_x.act(pin.Inertia.FromCylinder(HALF_MASS, radius, length))
    model = pin.Model()
    model.name = "falling_cat"
    ahead = pin.SE3(np.eye(3), np.array([0.5 * length, 0.0, 0.0]))
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    model.appendBodyToJoint(base, solid, ahead)
    model.addBodyFrame("front", base, ahead, 0)
    side = model.addJoint(base, pin.JointModelRZ(), pin.SE3.Identity(), "side")
    arch = model.addJoint(side, pin.JointModelRY(), pin.SE3.Identity(), "arch")
    model.appendBodyToJoint(arch, solid, ahead.inverse())
    model.addBodyFrame("rear", arch, ahead.inverse(), 0)
    return model


def righting_loop(bend: float) -> ShapePath:
    """Joint angles s(t), t from 0 to 1: arch by ``bend`` (rad), roll the bend around, straighten.

    All three phases start and end with zero velocity, acceleration and jerk.
    """
    roll_start, roll_end = PHASES

    def loop(t: float) -> Array:
        size = bend * (_smooth(t / roll_start) - _smooth((t - roll_end) / (1.0 - roll_end)))
        roll = 2.0 * np.pi * _smooth((t - roll_start) / (roll_end - roll_start))
        return np.array([size * np.sin(roll), size * np.cos(roll)])

    return loop


def roll_angle(rotation: ArrayLike) -> float:
    """How far a rotation (3, 3) rolls the cat about its long axis, rad in [0, 2 pi).

    Against the sense in which the bend rolls, which is how a cat without momentum answers.
    """
    quaternion = pin.Quaternion(np.asarray(rotation, dtype=float))
    return float((-2.0 * np.arctan2(quaternion.x, quaternion.w)) % (2.0 * np.pi))


def righting_bend(angle: float, model: pin.Model | None = None) -> float:
    """Bend (rad) whose loop rolls the cat by ``angle`` (rad); pi puts it on its feet."""
    from scipy.optimize import brentq  # slow to import, and nothing else here needs it

    model = falling_cat() if model is None else model

    def roll(bend: float) -> float:
        turn = turn_without_momentum(model, righting_loop(bend), 1e-6)
        return roll_angle(turn.rotation)

    most = roll(LARGEST_BEND)
    if not 0.0 < angle <= most:
        raise InputError(
            f"the cat cannot roll by {angle:.4g} rad in one loop; it must be positive and at most "
            f"{most:.4g} rad, what the largest bend of {LARGEST_BEND:.3g} rad gives"
        )
    # A straight cat does not turn at all, which rounding could take for a whole turn.
    return float(brentq(lambda b: (roll(b) if b else 0.0) - angle, 0.0, LARGEST_BEND, xtol=1e-5))


def torques_without_momentum(
    model: pin.Model, path: ShapePath, duration: float
) -> Callable[[float], Array]:
    """Joint torques tau(t), N m, that drive a robot without momentum along ``path``.

    ``path`` is s over t from 0 to 1 (and a little beyond, for differences), run through in
    ``duration`` seconds.  Without momentum the joint rows of the Lagrange-Poincare equations
    contain the shape alone, so the torques need neither the pose of the base nor a simulation.
    """
    check_one_dof_joints(model)
    data = pin.Data(model)

    def torques(t: float) -> Array:
        s, ds, dds = _derivatives(path, t / duration)
        ds, dds = ds / duration, dds / duration**2
        v = np.concatenate([-mechanical_connection(model, s, data).connection @ ds, ds])
        terms = lagrange_poincare(model, shape_configuration(model, s), v, data)
        return terms.M[6:, 6:] @ dds + terms.bias[6:]

    return torques


def _derivatives(path: ShapePath, t: float, step: float = 1e-3) -> tuple[Array, Array, Array]:
    """s, ds/dt and d2s/dt2 at ``t`` by central differences of sixth order."""
    samples = np.array([np.asarray(path(t + k * step), dtype=float) for k in range(-3, 4)])
    first = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60.0
    second = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180.0
    return samples[3], first @ samples / step, second @ samples / step**2


def _smooth(x: float) -> float:
    """0 before 0, 1 after 1, between them a polynomial with three vanishing derivatives."""
    x = min(max(x, 0.0), 1.0)
    return x**4 * (35.0 - 84.0 * x + 70.0 * x**2 - 20.0 * x**3)
