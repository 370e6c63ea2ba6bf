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
    """

    def __init__(self, model: pin.Model, data: pin.Data, dt: float) -> None:
        """``dt`` is the length of a step, s."""
        self._model, self._data = model, data
        self._mass = float(pin.computeTotalMass(model))
        self._gravity = np.zeros((2, 3))
        self._gravity[0] = dt * self._mass * np.array(model.gravity.linear)
        # Views of Pinocchio's memory.
        self._to_base = joint_placements(data)[1, :3]
        M = data.M
        self._base, self._joints, self._lever = M[:6, :6], M[:6, 6:], M[:3, 3:6]
        self.value = np.zeros((2, 3))
        """p (N s) and L about the CoM (N m s), in world axes."""
        self._given, self._arm = np.zeros((2, 3)), np.zeros(3)

    def take(self, q: Array, v: Array) -> None:
        """Begin with the momentum of a state."""
        momentum = pin.computeCentroidalMomentum(self._model, self._data, q, v)
        self.value = np.array([momentum.linear, momentum.angular])

    def add(self, impulse: Array) -> None:
        """Add gravity's impulse and another one (6,), in the base's axes and about its origin."""
        given, arm = self._given, self._arm
        given.ravel()[:] = impulse
        np.dot(given[0], self._lever, out=arm)
        arm /= self._mass
        given[1] -= arm  # tau - c x f, about the CoM
        gained = given.dot(self._to_base)
        gained += self._gravity
        gained += self.value
        self.value = gained

    def base_velocity(self, joint_velocities: Array) -> Array:
        """Velocity (6,) of the base with which the robot has this momentum where it is now."""
        own, arm = self.value.dot(self._to_base.T), self._arm
        np.dot(own[0], self._lever, out=arm)
        arm /= self._mass
        own[1] += arm  # L + c x p, about the base's origin
        right = own.ravel()
        right -= self._joints.dot(joint_velocities)
        return np.asarray(dposv(self._base, right)[1])
