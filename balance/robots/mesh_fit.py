"""A convex shape for a mesh: a box, capsule or cylinder that fits it, or else its thinned hull.

The mesh itself may be hollow or bent; what stands for it is convex, so a gap between two prongs of
one mesh is filled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from balance.errors import RobotError
from balance.robots.solids import Vector3

Array = NDArray[np.float64]

DIRECTIONS = 2000  # in which the extent of a mesh and of its fit are compared
HULL_TOLERANCE_M = 1e-3  # by which a thinned hull may fall short of the mesh in any of them


@dataclass(frozen=True)
class Fit:
    """What stands for a mesh, in the mesh's axes; kind, size and points as in a Shape."""

    kind: str
    size: tuple[float, ...]
    placement: pin.SE3
    points: Array


def read_points(file: Path, scale: Vector3) -> Array:
    """Points (n, 3) of a mesh file, m."""
    try:
        mesh = coal.MeshLoader().load(str(file), np.array(scale))
        points = np.array(mesh.vertices()).reshape(-1, 3)
    except (ValueError, RuntimeError, IndexError) as error:
        reason = (str(error).strip().splitlines() or ["not a mesh"])[0]
        raise RobotError(f"the mesh {file} cannot be read: {reason}") from None
    if len(points) < 4 or not np.isfinite(points).all():
        raise RobotError(f"the mesh {file} holds no body: it has {len(points)} finite points")
    # Collada files may have y upwards, which the mesh reader leaves as it is.
    if file.suffix.lower() == ".dae" and b"Z_UP" not in file.read_bytes():
        points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
    return points


def fit_mesh(points: Array, name: str) -> Fit:
    """The shape that stands for a mesh with these points; ``name`` is for messages."""
    try:
        hull = points[ConvexHull(points).vertices]
    except QhullError:
        raise RobotError(f"the mesh {name} is flat: all its points lie in one plane") from None
    return Fit("hull", (), pin.SE3.Identity(), thinned(hull))


def thinned(points: Array) -> Array:
    """Few of the points, whose hull falls short of that of all by at most the tolerance.

    The point that is missed most is added until none is missed.  Between the directions a point may
    be missed that sticks out in a narrow cone only, which is to say hardly.
    """
    extents = directions() @ points.T
    best = extents.argmax(axis=1)
    full = extents[np.arange(len(best)), best]
    chosen: list[int] = []
    reached = np.full(len(best), -np.inf)
    while True:
        worst = int(np.argmax(full - reached))
        if full[worst] - reached[worst] <= HULL_TOLERANCE_M:
            return points[np.sort(chosen)]
        chosen.append(int(best[worst]))
        np.maximum(reached, extents[:, chosen[-1]], out=reached)


@cache
def directions() -> Array:
    """Unit vectors (n, 3), spread evenly: a spiral from pole to pole."""
    number = np.arange(DIRECTIONS)
    z = 1.0 - (2.0 * number + 1.0) / DIRECTIONS
    angle = np.pi * (1.0 + np.sqrt(5.0)) * number
    r = np.sqrt(1.0 - z * z)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
