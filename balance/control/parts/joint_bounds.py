"""Joints kept within their usable ranges and speeds, as soft bounds on their accelerations.

A joint at angle s with rate w may accelerate by at most

    a <= k^2 (upper - s) - 2 k w,        a <= c (top - w) while w < top, else a <= 0,

and the same downwards: the first is critically damped and reaches no end of a range that it was
inside of at rest; the second lets drives bring no joint beyond its top speed.  What a hit did to a
joint, or what contacts and torques make of it, may leave no acceleration that keeps all of them:
one slack for all, a torque on each joint's own inertia, keeps the program solvable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.free_motion import FreeMotion
from balance.control.qp import QuadraticProgram
from balance.control.qp.diagnosis import Limit
from balance.robots import Robot
from balance.robots.capability.usable import usable_ranges

Array = NDArray[np.float64]

RANGE_RATE, SPEED_RATE = 4.0, 10.0  # k and c in units of omega
TOP_SPEED = 1.1  # of the rated speeds
STRONGEST = 300.0  # rad/s^2; no harder braking is asked for
FAR = 150.0  # rad/s^2; a joint whose bounds are wider needs none
SLACK_WEIGHT = 1e4  # per squared newton metre
ACTIVE = 1e-6  # rad/s^2


@dataclass(slots=True)
class JointRows:
    """``C`` (k, n_x) x >= ``d`` (k,) for those bounds that are near; ``numbers`` (k,) says which.

    ``ease`` (k,) is by how much one newton metre of slack eases a bound, rad/s^2.
    """

    C: Array
    d: Array
    numbers: NDArray[np.intp]
    ease: Array

    def kept(self, x: Array) -> bool:
        """Whether ``x`` keeps all of them."""
        return bool((self.C.dot(x) >= self.d).all())

    def active(self, x: Array) -> NDArray[np.intp]:
        """Numbers of the bounds without a margin at ``x``."""
        return self.numbers[self.C.dot(x) <= self.d + ACTIVE]


class JointBounds:
    """The bounds of all joints: number j is joint j's from below, nj + j that from above."""

    def __init__(self, robot: Robot, omega: float) -> None:
        """``omega`` is the rate, 1/s, at which the robot falls."""
        self._lower, self._upper = usable_ranges(robot)
        self._speed = TOP_SPEED * robot.rated_speeds
        inertia = np.diag(pin.crba(robot.model, robot.model.createData(), robot.q_nominal))[6:]
        self._ease = 1.0 / inertia
        self._rate, self._speed_rate = RANGE_RATE * omega, SPEED_RATE * omega
        joints = [name.replace("_", " ") for name in robot.joint_names]
        self.named = tuple(
            Limit("joint ranges and speeds", f"{joint} {way}")
            for way in ("downwards", "upwards")
            for joint in joints
        )
        self.names = tuple(
            f"{joint}: range or speed used up {way}"
            for way in ("downwards", "upwards")
            for joint in joints
        )

    def accelerations(self, joints: Array, rates: Array) -> tuple[Array, Array]:
        """Least and largest acceleration (nj,) at angles and rates, rad/s^2."""
        k, c = self._rate, self._speed_rate
        damping = 2.0 * k * rates
        lower = k * k * (self._lower - joints) - damping
        upper = k * k * (self._upper - joints) - damping
        np.maximum(lower, np.minimum(-c * (self._speed + rates), 0.0), out=lower)
        np.minimum(upper, np.maximum(c * (self._speed - rates), 0.0), out=upper)
        return np.minimum(lower, STRONGEST), np.maximum(upper, -STRONGEST)

    def rows(self, free: FreeMotion, joints: Array, rates: Array) -> JointRows:
        """The bounds of the joints that are near one, on the free coordinates of the motion."""
        lower, upper = self.accelerations(joints, rates)
        near = np.flatnonzero((upper < FAR) | (lower > -FAR))
        rows = len(free.a_0) - len(joints) + near  # a chart of the base may have more than six
        Z = np.zeros((len(near), free.n_x))
        Z[:, : free.n_y] = free.Z[rows]
        a_0 = free.a_0[rows]
        return JointRows(
            np.concatenate([Z, -Z]),
            np.concatenate([lower[near] - a_0, a_0 - upper[near]]),
            np.concatenate([near, len(lower) + near]),
            np.tile(self._ease[near], 2),
        )


def with_slack(
    free: FreeMotion, H_y: Array, g_y: Array, limits: tuple[Array, Array], joints: JointRows
) -> QuadraticProgram:
    """The cost of the motion y, |z|^2 / 2 and a slack of the joints' rows, the last unknown."""
    n, n_y = free.n_x + 1, len(g_y)
    H, g = np.zeros((n, n)), np.zeros(n)
    H.ravel()[:: n + 1] = 1.0
    H[:n_y, :n_y], g[:n_y], H[-1, -1] = H_y, g_y, SLACK_WEIGHT
    hard = len(limits[1])
    C = np.zeros((hard + len(joints.d) + 1, n))
    C[:hard, :-1], C[hard:-1, :-1] = limits[0], joints.C
    C[hard:-1, -1], C[-1, -1] = joints.ease, 1.0
    return QuadraticProgram(H, g, C, np.concatenate([limits[1], joints.d, [0.0]]))
