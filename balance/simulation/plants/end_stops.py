"""End stops of joints: stiff springs with dampers at the ends of their ranges, in both engines.

A stop is part of the structure: it may meet the whole robot, which topples over an ankle that is at
its end, and must hold it however weak that joint's drive is.  So all stops of a robot have the
stiffness K that yields little under its weight at the height of its CoM, or under the joint's
largest torque if that is more, and the damping D = K T, so that what has sunk in comes back with
the time constant T.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.robots import Robot

Array = NDArray[np.float64]

YIELD_RAD = 0.005  # how far a stop gives way under that moment
RETURN_S = 0.01  # T


def stop_springs(robot: Robot) -> tuple[Array, Array]:
    """Stiffness (nj,), N m/rad, and damping (nj,), N m s/rad, of each joint's stops."""
    gravity = float(np.linalg.norm(robot.model.gravity.linear)) or 9.81
    topple = robot.mass * gravity * float(robot.com()[2])
    stiffness = np.maximum(robot.effort_limits, topple) / YIELD_RAD
    return stiffness, RETURN_S * stiffness


@dataclass(frozen=True, slots=True)
class StopForces:
    """Implicit damping (nv,), N m s/rad, and explicit force (nv,), N m, of the stops in touch."""

    damping: Array
    force: Array


class EndStops:
    """The stops as implicit springs: K acts on the angle at the end of a step."""

    def __init__(self, robot: Robot) -> None:
        model = robot.model
        self._lower = model.lowerPositionLimit[7:].copy()
        self._upper = model.upperPositionLimit[7:].copy()
        self._stiffness, self._damping = stop_springs(robot)

    def touched(self, q: Array, v: Array, dt: float) -> StopForces | None:
        """What the stops do, or None if no joint is at one."""
        joints = q[7:]
        excess = joints - np.minimum(np.maximum(joints, self._lower), self._upper)
        if not np.count_nonzero(excess):
            return None
        damping, force = np.zeros_like(v), np.zeros_like(v)
        damping[6:] = (excess != 0.0) * (self._damping + dt * self._stiffness)
        force[6:] = -self._stiffness * excess - damping[6:] * v[6:]
        return StopForces(damping, force)
