"""End stops of joints: stiff springs with dampers at the ends of their ranges, in both engines.

A stop is part of the structure: it may meet the whole robot, which topples over an ankle that is at
its end, and must hold it however weak that joint's drive is.  So all stops of a robot have the
stiffness K that yields little under its weight at the height of its CoM, or under the joint's
largest torque if that is more, and the damping D = K T, so that what has sunk in comes back with
the time constant T.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
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


def end_stops(robot: Robot) -> Array:
    """The stops (4, nj): lower and upper end of each joint's range, rad, stiffness and damping."""
    model = robot.model
    return np.array(
        [model.lowerPositionLimit[7:], model.upperPositionLimit[7:], *stop_springs(robot)]
    )


@compiled
def add_stops(stops: Array, q: Array, v: Array, dt: float, inertia: Array, force: Array) -> None:
    """Have the ``stops`` hold joints beyond an end of their range, as implicit springs.

    K acts on the angle at the end of a step: dt (D + dt K) is added to the diagonal ``inertia`` of
    M, (nv,), and what is explicit to ``force`` (nv,), which is what resists the motion, N m.
    """
    joints = q[7:]
    excess = joints - np.minimum(np.maximum(joints, stops[0]), stops[1])
    if np.count_nonzero(excess):
        stiffness = stops[2]
        damping = (excess != 0.0) * (stops[3] + dt * stiffness)
        inertia[6:] += dt * damping
        force[6:] -= -stiffness * excess - damping * v[6:]
