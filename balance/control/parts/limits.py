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
