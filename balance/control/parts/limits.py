"""What contacts, drives and joints can bear: inequalities on the free coordinates of the motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.free_motion import FreeMotion
from balance.control.qp.diagnosis import Limit
from balance.control.qp.wrenches import WrenchDistribution
from balance.robots import Robot

Array = NDArray[np.float64]

_ACTIVE = 1e-9  # margin of a row that counts as active, relative to the robot's weight in N

LOOKAHEAD_S = 0.15  # within this time a joint must be able to come to rest before its end
MARGIN_RAD = 0.02  # kept from the end
STRONGEST = 300.0  # rad/s^2; no harder braking is asked for
FAR = 150.0  # rad/s^2; a joint whose bounds are wider needs none


class Limits:
    """Wrench cones of the contacts, then upper and lower torque limits of the joints."""

    def __init__(self, robot: Robot, distribution: WrenchDistribution, weight: float) -> None:
        self.torques = robot.effort_limits
        self.cones, self.lower = distribution.rows, distribution.lower
        self._tolerance = _ACTIVE * weight
        self._all_bounded = bool(np.isfinite(self.torques).all())  # a drive may have no limit
        joints = [name.replace("_", " ") for name in robot.joint_names]
        self.names = (
            *distribution.names,
            *(f"{joint}: torque at its upper limit" for joint in joints),
            *(f"{joint}: torque at its lower limit" for joint in joints),
        )
        drives = [Limit("torque limits", joint) for joint in joints]
        self.named = (*distribution.limits, *drives, *drives)
        """For each row, whose limit it is, and which."""

    @property
    def n_cone_rows(self) -> int:
        """Number of rows, the first ones, that belong to the wrench cones."""
        return len(self.lower)

    def margins(self, wrenches: Array, torques: Array) -> Array:
        """How far inside each limit wrenches (r,) and torques (nj,) are; negative: violated."""
        return np.concatenate(
            [self.cones.dot(wrenches) - self.lower, self.torques - torques, self.torques + torques]
        )

    def cut(self, torques: Array) -> Array:
        """Torques (nj,) cut at their limits."""
        return np.minimum(np.maximum(torques, -self.torques), self.torques)

    def active(self, margins: Array) -> NDArray[np.intp]:
        """Rows without margin."""
        return np.flatnonzero(margins <= self._tolerance)

    def rows(self, free: FreeMotion) -> tuple[Array, Array]:
        """C and d with C x >= d where all limits are kept; x as in ``FreeMotion``."""
        k, n, nj = self.cones.shape[1], self.n_cone_rows, len(self.torques)
        C = np.empty((n + 2 * nj, free.n_x))
        np.dot(self.cones, free.F[:k], out=C[:n])
        np.negative(free.T, out=C[n : n + nj])
        C[n + nj :] = free.T
        d = -self.margins(free.f_0[:k], free.tau_0)
        if self._all_bounded:
            return C, d
        bounded = np.isfinite(d)
        return C[bounded], d[bounded]


class JointLimits:
    """Bounds under which no joint would be past its end after ``LOOKAHEAD_S``."""

    def __init__(self, robot: Robot) -> None:
        self._lower = robot.model.lowerPositionLimit[7:] + MARGIN_RAD
        self._upper = robot.model.upperPositionLimit[7:] - MARGIN_RAD

    def rows(self, free: FreeMotion, joints: Array, rates: Array) -> tuple[Array, Array]:
        """C and d with C x >= d where the bounds of the joints near an end are kept."""
        ahead = joints + LOOKAHEAD_S * rates
        upper = np.maximum((self._upper - ahead) * 2.0 / LOOKAHEAD_S**2, -STRONGEST)
        lower = np.minimum((self._lower - ahead) * 2.0 / LOOKAHEAD_S**2, STRONGEST)
        near = np.flatnonzero((upper < FAR) | (lower > -FAR))
        Z = np.zeros((len(near), free.n_x))
        Z[:, : free.n_y] = free.Z[6 + near]
        a_0 = free.a_0[6 + near]
        return np.concatenate([Z, -Z]), np.concatenate([lower[near] - a_0, a_0 - upper[near]])


class JointBounds:
    """Bounds on the joints' accelerations under which they keep to their ranges and speeds."""

    def __init__(self, robot: Robot, omega: float) -> None:
        self._lower, self._upper = joint_ranges(robot)
        self._speed = 1.1 * robot.rated_speeds
        self._rate = 4.0 * omega
        self._speed_rate = 10.0 * omega

    def bounds(self, joints: Array, rates: Array) -> tuple[Array, Array]:
        k, fast = self._rate, self._speed_rate
        upper = np.minimum(k * k * (self._upper - joints) - 2 * k * rates, np.maximum(fast * (self._speed - rates), 0.0))
        lower = np.maximum(k * k * (self._lower - joints) - 2 * k * rates, -np.maximum(fast * (self._speed + rates), 0.0))
        return np.maximum(upper, -STRONGEST), np.minimum(lower, STRONGEST)

    def rows(self, free: FreeMotion, joints: Array, rates: Array) -> tuple[Array, Array]:
        """C and d with C x >= d where the bounds of the joints near them are kept."""
        upper, lower = self.bounds(joints, rates)
        near = np.flatnonzero((upper < FAR) | (lower > -FAR))
        Z = np.zeros((len(near), free.n_x))
        Z[:, : free.n_y] = free.Z[6 + near]
        a_0 = free.a_0[6 + near]
        return np.concatenate([Z, -Z]), np.concatenate([lower[near] - a_0, a_0 - upper[near]])


def joint_ranges(robot: Robot) -> tuple[Array, Array]:
    """Lowest and highest angle of every joint (nj,) that a law should use, rad."""
    lower = robot.model.lowerPositionLimit[7:].copy()
    upper = robot.model.upperPositionLimit[7:].copy()
    nominal = robot.q_nominal[7:]
    lower, upper = np.minimum(lower + MARGIN_RAD, nominal), np.maximum(upper - MARGIN_RAD, nominal)
    for j, name in enumerate(robot.joint_names):
        if "nee" in name or name.startswith("leg_") and "_4_" in name:
            if nominal[j] > 0:
                lower[j] = max(lower[j], min(0.12, nominal[j]))
            else:
                upper[j] = min(upper[j], max(-0.12, nominal[j]))
    return lower, upper
