"""A convex shape for a mesh: a box, cylinder or capsule that fits it, or else its thinned hull.

The mesh itself may be hollow or bent; what stands for it is convex, so a gap between two prongs of
one mesh is filled.  Fits are compared by their support functions: how far each reaches in a
direction.  The largest difference over all directions is how far one sticks out of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from balance.errors import RobotError
from balance.robots.shapes.solids import Vector3

Array = NDArray[np.float64]
Kind = Literal["box", "sphere", "cylinder", "capsule", "hull"]

REMEDY = "correct it, or set plant.collisions to none"
DIRECTIONS = 2000  # in which the reach of a mesh and of its fit are compared
HULL_TOLERANCE_M = 1e-3  # by which a thinned hull may fall short of the mesh in any of them
STICKING_OUT_M = 4e-3  # by which a box, cylinder or capsule may exceed the mesh it holds
SHORTEST_M = 1e-3  # axis of a capsule
MORE_RADIUS_M = (0.0, 0.5e-3, 1e-3, 2e-3)  # of a capsule than the widest point needs
FACES = 3  # of a mesh, the largest, along which its axes are sought


@dataclass(frozen=True)
class Fit:
    """What stands for a mesh, in the mesh's axes; ``kind``, ``size``, ``points`` as in a Shape."""

    kind: Kind
    size: tuple[float, ...]
    placement: pin.SE3
    points: Array | None = None


def read_points(file: Path, scale: Vector3) -> Array:
    """Points (n, 3) of a mesh file, m."""
    try:
        mesh = coal.MeshLoader().load(str(file), np.array(scale))
        points = np.array(mesh.vertices()).reshape(-1, 3)
    except (ValueError, RuntimeError, IndexError) as error:
        text = f"the mesh {file} cannot be read: {_reason(str(error))}; {REMEDY}"
        raise RobotError(text) from None
    if len(points) < 4 or not np.isfinite(points).all():
        raise RobotError(f"the mesh {file} has {len(points)} points, or not finite ones; {REMEDY}")
    # Collada files may have y upwards, which the mesh reader leaves as it is.
    if file.suffix.lower() == ".dae" and b"Z_UP" not in file.read_bytes():
        points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
    return points


def _reason(text: str) -> str:
    """What the reader has to say, without the lines of its source and its file's name."""
    _, _, told = text.strip().partition("message: ")
    lines = [line for line in told.splitlines()[1:] if not line.startswith("Hint")]
    return lines[0].strip().rstrip(".") if lines else "it is no mesh"


def fit_mesh(points: Array, name: str) -> Fit:
    """The shape that stands for a mesh with these points; ``name`` is for messages.

    A box, cylinder or capsule that holds the mesh and hardly sticks out of it, or else a hull.
    """
    try:
        hull = ConvexHull(points)
    except QhullError:
        raise RobotError(f"the mesh {name} is flat: it has no inside; {REMEDY}") from None
    corners = points[hull.vertices]
    reach = (directions() @ corners.T).max(axis=1)
    fits = [fit for axes in _axes(points, hull) for fit in _primitives(corners, axes)]
    excess = [float((fit_reach(fit) - reach).max()) for fit in fits]
    best = int(np.argmin(excess))
    if excess[best] <= STICKING_OUT_M:
        return fits[best]
    return Fit("hull", (), pin.SE3.Identity(), thinned(corners))


def fit_reach(fit: Fit) -> Array:
    """How far a box, sphere, cylinder or capsule reaches in each of the directions."""
    D = directions()
    local = np.abs(D @ fit.placement.rotation)
    centre = D @ fit.placement.translation
    if fit.kind == "box":
        return np.asarray(centre + local @ np.array(fit.size))
    radius, half = (*fit.size, 0.0)[:2]
    across = np.linalg.norm(local[:, :2], axis=1) if fit.kind == "cylinder" else 1.0
    return np.asarray(centre + half * local[:, 2] + radius * across)


