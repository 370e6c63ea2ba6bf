"""The polygon on the ground in which the centre of pressure may lie."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.errors import ConfigError
from balance.robots import Robot
from balance.robots.contacts import spans_area

Array = NDArray[np.float64]

_LEVEL = 1e-6  # a plane whose normal is vertical up to this (1 - cos)
_SAME_HEIGHT = 0.01  # m; lowest contacts on level planes within this height are the ground
_SMALLEST_SHARE = 0.1  # of a contact's half side that a margin must leave


class SupportPolygon:
    """Convex hull of the contacts on the ground, each one smaller by ``margin`` (m) on all sides.

    ``vertices`` (n, 2) go round anticlockwise.  A robot that touches no level ground has none: then
    every point counts as inside.
    """

    def __init__(self, robot: Robot, margin: float) -> None:
        corners = _ground_corners(robot, margin)
        self.vertices = np.empty((0, 2))
        if len(corners):
            if not spans_area(corners):
                raise ConfigError(
                    f"controller.law = capture: the contacts of robot '{robot.name}' on the ground "
                    "lie on one line, so that there is no support polygon in which the centre of "
                    "pressure could move; take another law, or more contacts"
                )
            self.vertices = corners[ConvexHull(corners).vertices]
        self._sides = np.roll(self.vertices, -1, axis=0) - self.vertices
        self._square_lengths = (self._sides**2).sum(axis=1)

    def nearest(self, point: Array) -> Array:
        """The point of the polygon that is nearest to ``point`` (2,)."""
        offsets = point - self.vertices
        left = self._sides[:, 0] * offsets[:, 1] - self._sides[:, 1] * offsets[:, 0]
        if (left >= 0.0).all():
            return point.copy()
        along = (offsets * self._sides).sum(axis=1) / self._square_lengths
        on_sides = self.vertices + np.clip(along, 0.0, 1.0)[:, None] * self._sides
        distances = ((on_sides - point) ** 2).sum(axis=1)
        return np.asarray(on_sides[np.argmin(distances)])


def _ground_corners(robot: Robot, margin: float) -> Array:
    """Corners (n, 2) of the lowest contacts on level planes, in the nominal posture."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    level = [s for s in robot.soles if s.plane.rotation[2, 2] > 1.0 - _LEVEL]
    heights = [float(surface.pose(data).translation[2]) for surface in level]
    corners = []
    for surface, height in zip(level, heights, strict=True):
        if height > min(heights) + _SAME_HEIGHT:
            continue
        half = np.array([surface.half_length, surface.half_width])
        kept = np.maximum(1.0 - margin / half, _SMALLEST_SHARE)
        pose = surface.pose(data)
        inner = surface.corners * np.append(kept, 1.0)
        corners.append((inner @ pose.rotation.T + pose.translation)[:, :2])
    return np.concatenate(corners) if corners else np.empty((0, 2))
