"""The convex shapes of a robot's bodies: what can touch the ground, and other bodies.

Boxes, spheres, cylinders and capsules are those of the URDF.  A mesh has a fit
(:mod:`balance.robots.shapes.mesh_fit`).  Feet end above their soles
(:mod:`balance.robots.shapes.foot_clip`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots.shapes.fit_cache import fitted
from balance.robots.shapes.foot_clip import above_soles
from balance.robots.shapes.mesh_fit import Fit, Kind
from balance.robots.shapes.shape import Shape, shape_of
from balance.robots.shapes.solids import Solid, read_solids

if TYPE_CHECKING:
    from balance.robots.robot import Robot

Array = NDArray[np.float64]
Pairs = tuple[tuple[int, int], ...]

APART_M = 2e-3  # shapes that are nearer as the robot stands are taken to belong together


def solids_of(robot: Robot) -> tuple[list[Solid], str]:
    """The solids that a robot touches with, and the tag under which its URDF has them.

    Where it has none for collision, those that it shows are taken.
    """
    for tag in ("collision", "visual"):
        if solids := read_solids(robot.urdf, robot.package_dirs, tag):
            return solids, tag
    return [], "collision"


def shapes_in_words(robot: Robot) -> str:
    """How many shapes a robot touches with, and where they come from."""
    solids, tag = solids_of(robot)
    meshes = sum(solid.file is not None for solid in solids)
    number = f"{len(solids)} shape{'' if len(solids) == 1 else 's'}"
    if tag == "visual":
        return f"{number} fitted to its visual ones"
    return f"{number}, {meshes} of them meshes" if meshes else number


def robot_shapes(robot: Robot) -> tuple[Shape, ...]:
    """The shapes of a robot, feet cut off above their soles."""
    fits: dict[object, Fit] = {}
    count: dict[str, int] = {}
    found = []
    for solid in solids_of(robot)[0]:
        frame = robot.model.frames[robot.model.getFrameId(solid.link, pin.FrameType.BODY)]
        number = count[solid.link] = count.get(solid.link, 0) + 1
        shape = _shape(solid, fits)
        found.append(
            replace(
                shape,
                name=solid.link if number == 1 else f"{solid.link} ({number})",
                body=solid.link,
                joint=int(frame.parentJoint),
                placement=frame.placement * shape.placement,
            )
        )
    return tuple(above_soles(found, robot.model, robot.surfaces, robot.q_file))


def _shape(solid: Solid, fits: dict[object, Fit]) -> Shape:
    """The shape of a solid in its link's frame; ``fits`` are those of meshes seen so far."""
    if solid.file is not None:
        key = solid.file, solid.scale
        fit = fits[key] = fits.get(key) or fitted(*key)
        return shape_of(fit.kind, fit.size, solid.placement * fit.placement, fit.points)
    if solid.kind == "box":
        return shape_of("box", tuple(0.5 * side for side in solid.size), solid.placement)
    if solid.kind == "sphere":
        return shape_of("sphere", solid.size, solid.placement)
    radius, length = solid.size
    kind: Kind = "cylinder" if solid.kind == "cylinder" else "capsule"
    return shape_of(kind, (radius, 0.5 * length), solid.placement)


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
    gaps = distances(robot, apart, robot.q_file)
    return tuple(pair for pair, gap in zip(apart, gaps, strict=True) if gap > APART_M)


def distances(robot: Robot, pairs: Pairs, q: Array) -> list[float]:
    """Distance (m) of each pair of a robot's shapes at ``q``; negative where they overlap."""
    geometry = geometry_model(robot.shapes, pairs)
    found = geometry.createData()
    pin.computeDistances(robot.model, robot.model.createData(), geometry, found, q)
    return [float(result.min_distance) for result in found.distanceResults]


def _neighbours(model: pin.Model, one: int, other: int) -> bool:
    return one == other or model.parents[one] == other or model.parents[other] == one
