"""How far a robot can lean and swing: ranges from joint limits, legs that reach, and collisions.

The base leans while soles and CoM stay over their places; the legs follow, and the CoM sinks where
they cannot reach otherwise.  A free joint swings alone.  Each goes on from the nominal posture in
small steps until a leg cannot follow, a joint is at the end of what a law should use of its range
(:func:`balance.control.parts.limits.joint_ranges`), or two bodies touch that did not before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.limits import joint_ranges
from balance.dynamics.standing import standing_posture
from balance.errors import RobotError
from balance.robots import Robot
from balance.robots.shapes.proximity import Proximity

Array = NDArray[np.float64]

STEP_RAD = 0.08  # of the fastest coordinate
FARTHEST_RAD = 0.8  # no base leans further
LIGHT = 0.15  # of the robot's mass
TOUCH_M = 1e-3  # of overlap beyond that of the nominal posture


class Reach:
    """Postures of a robot with its base leant and its free joints turned."""

    def __init__(self, robot: Robot, free: NDArray[np.intp]) -> None:
        self.robot, self.free = robot, free
        self.lower, self.upper = joint_ranges(robot)
        self._model = robot.model.copy()
        self._model.lowerPositionLimit = np.append(robot.model.lowerPositionLimit[:7], self.lower)
        self._model.upperPositionLimit = np.append(robot.model.upperPositionLimit[:7], self.upper)
        self._data = robot.model.createData()
        pin.framesForwardKinematics(robot.model, self._data, robot.q_nominal)
        self._poses = [sole.pose(self._data).copy() for sole in robot.soles]
        self._soles = [(sole.frame_id, sole.placement) for sole in robot.soles]
        self._held = [sole.held for sole in robot.soles]
        self._com = robot.com()[:2]
        self._R_WB = pin.Quaternion(robot.q_nominal[3:7]).matrix()
        self._near = Proximity(robot)
        limbs = light_limbs(robot, free)
        self._light = {i for i, s in enumerate(self._near.shapes) if s.joint in limbs}
        self._start = self._overlaps(robot.q_nominal)

    def posture(self, delta: Array, near: Array) -> Array | None:
        """A posture near another one with base rotation and free joints ``delta`` (3 + n,)."""
        q = near.copy()
        wanted = self.robot.q_nominal[7 + self.free] + delta[3:]
        q[7 + self.free] = np.clip(wanted, self.lower[self.free], self.upper[self.free])
        if not delta[:3].any():
            return q
        try:
            return standing_posture(
                self._model,
                self._soles,
                q,
                com_xy=self._com,
                base_rotation=self._R_WB @ pin.exp3(delta[:3]),
                sole_placements=self._poses,
                held_components=self._held,
            )
        except RobotError:
            return None

    def last(self, direction: Array, t: float) -> Array | None:
        """The posture at delta = t * ``direction``, from the nominal one in small steps."""
        q: Array | None = self.robot.q_nominal
        n = max(1, int(np.ceil(t * np.abs(direction).max() / STEP_RAD)))
        for k in range(1, n + 1):
            q = self.posture(t * k / n * direction, q)
            if q is None:
                return None
        return q

    def along(self, direction: Array, farthest: float) -> float:
        """Largest t with a free posture at every step up to delta = t * ``direction`` (3 + n,)."""
        fastest = float(np.abs(direction).max())
        if fastest == 0.0:
            return 0.0
        leans = bool(direction[:3].any())
        return self._march(lambda t: t * direction, STEP_RAD / fastest, farthest, not leans)

    def _march(
        self, delta: Callable[[float], Array], step: float, farthest: float, limbs: bool
    ) -> float:
        q, reached = self.robot.q_nominal, 0.0
        while reached < farthest:
            following = min(reached + step, farthest)
            new = self.posture(delta(following), q)
            if new is None or self._touches(new, limbs):
                step *= 0.5
                if step < 0.1 * STEP_RAD * farthest:
                    break
                continue
            q, reached = new, following
        return reached

    def _overlaps(self, q: Array) -> dict[tuple[int, int], float]:
        pin.forwardKinematics(self.robot.model, self._data, q)
        return {
            (pair.i, pair.j): -pair.distance for pair in self._near.contacts(q, self._data)
        }

    def _touches(self, q: Array, limbs: bool) -> bool:
        return any(
            depth > max(0.0, self._start.get(pair, 0.0)) + TOUCH_M
            for pair, depth in self._overlaps(q).items()
            if limbs or self._light.isdisjoint(pair)
        )


def light_limbs(robot: Robot, free: NDArray[np.intp]) -> set[int]:
    """Joints of the limbs that bear no contact and are light: arms and head, not the trunk."""
    model = robot.model
    data = model.createData()
    pin.computeSubtreeMasses(model, data)
    roots = {j for j in (free + 2).tolist() if data.mass[j] < LIGHT * robot.mass}
    return {j for j in range(1, model.njoints) if roots & set(model.supports[j])}


def base_ranges(reach: Reach) -> tuple[Array, Array]:
    """How far (rad) the base can roll, pitch and yaw, up and down (3,)."""
    found = np.zeros((2, 3))
    for row, sign in enumerate((1.0, -1.0)):
        for axis in range(3):
            direction = np.zeros(3 + len(reach.free))
            direction[axis] = sign
            found[row, axis] = reach.along(direction, FARTHEST_RAD)
    return found[0], found[1]


def joint_swings(reach: Reach, idle: NDArray[np.bool_]) -> tuple[Array, Array]:
    """How far (rad) each free joint can turn by itself, up and down (n,); not at all if ``idle``."""
    n = len(reach.free)
    up, down = np.zeros(n), np.zeros(n)
    nominal = reach.robot.q_nominal[7:][reach.free]
    for j in np.flatnonzero(~idle):
        direction = np.zeros(3 + n)
        direction[3 + j] = 1.0
        up[j] = reach.along(direction, max(0.0, reach.upper[reach.free][j] - nominal[j]))
        down[j] = reach.along(-direction, max(0.0, nominal[j] - reach.lower[reach.free][j]))
    return up, down
