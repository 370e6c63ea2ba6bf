"""What contacts, drives and joints can bear: inequalities on the free coordinates of the motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.free_motion import FreeMotion
from balance.control.qp.diagnosis import Limit
from balance.control.qp.wrenches import WrenchDistribution
from balance.dynamics.compiled import compiled
from balance.robots import Robot

Array = NDArray[np.float64]

_ACTIVE = 1e-9  # margin of a row that counts as active, relative to the robot's weight in N


class Limits:
    """Wrench cones of the contacts, then upper and lower torque limits of the joints."""

    def __init__(self, robot: Robot, distribution: WrenchDistribution, weight: float) -> None:
        self.torques = robot.effort_limits.copy()
        self.cones, self.lower = distribution.rows, distribution.lower
        self._tolerance = _ACTIVE * weight
        self.all_bounded = bool(np.isfinite(self.torques).all())
        """Whether every drive has a limit."""
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
        return limit_margins(self.cones, self.lower, self.torques, wrenches, torques)

    def cut(self, torques: Array) -> Array:
        """Torques (nj,) cut at their limits."""
        return np.minimum(np.maximum(torques, -self.torques), self.torques)

    def active(self, margins: Array) -> NDArray[np.intp]:
        """Rows without margin."""
        return (margins <= self._tolerance).nonzero()[0]

    def rows(self, free: FreeMotion) -> tuple[Array, Array]:
        """C and d with C x >= d where all limits are kept; x as in ``FreeMotion``."""
        k, n = self.cones.shape[1], self.n_cone_rows + 2 * len(self.torques)
        C, d = np.empty((n, free.n_x)), np.empty(n)
        f_0, F, tau_0, T = free.force_maps()
        write_limit_rows(self.cones, self.lower, self.torques, f_0[:k], F[:k], tau_0, T, C, d)
        return self.bounded(C, d)

    def bounded(self, C: Array, d: Array) -> tuple[Array, Array]:
        """Rows without those of drives that have no limit."""
        if self.all_bounded:
            return C, d
        bounded = np.isfinite(d)
        return C[bounded], d[bounded]


@compiled
def limit_margins(
    cones: Array, lower: Array, limits: Array, wrenches: Array, torques: Array
) -> Array:
    """How far wrenches are inside their cones, then torques below and above their limits."""
    n, nj = len(lower), len(limits)
    margins = np.empty(n + 2 * nj)
    margins[:n] = cones.dot(wrenches) - lower
    margins[n : n + nj] = limits - torques
    margins[n + nj :] = limits + torques
    return margins


@compiled
def write_limit_rows(
    cones: Array,
    lower: Array,
    limits: Array,
    f_0: Array,
    F: Array,
    tau_0: Array,
    T: Array,
    C: Array,
    d: Array,
) -> None:
    """The first rows of C x >= d: ``limit_margins`` are not negative at x."""
    n, nj, n_x = len(lower), len(limits), F.shape[1]
    C[:n, :n_x] = cones.dot(F)
    C[n : n + nj, :n_x] = -T
    C[n + nj : n + 2 * nj, :n_x] = T
    d[: n + 2 * nj] = -limit_margins(cones, lower, limits, f_0, tau_0)
