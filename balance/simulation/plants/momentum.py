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

from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import contiguous, solve_symmetric
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
        self._gravity = dt * self._mass * np.array(model.gravity.linear)
        # Views of Pinocchio's memory: the base's axes in rows, and its rows of the mass matrix,
        # which is symmetric.
        self._axes, self._rows = joint_placements(data)[1, :3], data.M.T[:6]
        self.value = np.zeros(6)
        """p (N s) and L about the CoM (N m s), in world axes."""

    def take(self, q: Array, v: Array) -> None:
        """Begin with the momentum of a state."""
        momentum = pin.computeCentroidalMomentum(self._model, self._data, q, v)
        self.value = np.array(momentum.vector)

    def add(self, impulse: Array) -> None:
        """Add gravity's impulse and another one (6,), in the base's axes and about its origin."""
        self.value = with_impulse(
            self.value, self._gravity, impulse, self._axes, self._rows, self._mass
        )

    def give_base(self, v: Array) -> None:
        """Give ``v`` the velocity of the base with which the robot has this momentum, where it is
        now and with these velocities of its joints.
        """
        write_base_velocity(self.value, self._axes, self._rows, self._mass, v)


@compiled
def with_impulse(
    momentum: Array, gravity: Array, impulse: Array, axes: Array, rows: Array, mass: float
) -> Array:
    """``momentum`` (6,), world axes, and the impulses of ``gravity`` (3,) and of :meth:`add`."""
    force, lever = impulse[:3], contiguous(rows[:3, 3:6])
    after = momentum.copy()
    after[:3] += gravity + force.dot(axes)
    after[3:] += (impulse[3:] + lever.dot(force) / mass).dot(axes)
    return after


@compiled
def write_base_velocity(momentum: Array, axes: Array, rows: Array, mass: float, v: Array) -> None:
    """Set the base's velocities, of ``v``, to those with ``rows`` v = ``momentum``."""
    own = np.empty(6)
    own[:3] = axes.dot(momentum[:3])
    # L + c x p is about the base's origin.
    own[3:] = axes.dot(momentum[3:]) - contiguous(rows[:3, 3:6]).dot(own[:3]) / mass
    v[:6] = 0.0
    own -= rows.dot(v)
    v[:6] = solve_symmetric(contiguous(rows[:, :6]), own)[1]
