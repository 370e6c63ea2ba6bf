"""The momentum of a whole robot as part of its state, which only forces from outside change.

Steps that integrate velocities lose momentum to first order in their size, because inertia and axes
turn along within a step.  Here linear momentum p and angular momentum L about the CoM are kept and
given the impulses that act from outside; the velocity of the base after a step is the one that has
them.  Inner forces (drives, friction and stops of joints, bodies of the robot that touch each
other) cannot change them.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from balance.dynamics.placements import joint_placements

Array = NDArray[np.float64]


class Momentum:
    """p and L of a robot; ``data`` holds its mass matrix and its joints' placements.

    The first six rows of the mass matrix give the momentum in the axes of the base and about its
    origin; its block [0:3, 3:6] is -m [c]x, with c the CoM in these axes.

    What has three components is written out: NumPy takes longer for a call than for all of it.
    """

    def __init__(self, model: pin.Model, data: pin.Data, dt: float) -> None:
        """``dt`` is the length of a step, s."""
        self._model, self._data = model, data
        self._mass = float(pin.computeTotalMass(model))
        self._gravity = (dt * self._mass * np.array(model.gravity.linear)).tolist()
        # Views of Pinocchio's memory.
        self._axes = joint_placements(data)[1, :3]  # the base's, in rows
        M = data.M
        self._base, self._joints, self._lever = M[:6, :6], M[:6, 6:], M[:3, 3:6]
        self.value: tuple[float, ...] = (0.0,) * 6
        """p (N s) and L about the CoM (N m s), in world axes."""

    def take(self, q: Array, v: Array) -> None:
        """Begin with the momentum of a state."""
        momentum = pin.computeCentroidalMomentum(self._model, self._data, q, v)
        self.value = tuple(momentum.vector.tolist())

    def _com(self) -> tuple[float, float, float]:
        """The CoM from the base's origin, in the base's axes."""
        (_, z, _), (_, _, x), (y, _, _) = self._lever.tolist()
        return x / self._mass, y / self._mass, z / self._mass

    def add(self, impulse: Array) -> None:
        """Add gravity's impulse and another one (6,), in the base's axes and about its origin."""
        fx, fy, fz, tx, ty, tz = impulse.tolist()
        x, y, z = self._com()
        tx, ty, tz = tx - (y * fz - z * fy), ty - (z * fx - x * fz), tz - (x * fy - y * fx)
        a, b, c = self._axes.tolist()
        px, py, pz, lx, ly, lz = self.value
        gx, gy, gz = self._gravity
        self.value = (
            px + gx + a[0] * fx + b[0] * fy + c[0] * fz,
            py + gy + a[1] * fx + b[1] * fy + c[1] * fz,
            pz + gz + a[2] * fx + b[2] * fy + c[2] * fz,
            lx + a[0] * tx + b[0] * ty + c[0] * tz,
            ly + a[1] * tx + b[1] * ty + c[1] * tz,
            lz + a[2] * tx + b[2] * ty + c[2] * tz,
        )

    def base_velocity(self, joint_velocities: Array) -> Array:
        """Velocity (6,) of the base with which the robot has this momentum where it is now."""
        px, py, pz, lx, ly, lz = self.value
        a, b, c = self._axes.tolist()
        u, i = a[0] * px + a[1] * py + a[2] * pz, a[0] * lx + a[1] * ly + a[2] * lz
        v, j = b[0] * px + b[1] * py + b[2] * pz, b[0] * lx + b[1] * ly + b[2] * lz
        w, k = c[0] * px + c[1] * py + c[2] * pz, c[0] * lx + c[1] * ly + c[2] * lz
        x, y, z = self._com()
        # L + c x p is about the base's origin.
        own = np.array([u, v, w, i + y * w - z * v, j + z * u - x * w, k + x * v - y * u])
        own -= self._joints.dot(joint_velocities)
        return np.asarray(dposv(self._base, own)[1])
