"""Which points of a robot's shapes are near a plane.

Corners of boxes and hulls, the lowest point of a sphere and of a capsule's ends, and four points of
each end of a cylinder: the lowest of its rim, the one across, and those halfway.  A cylinder that
lies touches with one at each end, one that stands with four, one that rolls with the lowest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots.shapes.shape import Shape

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
UPRIGHT = 1e-9  # sine between a cylinder and the normal below which no point of its rim is lowest


class GroundPoints:
    """The points of all ``shapes`` that can touch a plane first.

    Placements of joints are those of :func:`balance.dynamics.placements.joint_placements`; a plane
    has its origin on it and z out of it.  Points are (x, y, z, 1) in their joint's frame, so that
    their product with a placement is where they are.
    """

    def __init__(self, shapes: Sequence[Shape]) -> None:
        corners = [(n, s) for n, s in enumerate(shapes) if s.kind != "cylinder"]
        ends = [(n, s) for n, s in enumerate(shapes) if s.kind == "cylinder"]
        self.count = len(shapes)
        self._points, self._joints, self._shapes = _listed(corners)
        self._radii = np.array([shapes[number].radius for number in self._shapes])
        self._ends, self._end_joints, self._end_shapes = _listed(ends)
        self._end_radii = np.array([shapes[number].size[0] for number in self._end_shapes])
        turns = [shapes[number].placement.rotation for number in self._end_shapes]
        self._axes = np.array([R[:, 2] for R in turns]).reshape(-1, 3)
        self._sides = np.array([R[:, 0] for R in turns]).reshape(-1, 3)
        balls = [shape.ball for shape in shapes]
        self._shape_joints = np.array([shape.joint for shape in shapes], dtype=np.int64)
        self._centres = np.array([[*centre, 1.0] for centre, _ in balls]).reshape(-1, 4)
        self._extents = np.array([radius for _, radius in balls])

    def lowest(self, placements: Array, plane: pin.SE3) -> Array:
        """Height (n,) of the lowest point of each shape above a plane without end, m."""
        up = heights_of(placements, plane)
        lowest = np.full(self.count, np.inf)
        corners = _dots(self._points, up[self._joints]) - self._radii
        np.minimum.at(lowest, self._shapes, corners)
        along = _dots(self._axes, up[self._end_joints, :3])
        drop = self._end_radii * np.sqrt(np.maximum(1.0 - along * along, 0.0))
        ends = _dots(self._ends, up[self._end_joints]) - drop
        np.minimum.at(lowest, self._end_shapes, ends)
        return lowest

    def near(
        self, placements: Array, plane: pin.SE3, margin: float
    ) -> tuple[Array, Array, Numbers]:
        """Points (n, 3) lower than ``margin`` above a plane, their heights, and whose they are."""
        up = heights_of(placements, plane)
        close = _dots(self._centres, up.take(self._shape_joints, 0)) < self._extents + margin
        if not close.any():
            return np.empty((0, 3)), np.empty(0), np.empty(0, dtype=np.int64)
        rows = close.take(self._shapes).nonzero()[0]
        heights = _dots(self._points.take(rows, 0), up.take(self._joints.take(rows), 0))
        heights -= self._radii.take(rows)
        low = (heights < margin).nonzero()[0]
        rows, heights = rows.take(low), heights.take(low)
        points = _placed(self._points.take(rows, 0), placements.take(self._joints.take(rows), 0))
        points -= self._radii.take(rows)[:, None] * plane.rotation[:, 2]
        numbers = self._shapes.take(rows)
        rows = close.take(self._end_shapes).nonzero()[0]
        middles = _dots(self._ends.take(rows, 0), up.take(self._end_joints.take(rows), 0))
        rows = rows[middles < self._end_radii.take(rows) + margin]
        if not len(rows):
            return points, heights, numbers
        rims = self._rims(rows, up)
        rim_heights = np.einsum("nrk,nk->nr", rims, up.take(self._end_joints.take(rows), 0))
        end, which = (rim_heights < margin).nonzero()
        rows = rows.take(end)
        found = _placed(rims[end, which], placements.take(self._end_joints.take(rows), 0))
        return (
            np.concatenate([points, found]),
            np.concatenate([heights, rim_heights[end, which]]),
            np.concatenate([numbers, self._end_shapes.take(rows)]),
        )

    def _rims(self, rows: Numbers, up: Array) -> Array:
        """Four points (n, 4, 4) of the rims of some ends of cylinders, the lowest first."""
        axes, radii = self._axes.take(rows, 0), self._end_radii.take(rows)[:, None]
        down = -up.take(self._end_joints.take(rows), 0)[:, :3]
        down = down - _dots(down, axes)[:, None] * axes
        length = np.sqrt(_dots(down, down))[:, None]
        upright = length < UPRIGHT
        down = np.where(upright, self._sides.take(rows, 0), down / np.where(upright, 1.0, length))
        across = _cross(axes, down)
        rims = np.repeat(self._ends.take(rows, 0)[:, None], 4, axis=1)
        for place, offset in enumerate((down, across, -down, -across)):
            rims[:, place, :3] += radii * offset
        return rims


def heights_of(placements: Array, plane: pin.SE3) -> Array:
    """Rows (n, 4) whose product with a point of joint n is the point's height above a plane."""
    normal = plane.rotation[:, 2]
    up = placements @ normal
    up[:, 3] -= normal @ plane.translation
    return up


def _listed(shapes: Sequence[tuple[int, Shape]]) -> tuple[Array, Numbers, Numbers]:
    """The points of numbered shapes, the joints that carry them, and the shapes' numbers."""
    points = [shape.placement.act(p) for _, shape in shapes for p in shape.points]
    joints = [shape.joint for _, shape in shapes for _ in shape.points]
    numbers = [number for number, shape in shapes for _ in shape.points]
    with_one = np.array([[*point, 1.0] for point in points]).reshape(-1, 4)
    return with_one, np.array(joints, dtype=np.int64), np.array(numbers, dtype=np.int64)


def _placed(points: Array, placements: Array) -> Array:
    """Points (n, 4), each in its placement (n, 4, 3)."""
    return np.asarray(np.einsum("nk,nkd->nd", points, placements))


def _dots(a: Array, b: Array) -> Array:
    """Products of rows, in a third of the time of a product and a sum."""
    return np.asarray(np.einsum("nk,nk->n", a, b))


def _cross(a: Array, b: Array) -> Array:
    """Cross products of rows; numpy's own takes ten times as long for few of them."""
    return a.take(_NEXT, 1) * b.take(_LAST, 1) - a.take(_LAST, 1) * b.take(_NEXT, 1)
