"""What torques allow a body that leans in fixed shares, by linear programmes over CoP and moment.

Unlike :mod:`balance.robots.capability.programme`, where any motion counts, the body here moves as a
law moves it: with CoP p and moment u, both in units of the CoM height z, the CoM's acceleration is
-omega^2 z (p + u), and the flywheel's coordinates share what moment the CoM's motion does not make.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from balance.robots import Robot
from balance.robots.capability.body import RestingBody
from balance.robots.capability.programme import TURN, _cone_rows

Array = NDArray[np.float64]

BISECTIONS = 6


class LeanTorques:
    """The programmes at one posture, with ``share`` of the torque limits."""

    def __init__(
        self,
        robot: Robot,
        body: RestingBody,
        motion: Array,
        shift: Array,
        friction: float,
        counted: NDArray[np.bool_],
        share: float = 1.0,
    ) -> None:
        """Accelerations (nv, 2) are ``motion`` per level moment, ``shift`` per level force.

        ``counted`` (nj,) are the joints whose torques count.
        """
        weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        height = float(robot.com()[2])
        of_force = shift - motion @ (body.A[3:5] @ shift)
        of_p = -weight * of_force
        of_u = of_p + weight * height * motion @ TURN.T
        a = np.hstack([of_p, of_u])
        balance = np.hstack([body.M @ a, -weight * body.J.T])
        limits = share * robot.effort_limits
        bounded = np.isfinite(limits) & (limits > 0.0) & counted
        own = body.gravity[6:][bounded] / limits[bounded]
        torques = balance[6:][bounded] / limits[bounded, None]
        cones = block_diag(*(_cone_rows(sole, friction) for sole in robot.soles))
        cones = np.hstack([np.zeros((len(cones), 4)), -cones])
        self._equal, self._equal_to = balance[:6] / weight, -body.gravity[:6] / weight
        self._rows = np.vstack([torques, -torques, cones])
        self._most = np.concatenate([1.0 - own, 1.0 + own, np.zeros(len(cones))])

    def _maximum(self, objective: Array, rows: Array, values: Array) -> float:
        """Largest ``objective`` (4,) on (p, u) with ``rows`` (k, 4) @ (p, u) = ``values``."""
        from scipy.optimize import linprog  # slow to import

        n = self._rows.shape[1]
        equal = np.vstack([self._equal, np.hstack([rows, np.zeros((len(rows), n - 4))])])
        found = linprog(
            -np.append(objective, np.zeros(n - 4)),
            A_ub=self._rows,
            b_ub=self._most,
            A_eq=equal,
            b_eq=np.append(self._equal_to, values),
            bounds=(None, None),
            method="highs",
        )
        return -float(found.fun) if found.status == 0 else -np.inf

    def holds(self, p: Array) -> bool:
        """Whether the CoP can be at ``p`` (2,) without a moment."""
        return self._maximum(np.zeros(4), np.eye(4), np.append(p, [0.0, 0.0])) > -np.inf

    def edge(self, direction: Array, far: float) -> Array:
        """The farthest CoP (2,) along ``direction``, up to ``far``, without a moment."""
        return direction * bisected(far, lambda t: self.holds(t * direction))

    def moment(self, direction: Array, p: Array) -> float:
        """Largest moment along ``direction`` (2,) with the CoP at ``p``."""
        rows = np.zeros((3, 4))
        rows[[0, 1], [0, 1]] = 1.0
        rows[2, 2:] = -direction[1], direction[0]
        return self._maximum(np.append([0.0, 0.0], direction), rows, np.append(p, 0.0))


def bisected(far: float, holds: Callable[[float], bool]) -> float:
    """The largest value up to ``far`` for which ``holds`` is true, which it is at 0."""
    if far <= 0.0 or holds(far):
        return far
    low, high = 0.0, far
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
