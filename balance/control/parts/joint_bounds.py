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
from balance.dynamics.compiled import compiled
from balance.robots import Robot
from balance.robots.capability.usable import usable_ranges

Array = NDArray[np.float64]

RANGE_RATE, SPEED_RATE = 4.0, 10.0  # k and c in units of omega
TOP_SPEED = 1.1  # of the rated speeds
STRONGEST = 300.0  # rad/s^2; no harder braking is asked for
FAR = 150.0  # rad/s^2; a joint whose bounds are wider needs none
SLACK_WEIGHT = 1e4  # per squared newton metre
NO_BOUND = 1e9  # rad/s^2
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

    def __init__(self, robot: Robot, omega: float, endless: NDArray[np.intp] | None = None) -> None:
        """``omega`` is the rate, 1/s, at which the robot falls.

        Joints ``endless`` have a bound on their speed alone.
        """
        self._lower, self._upper = usable_ranges(robot)
        if endless is not None:
            self._lower[endless], self._upper[endless] = -np.inf, np.inf
        self._speed = TOP_SPEED * robot.rated_speeds
        inertia = np.diag(pin.crba(robot.model, robot.model.createData(), robot.q_nominal))[6:]
        self.ease = 1.0 / inertia
        """By how much one newton metre of slack eases a joint's bounds (nj,), rad/s^2."""
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
        return acceleration_bounds(
            joints, rates, self._lower, self._upper, self._speed, self._rate, self._speed_rate
        )

    def near(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The same at a state, with ``NO_BOUND`` for joints that need none."""
        return near_bounds(
            q, v, self._lower, self._upper, self._speed, self._rate, self._speed_rate
        )

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
            np.tile(self.ease[near], 2),
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


@compiled
def acceleration_bounds(
    joints: Array, rates: Array, lower: Array, upper: Array, top: Array, k: float, c: float
) -> tuple[Array, Array]:
    """Least and largest accelerations (nj,) as the module's first lines have them."""
    damping = 2.0 * k * rates
    least, most = k * k * (lower - joints) - damping, k * k * (upper - joints) - damping
    least = np.maximum(least, np.minimum(-c * (top + rates), 0.0))
    most = np.minimum(most, np.maximum(c * (top - rates), 0.0))
    return np.minimum(least, STRONGEST), np.maximum(most, -STRONGEST)


@compiled
def near_bounds(
    q: Array, v: Array, lower: Array, upper: Array, top: Array, k: float, c: float
) -> tuple[Array, Array]:
    """``acceleration_bounds`` of the joints, without those of joints that are far from any."""
    least, most = acceleration_bounds(q[7:], v[6:], lower, upper, top, k, c)
    far = (most >= FAR) & (least <= -FAR)
    return np.where(far, -NO_BOUND, least), np.where(far, NO_BOUND, most)


@compiled
def kept(a: Array, least: Array, most: Array) -> bool:
    """Whether accelerations ``a``, the joints' last, are within bounds (nj,)."""
    joints = a[len(a) - len(least) :]
    return bool(((joints >= least) & (joints <= most)).all())


@compiled
def used_up(a: Array, least: Array, most: Array) -> NDArray[np.intp]:
    """Numbers of the bounds without a margin at accelerations ``a``."""
    joints = a[len(a) - len(least) :]
    return np.flatnonzero(np.concatenate((joints - least, most - joints)) <= ACTIVE)


@compiled
def write_joint_rows(
    a_0: Array, Z: Array, least: Array, most: Array, ease: Array, C: Array, d: Array
) -> None:
    """The first rows of C x >= d with x = (y, z, slack): the bounds, from below and from above."""
    nj, n_y = len(least), Z.shape[1]
    first = len(a_0) - nj
    C[:nj, :n_y] = Z[first:]
    C[nj : 2 * nj, :n_y] = -Z[first:]
    C[:nj, -1] = ease
    C[nj : 2 * nj, -1] = ease
    d[:nj] = least - a_0[first:]
    d[nj : 2 * nj] = a_0[first:] - most
