"""The convex shapes of a robot's bodies: what can touch the ground, and other bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.robots.mesh_fit import fit_mesh, read_points
from balance.robots.solids import Solid, read_solids

if TYPE_CHECKING:
    from balance.robots.robot import Robot

Array = NDArray[np.float64]
Kind = Literal["box", "sphere", "cylinder", "capsule", "hull"]
Pairs = tuple[tuple[int, int], ...]


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
        if self.kind == "box":
            return coal.Box(*(2.0 * side for side in self.size))
        if self.kind == "sphere":
            return coal.Sphere(self.radius)
        if self.kind == "cylinder":
            return coal.Cylinder(self.size[0], 2.0 * self.size[1])
        if self.kind == "capsule":
            return coal.Capsule(self.size[0], 2.0 * self.size[1])
        return convex(self.points)


def convex(points: Array) -> Any:
    """The hull of ``points`` (n, 3), all of which are its corners, for Pinocchio."""
    hull = ConvexHull(points)
    corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in points:
        corners.append(point)
    for (a, b, c), plane in zip(hull.simplices.tolist(), hull.equations, strict=True):
        # Faces are to turn counter-clockwise when seen from outside.
        out = np.cross(points[b] - points[a], points[c] - points[a]) @ plane[:3] > 0.0
        faces.append(coal.Triangle(a, b, c) if out else coal.Triangle(a, c, b))
    return coal.Convex(corners, faces)


def shape_of(
    kind: Kind, size: tuple[float, ...], placement: pin.SE3, points: Array | None = None
) -> Shape:
    """A shape without a body."""
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


def robot_shapes(robot: Robot) -> tuple[Shape, ...]:
    """The shapes of a robot: those of its URDF for collision, or else those that it shows."""
    solids = read_solids(robot.urdf, robot.package_dirs, "collision")
    if not solids:
        solids = read_solids(robot.urdf, robot.package_dirs, "visual")
    number: dict[str, int] = {}
    found = []
    for solid in solids:
        frame = robot.model.frames[robot.model.getFrameId(solid.link, pin.FrameType.BODY)]
        count = number[solid.link] = number.get(solid.link, 0) + 1
        shape = _fitted(solid)
        found.append(
            replace(
                shape,
                name=solid.link if count == 1 else f"{solid.link} ({count})",
                body=solid.link,
                joint=int(frame.parentJoint),
                placement=frame.placement * shape.placement,
            )
        )
    return tuple(found)


def _fitted(solid: Solid) -> Shape:
    if solid.file is not None:
        fit = fit_mesh(read_points(solid.file, solid.scale), str(solid.file))
        return shape_of(fit.kind, fit.size, solid.placement * fit.placement, fit.points)
    if solid.kind == "box":
        return shape_of("box", tuple(0.5 * side for side in solid.size), solid.placement)
    if solid.kind == "sphere":
        return shape_of("sphere", solid.size, solid.placement)
    radius, length = solid.size
    return shape_of(solid.kind, (radius, 0.5 * length), solid.placement)


def geometry_model(shapes: Sequence[Shape], pairs: Pairs) -> pin.GeometryModel:
    """The shapes and the pairs that may touch, for Pinocchio; both in their order."""
    geometry = pin.GeometryModel()
    for shape in shapes:
        geometry.addGeometryObject(
            pin.GeometryObject(shape.name, shape.joint, shape.placement, shape.geometry())
        )
    for i, j in pairs:
        geometry.addCollisionPair(pin.CollisionPair(i, j))
    return geometry


def touchable_pairs(robot: Robot) -> Pairs:
    """Pairs of shapes that may touch: more than one joint apart, and apart as the robot stands.

    That is in the posture of its own file: a stance in which bodies overlap is a mistake.
    """
    apart = tuple(
        (i, j)
        for (i, one), (j, other) in combinations(enumerate(robot.shapes), 2)
        if not _neighbours(robot.model, one.joint, other.joint)
    )
    depths = distances(robot, apart, robot.q_file)
    return tuple(pair for pair, distance in zip(apart, depths, strict=True) if distance > 0.0)


def distances(robot: Robot, pairs: Pairs, q: Array) -> list[float]:
    """Distance (m) of each pair of a robot's shapes at ``q``; negative where they overlap."""
    geometry = geometry_model(robot.shapes, pairs)
    found = geometry.createData()
    pin.computeDistances(robot.model, robot.model.createData(), geometry, found, q)
    return [float(result.min_distance) for result in found.distanceResults]


def _neighbours(model: pin.Model, one: int, other: int) -> bool:
    return one == other or model.parents[one] == other or model.parents[other] == one
