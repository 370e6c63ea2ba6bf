"""What a robot's links look like: triangles and a colour for each, in the link's own frame."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.simulation.plants.visuals import colour_of, triangles_of, visual_shapes

Array = NDArray[np.float64]
Triangles = NDArray[np.int64]
Mesh = tuple[Array, Triangles]

SECTIONS = 24  # of a round shape


@dataclass(frozen=True)
class Look:
    """All that a link has of one colour (RGBA, 0 to 1): points (m) and triangles of them."""

    link: str
    points: Array
    triangles: Triangles
    colour: tuple[float, float, float, float]


def looks_of(robot: Robot) -> list[Look]:
    """The visual shapes of the URDF by link and colour; none if its meshes cannot be read."""
    parts: dict[tuple[str, tuple[float, ...]], list[Mesh]] = defaultdict(list)
    for shape in visual_shapes(robot):
        frame = robot.model.frames[shape.parentFrame]
        placement = frame.placement.actInv(shape.placement)
        points, triangles = _mesh(shape)
        moved = points @ placement.rotation.T + placement.translation
        parts[frame.name, tuple(map(float, colour_of(shape)))].append((moved, triangles))
    looks = []
    for (link, (red, green, blue, alpha)), meshes in parts.items():
        points, triangles = _joined(meshes)
        looks.append(Look(link, points, triangles, (red, green, blue, alpha)))
    return looks


def _joined(meshes: list[Mesh]) -> Mesh:
    first = np.cumsum([0, *(len(points) for points, _ in meshes)])
    triangles = [part + begin for (_, part), begin in zip(meshes, first, strict=False)]
    return np.concatenate([points for points, _ in meshes]), np.concatenate(triangles)


def _mesh(shape: pin.GeometryObject) -> Mesh:
    geometry, kind = shape.geometry, type(shape.geometry).__name__
    if kind == "Box":
        return box(np.array(geometry.halfSide))
    if kind == "Sphere":
        return turned(_arc(geometry.radius, -0.5 * np.pi, 0.5 * np.pi))
    if kind == "Cylinder":
        r, h = geometry.radius, geometry.halfLength
        return turned(np.array([[0.0, -h], [r, -h], [r, h], [0.0, h]]))
    if kind == "Capsule":
        r, h = geometry.radius, geometry.halfLength
        low, high = _arc(r, -0.5 * np.pi, 0.0), _arc(r, 0.0, 0.5 * np.pi)
        way = np.array([0.0, h])
        return turned(np.concatenate([low - way, high + way]))
    points, triangles = triangles_of(shape)
    return points * np.array(shape.meshScale), triangles


def box(half: Array) -> Mesh:
    """A box about the origin with these half sides."""
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij")).reshape(3, -1).T
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [corners for a, b, c, d in sides for corners in ((a, b, c), (a, c, d))]
    return signs * half, np.array(triangles)


def _arc(radius: float, begin: float, end: float) -> Array:
    """Points (r, z) of a circle about the origin, from an angle over the plane to another."""
    angles = np.linspace(begin, end, SECTIONS // 2 + 1)
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def turned(profile: Array) -> Mesh:
    """The solid of a line of points (r, z), lowest first, that turns about the z axis."""
    angles = np.linspace(0.0, 2.0 * np.pi, SECTIONS, endpoint=False)
    radii, heights = profile.T
    points = np.stack(
        [
            np.outer(radii, np.cos(angles)),
            np.outer(radii, np.sin(angles)),
            np.repeat(heights[:, None], SECTIONS, axis=1),
        ],
        axis=2,
    ).reshape(-1, 3)
    here = np.arange(SECTIONS)
    there = (here + 1) % SECTIONS
    rings = np.arange(len(profile) - 1)[:, None] * SECTIONS
    a, b = rings + here, rings + there
    c, d = b + SECTIONS, a + SECTIONS
    both = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    return points, both.reshape(-1, 3)
