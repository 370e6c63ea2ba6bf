"""Where the body's flywheel is, and how an excursion is shared out over base and free joints.

What the flywheel is says :mod:`balance.robots.capability.flywheel`.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.setpoints import Desired
from balance.control.parts.whole_body import BodyView
from balance.robots import Robot
from balance.robots.capability.flywheel import carries_a_foot, momentum_map

Array = NDArray[np.float64]

_YAW_RANGE = 0.2  # rad; how far the base may turn to let the arms' yaw momentum vanish
_PASSES = 4  # each one lets at least one more coordinate reach the end of its range
_SOFTENING = 1e-9  # kg^2 m^4, keeps the allocation solvable when all but two coordinates are spent


class Flywheel:
    """``B`` (3, n) kg m^2 and the coordinates delta (n,) of the current state.

    ``free`` are the indices of the joints in delta; ``max_lean`` (rad) is how far the base may lean
    sideways, forwards and backwards, ``joint_share`` the share of their range that joints may use.
    """

    def __init__(
        self,
        robot: Robot,
        standing: BodyView,
        max_lean: tuple[float, float, float],
        joint_share: float,
    ) -> None:
        """``standing`` is ``robot`` in its nominal posture."""
        found = momentum_map(robot)
        self.free, self.B = found.free, found.B
        self.inertia = np.abs(np.diag(standing.R_WB.T.dot(self.B[:, :3])))
        """Angular momentum per angular velocity of the base, all free joints held (3,)."""
        self._nominal = robot.q_nominal[7:][self.free].copy()
        upper, lower = robot.model.upperPositionLimit[7:], robot.model.lowerPositionLimit[7:]
        to_end = joint_share * np.maximum(upper[self.free] - self._nominal, 0.0)
        to_start = joint_share * np.maximum(self._nominal - lower[self.free], 0.0)
        idle = carries_a_foot(robot)[self.free]
        sideways, forwards, backwards = max_lean
        base = [sideways, forwards, _YAW_RANGE], [sideways, backwards, _YAW_RANGE]
        self._up = np.concatenate([base[0], np.where(idle, 0.0, to_end)])
        self._down = np.concatenate([base[1], np.where(idle, 0.0, to_start)])

    def state(self, body: BodyView, desired: Desired) -> tuple[Array, Array]:
        """delta (n,) rad and its rate, relative to the desired orientation."""
        R_DB = desired.rotation.T.dot(body.R_WB)
        theta = pin.log3(R_DB)
        omega = R_DB.dot(body.v[3:6]) - desired.rotation.T.dot(desired.angular_velocity)
        joints, rates = body.q[7:][self.free], body.v[6:][self.free]
        return np.concatenate([theta, joints - self._nominal]), np.concatenate([omega, rates])

    def allocate(self, excursion: Array) -> Array:
        """delta (n,) with B delta = ``excursion`` (3,), or as near as the ranges allow.

        Every coordinate moves in proportion to its effect times the square of its range; those that
        reach the end of their range stay there, and the others take over.
        """
        reach = np.where(self.B.T.dot(excursion) >= 0.0, self._up, self._down)
        delta, moving = np.zeros(len(reach)), np.ones(len(reach), dtype=bool)
        for _ in range(_PASSES):
            B, weight = self.B[:, moving], reach[moving] ** 2
            gram = (B * weight).dot(B.T) + _SOFTENING * np.eye(3)
            missing = excursion - self.B.dot(delta)
            wanted = delta[moving] + weight * B.T.dot(np.linalg.solve(gram, missing))
            delta[moving] = np.clip(wanted, -self._down[moving], self._up[moving])
            beyond = wanted != delta[moving]
            if not beyond.any():
                break
            moving[np.flatnonzero(moving)[beyond]] = False
            if moving.sum() < 3:
                break
        return delta
