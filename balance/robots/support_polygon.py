"""The support polygon: where on the ground a robot's feet can put its centre of pressure.

Verdicts, the ankle limit, the capture law and the live lab all ask here.  What is a foot says the
robot's file (``foot``): a hand on a table bears load too, but nobody stands on it.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.robots import Robot
from balance.robots.contacts import ContactSurface, spans_area

Array = NDArray[np.float64]

_SMALLEST_SHARE = 0.1  # of a foot's half side that a margin must leave


def feet(robot: Robot) -> tuple[ContactSurface, ...]:
    """The contacts of its stance that are feet; all of them if none is."""
    return tuple(contact for contact in robot.soles if contact.is_foot) or robot.soles


def support_polygon(
    robot: Robot,
    data: pin.Data | None = None,
    *,
    margin: float = 0.0,
    loaded: NDArray[np.bool_] | None = None,
) -> SupportPolygon:
    """The convex hull of a robot's feet, seen from above, each smaller by ``margin`` (m).

    The feet are where ``data``, with its frame placements up to date, has them, or else where the
    nominal posture does; with ``loaded``, one for each of ``robot.soles``, those without load do
    not count.
    """
    if data is None:
        data = robot.model.createData()
        pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    bearing = feet(robot)
    if loaded is not None:
        under_load = {robot.soles[i].name for i in np.flatnonzero(loaded)}
        bearing = tuple(foot for foot in bearing if foot.name in under_load)
    corners = [foot_corners(foot, foot.pose(data), margin) for foot in bearing]
    return SupportPolygon(np.concatenate(corners) if corners else np.empty((0, 2)))


def foot_corners(foot: ContactSurface, pose: pin.SE3, margin: float) -> Array:
    """Corners (n, 2) of a foot in the world, ``margin`` inside of its edges."""
    inner = inner_corners(foot, margin)
    return np.asarray((inner @ pose.rotation.T + pose.translation)[:, :2])


def inner_corners(foot: ContactSurface, margin: float) -> Array:
    """The same (n, 3) in the foot's own frame."""
    half = np.array([foot.half_length, foot.half_width])
    kept = np.maximum(1.0 - margin / half, _SMALLEST_SHARE)
    return np.asarray(foot.corners * np.append(kept, 1.0))


class SupportPolygon:
    """The convex hull of points ``corners`` (n, 2), m.

    ``vertices`` (n, 2) go round anticlockwise.  Corners on one line have its two ends as vertices,
    and no inside; without any corner every point counts as inside.
    """

    def __init__(self, corners: Array) -> None:
        self.corners = corners
        self.has_area = len(corners) > 0 and spans_area(corners)
        hull = ConvexHull(corners) if self.has_area else None
        self.vertices = _ends(corners) if hull is None else corners[hull.vertices]
        self._edges = np.empty((0, 3)) if hull is None else hull.equations
        self._may_be_inside = self.has_area or len(corners) == 0
        self._sides = np.roll(self.vertices, -1, axis=0) - self.vertices
        self._square_lengths = np.maximum((self._sides**2).sum(axis=1), np.finfo(float).tiny)

    def contains(self, point: Array) -> bool:
        """Whether ``point`` (2,) is in it."""
        if not self.has_area:
            return self._may_be_inside
        return not (self._edges[:, :2] @ point + self._edges[:, 2] > 0.0).any()

    def reach(self, origin: Array, direction: Array) -> float:
        """Distance (m) from ``origin`` (2,) inside to its edge along a unit vector ``direction``.

        Zero without an area.
        """
        if not self.has_area:
            return 0.0
        hull = ConvexHull(self.corners - origin)
        # Each side: normal . x + offset <= 0; the ray t * direction leaves at the first it meets.
        normals, offsets = hull.equations[:, :2], hull.equations[:, 2]
        rates = normals @ direction
        ahead = rates > 1e-12
        return float(np.min(-offsets[ahead] / rates[ahead]))

    def nearest(self, point: Array) -> Array:
        """The point of it that is nearest to ``point`` (2,)."""
        offsets = point - self.vertices
        left = self._sides[:, 0] * offsets[:, 1] - self._sides[:, 1] * offsets[:, 0]
        if self._may_be_inside and (left >= 0.0).all():
            return point.copy()
        along = (offsets * self._sides).sum(axis=1) / self._square_lengths
        on_sides = self.vertices + np.clip(along, 0.0, 1.0)[:, None] * self._sides
        distances = ((on_sides - point) ** 2).sum(axis=1)
        return np.asarray(on_sides[np.argmin(distances)])


def _ends(points: Array) -> Array:
    """The two ends (2, 2) of points on one line; none of no points."""
    if not len(points):
        return points
    offsets = points - points.mean(axis=0)
    along = offsets @ np.linalg.svd(offsets)[2][0]
    return points[[int(np.argmin(along)), int(np.argmax(along))]]