def _axes(points: Array, hull: ConvexHull) -> Iterator[Array]:
    """Axes (3, 3) in columns that may be a mesh's: the last is the normal of a large face.

    The others are those of the smallest rectangle around the mesh when seen along it.
    """
    corners = points[hull.simplices]
    areas = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    # Triangles of one flat face have one normal; so have those on the far side of the body.
    normals, face = np.unique(np.round(hull.equations[:, :3], 3), axis=0, return_inverse=True)
    largest = np.argsort(-np.bincount(face.ravel(), areas), kind="stable")[:FACES]
    for z in normals[largest]:
        z = z / np.linalg.norm(z)
        x = np.eye(3)[int(np.argmin(np.abs(z)))]
        x = x - (x @ z) * z
        x /= np.linalg.norm(x)
        plane = np.column_stack([x, np.cross(z, x)])
        flat = points[hull.vertices] @ plane
        outline = flat[ConvexHull(flat).vertices]
        edges = np.roll(outline, -1, axis=0) - outline
        edges /= np.linalg.norm(edges, axis=1)[:, None]
        sides = np.ptp(outline @ edges.T, axis=0), np.ptp(outline @ _turned(edges).T, axis=0)
        along = plane @ edges[int(np.argmin(sides[0] * sides[1]))]
        yield np.column_stack([along, np.cross(z, along), z])


def _turned(edges: Array) -> Array:
    """Plane vectors (n, 2) turned by 90 degrees."""
    return np.column_stack([-edges[:, 1], edges[:, 0]])


def _primitives(points: Array, axes: Array) -> Iterator[Fit]:
    """The box, the sphere, and cylinders and capsules along ``axes`` that hold all points."""
    local = points @ axes
    low, high = local.min(axis=0), local.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    around = local - middle
    yield Fit("box", tuple(half.tolist()), pin.SE3(axes, axes @ middle))
    yield Fit(
        "sphere", (float(np.linalg.norm(around, axis=1).max()),), pin.SE3(axes, axes @ middle)
    )
    for axis in range(3):
        turn = axes[:, [(axis + 1) % 3, (axis + 2) % 3, axis]]
        z, distance = around[:, axis], np.linalg.norm(np.delete(around, axis, 1), axis=1)
        radius = float(distance.max())
        yield Fit("cylinder", (radius, float(half[axis])), pin.SE3(turn, axes @ middle))
        # A capsule's axis must end where its half sphere still holds the point furthest out; a
        # little more radius may save a lot of length.
        for wide in radius + np.array(MORE_RADIUS_M):
            length = float((np.abs(z) - np.sqrt(wide**2 - distance**2)).max())
            if length > SHORTEST_M:  # or it is a sphere
                yield Fit("capsule", (float(wide), length), pin.SE3(turn, axes @ middle))


def thinned(corners: Array) -> Array:
    """Few of the corners of a hull, whose own falls short of it by at most the tolerance.

    The corner that is missed most is added until none is missed.  Besides the directions that all
    meshes have in common, that of each corner is looked at.
    """
    looked = np.concatenate([directions(), _corner_directions(corners)])
    reaches = looked @ corners.T
    best = reaches.argmax(axis=1)
    full = reaches[np.arange(len(best)), best]
    chosen: list[int] = []
    reached = np.full(len(best), -np.inf)
    while True:
        worst = int(np.argmax(full - reached))
        if full[worst] - reached[worst] <= HULL_TOLERANCE_M and len(chosen) > 3:
            return corners[np.sort(chosen)]
        chosen.append(int(best[worst]))
        np.maximum(reached, reaches[:, chosen[-1]], out=reached)


def _corner_directions(corners: Array) -> Array:
    """The mean normal (n, 3) of the faces at each corner of a hull."""
    hull = ConvexHull(corners)
    normals = np.zeros_like(corners)
    for corner in hull.simplices.T:
        np.add.at(normals, corner, hull.equations[:, :3])
    lengths = np.linalg.norm(normals, axis=1)
    return np.asarray(normals[lengths > 0.0] / lengths[lengths > 0.0, None])


@cache
def directions() -> Array:
    """Unit vectors (n, 3), spread evenly: a spiral from pole to pole."""
    number = np.arange(DIRECTIONS)
    z = 1.0 - (2.0 * number + 1.0) / DIRECTIONS
    angle = np.pi * (1.0 + np.sqrt(5.0)) * number
    r = np.sqrt(1.0 - z * z)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
