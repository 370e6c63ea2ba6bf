"""One convex shape of a body."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.robots.shapes.mesh_fit import Kind

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """A convex part of a body: the convex hull of ``points``, grown by ``radius``.

    ``body`` is a link of the URDF, ``joint`` that of the model which carries it, ``placement`` is
    in the joint's frame.  ``size`` (m): half sides of a box; radius of a sphere; radius and half
    length, along z, of a cylinder or capsule; nothing for a hull.  ``points`` are in the shape's
    axes: the corners of a box or hull, the centre of a sphere, the ends of a capsule's axis.  Those
    of a cylinder are the centres of its ends, whose rims its size gives.
    """

    name: str
    body: str
    joint: int
    placement: pin.SE3
    kind: Kind
    size: tuple[float, ...]
    points: Array
    radius: float = 0.0

    def geometry(self) -> Any:
        """The shape for Pinocchio's collision tests."""
        return self._geometry

    @cached_property
    def ball(self) -> tuple[Array, float]:
        """Centre, in the joint's frame, and radius of a ball that holds the shape."""
        middle = 0.5 * (self.points.min(axis=0) + self.points.max(axis=0))
        rim = self.size[0] if self.kind == "cylinder" else 0.0
        across = np.linalg.norm(self.points - middle, axis=1)
        return self.placement.act(middle), float(np.hypot(across, rim).max() + self.radius)

    @cached_property
    def _geometry(self) -> Any:
        if self.kind == "box":
            return coal.Box(*(2.0 * side for side in self.size))
        if self.kind == "sphere":
            return coal.Sphere(self.radius)
        if self.kind == "cylinder":
            return coal.Cylinder(self.size[0], 2.0 * self.size[1])
        if self.kind == "capsule":
            return coal.Capsule(self.size[0], 2.0 * self.size[1])
        return _convex(self.points)

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to another process: the library's own shape is made anew there."""
        return {key: value for key, value in vars(self).items() if key != "_geometry"}

    def reach(self, direction: Array) -> float:
        """How far it reaches from its origin along a unit vector of its axes, m."""
        rim = self.size[0] * np.hypot(*direction[:2]) if self.kind == "cylinder" else 0.0
        return float((self.points @ direction).max() + self.radius + rim)

    @cached_property
    def extent(self) -> float:
        """Largest distance of any of its points from its origin, m."""
        rim = self.size[0] if self.kind == "cylinder" else 0.0
        lengths = np.linalg.norm(self.points, axis=1)
        return float(np.hypot(lengths, rim).max() + self.radius)


def shape_of(
    kind: Kind, size: tuple[float, ...], placement: pin.SE3, points: Array | None = None
) -> Shape:
    """A shape without a name and a body; ``points`` are those of a hull."""
    radius = 0.0
    if kind == "box":
        x, y, z = size
        points = np.array([[a, b, c] for a in (-x, x) for b in (-y, y) for c in (-z, z)])
    elif kind == "sphere":
        points, radius = np.zeros((1, 3)), size[0]
    elif kind in ("cylinder", "capsule"):
        points = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]])
        radius = size[0] if kind == "capsule" else 0.0
    assert points is not None
    return Shape("", "", 0, placement, kind, size, points, radius)


def _convex(points: Array) -> Any:
    """The hull of ``points`` (n, 3), all of which are its corners."""
    hull = ConvexHull(points)
    a, b, c = (points[hull.simplices[:, k]] for k in range(3))
    # Faces are to turn counter-clockwise when seen from outside.
    inwards = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0.0
    triangles = np.where(inwards[:, None], hull.simplices[:, [0, 2, 1]], hull.simplices)
    corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    corners.extend(list(points))
    faces.extend([coal.Triangle(*corner) for corner in triangles.tolist()])
    return coal.Convex(corners, faces)
