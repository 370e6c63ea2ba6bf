"""Postures with the base leant and the free joints turned, as far as legs and bodies allow.

Soles and the CoM's ground point stay where they are; the legs follow, and the CoM sinks where they
cannot reach otherwise.  From the nominal posture the way goes on in small steps until a leg cannot
follow within its usable range or two bodies touch that did not before.  Light limbs may touch on
the way of a leaning body, for they can be held out of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.standing import standing_posture
from balance.errors import RobotError
from balance.robots import Robot
from balance.robots.capability.usable import usable_ranges
from balance.robots.shapes.proximity import Proximity

Array = NDArray[np.float64]

STEP_RAD = 0.08  # of the coordinate that turns most
SMALLEST = 0.1  # of the first step
LIGHT = 0.15  # of the robot's mass
TOUCH_M = 1e-3  # of overlap beyond that of the nominal posture


class Reach:
    """Postures by delta (3 + n,): rotation vector of the base, then angles of ``free`` joints."""

    def __init__(self, robot: Robot, free: NDArray[np.intp]) -> None:
        self.robot, self.free = robot, free
        model = robot.model
        self.lower, self.upper = usable_ranges(robot)
        self.lower = np.maximum(self.lower, model.lowerPositionLimit[7:])
        self.upper = np.minimum(self.upper, model.upperPositionLimit[7:])
        self._model = model.copy()
        self._model.lowerPositionLimit = np.append(model.lowerPositionLimit[:7], self.lower)
        self._model.upperPositionLimit = np.append(model.upperPositionLimit[:7], self.upper)
        self._data = model.createData()
        pin.framesForwardKinematics(model, self._data, robot.q_nominal)
        self._soles = [(sole.frame_id, sole.placement) for sole in robot.soles]
        self._conditions: dict[str, Any] = {
            "com_xy": robot.com()[:2],
            "sole_placements": [sole.pose(self._data).copy() for sole in robot.soles],
            "held_components": [sole.held for sole in robot.soles],
        }
        self._R_WB = pin.Quaternion(robot.q_nominal[3:7]).matrix()
        self._near = Proximity(robot)
        limbs = light_limbs(robot, free)
        self._light = {i for i, shape in enumerate(self._near.shapes) if shape.joint in limbs}
        self._start = self._overlaps(robot.q_nominal)

    def posture(self, delta: Array, near: Array) -> Array | None:
        """The posture of ``delta`` next to another one; None if no leg posture has it."""
        q, free = near.copy(), self.free
        wanted = self.robot.q_nominal[7 + free] + delta[3:]
        q[7 + free] = np.clip(wanted, self.lower[free], self.upper[free])
        if not delta[:3].any():
            return q
        rotation = self._R_WB @ pin.exp3(delta[:3])
        try:
            return standing_posture(
                self._model, self._soles, q, base_rotation=rotation, **self._conditions
            )
        except RobotError:
            return None

    def at(self, delta: Array) -> Array | None:
        """The posture of ``delta``, reached from the nominal one in small steps."""
        q: Array | None = self.robot.q_nominal
        n = max(1, int(np.ceil(np.abs(delta).max(initial=0.0) / STEP_RAD)))
        for k in range(1, n + 1):
            if q is not None:
                q = self.posture(k / n * delta, q)
        return q

    def along(self, direction: Array, farthest: float) -> float:
        """How far, up to ``farthest``, the way t * ``direction`` (3 + n,) goes."""
        fastest = float(np.abs(direction).max(initial=0.0))
        if fastest == 0.0 or farthest <= 0.0:
            return 0.0
        leans = bool(direction[:3].any())
        q, reached, step = self.robot.q_nominal, 0.0, STEP_RAD / fastest
        smallest = SMALLEST * step
        while reached < farthest:
            following = min(reached + step, farthest)
            new = self.posture(following * direction, q)
            if new is None or self._touches(new, limbs=not leans):
                step *= 0.5
                if step < smallest:
                    break
                continue
            q, reached = new, following
        return reached

    def _overlaps(self, q: Array) -> dict[tuple[int, int], float]:
        pin.forwardKinematics(self.robot.model, self._data, q)
        return {(pair.i, pair.j): -pair.distance for pair in self._near.contacts(q, self._data)}

    def _touches(self, q: Array, *, limbs: bool) -> bool:
        return any(
            depth > max(0.0, self._start.get(pair, 0.0)) + TOUCH_M
            for pair, depth in self._overlaps(q).items()
            if limbs or self._light.isdisjoint(pair)
        )


def light_limbs(robot: Robot, free: NDArray[np.intp]) -> set[int]:
    """Joints of limbs that bear no contact and are light: arms and heads, not trunks."""
    model = robot.model
    data = model.createData()
    pin.computeSubtreeMasses(model, data)
    roots = {j for j in (free + 2).tolist() if data.mass[j] < LIGHT * robot.mass}
    return {j for j in range(1, model.njoints) if roots & set(model.supports[j])}
