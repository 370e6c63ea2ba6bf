"""Which points of a robot's bodies are near the floor, looked for only when they can be."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import contiguous
from balance.robots.robot import Robot
from balance.robots.shapes.ground_points import GroundPoints, Numbers

Array = NDArray[np.float64]

MARGIN_M = 5e-3  # what is nearer to the floor is told
FOOT_MARGIN_M = 1e-3  # of bodies with a foot, which stay above the floor while the sole touches it
LEAST_ROOM_M = 1e-9  # stands in for no room at all where one is divided by
NOTHING = np.empty((0, 3)), np.empty(0), np.empty(0, dtype=np.int64)


class FloorWatch:
    """The points of a robot's shapes that are near the floor.

    Where the joints were when nothing was near is kept: until one of them has moved by more than
    the room below its shapes, nothing can be.
    """

    def __init__(
        self, robot: Robot, floor: pin.SE3, wider: float = 1.0, spared: Collection[int] = ()
    ) -> None:
        """``floor`` has its origin on it and z out of it; ``wider`` multiplies ``MARGIN_M``.

        Shapes of the joints in ``spared`` are never near it.
        """
        self._margin = wider * MARGIN_M
        self.move(floor)
        self.points = GroundPoints(robot.shapes)
        self._joints = np.array([shape.joint for shape in robot.shapes], dtype=np.int64)
        feet = {robot.model.frames[s.frame_id].parentJoint for s in robot.surfaces if s.is_foot}
        self._margins = np.where(np.isin(self._joints, list(feet)), FOOT_MARGIN_M, self._margin)
        self._margins[np.isin(self._joints, list(spared))] = -np.inf
        self._levers = np.full(robot.model.njoints, 1e-9)  # m, of the points of a joint's shapes
        levers = [float(np.linalg.norm(c)) + r for c, r in (s.ball for s in robot.shapes)]
        np.maximum.at(self._levers, self._joints, levers)

    def near(self, placements: Array) -> tuple[Array, Array, Numbers]:
        """Points (n, 3) near the floor, their heights above it, and the numbers of their shapes."""
        if self._clear is not None and keeps_clear(
            placements, self._normal, self._clear, self._per_room
        ):
            return NOTHING
        points, heights, numbers = self.points.near(placements, self.floor, self._margin)
        low = (heights < self._margins.take(numbers)).nonzero()[0]
        if len(low):
            return points.take(low, 0), heights.take(low), numbers.take(low)
        self._keep(placements)
        return NOTHING

    def move(self, pose: pin.SE3) -> None:
        """Put the floor elsewhere."""
        self.floor, self._normal = pose, pose.rotation[:, 2].copy()
        self._clear: Array | None = None

    def _keep(self, placements: Array) -> None:
        room = np.full(len(placements), np.inf)
        heights = self.points.lowest(placements, self.floor)
        np.minimum.at(room, self._joints, heights - self._margins)
        # A point (x, y, z) of a joint rises by x, y and z times what the axes do, plus what the
        # origin does: each of these four numbers may use up a quarter of the room.
        per_room = np.repeat(4.0 / np.maximum(room, LEAST_ROOM_M)[:, None], 4, axis=1)
        per_room[:, :3] *= self._levers[:, None]
        self._per_room = per_room.ravel()
        self._clear = placements.reshape(-1, 3).dot(self._normal)


@compiled
def keeps_clear(placements: Array, normal: Array, clear: Array, per_room: Array) -> bool:
    """Whether what axes and origins rise by, from ``clear``, uses up no room."""
    used = contiguous(placements).reshape(-1, 3).dot(normal)
    used -= clear
    used *= per_room
    # The sum of squares settles it for a robot that stands.
    return bool(used.dot(used) < 1.0 or np.abs(used).max() < 1.0)
