"""The visual shapes of a robot's URDF, as whatever draws a robot needs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot

Array = NDArray[np.float64]

DEFAULT_COLOUR = np.array([0.62, 0.64, 0.67, 1.0])


def colour_of(shape: pin.GeometryObject) -> Array:
    """RGBA; Pinocchio reads a shape without a colour as black."""
    colour = np.array(shape.meshColor)
    return colour if colour[:3].any() else DEFAULT_COLOUR


def visual_shapes(robot: Robot) -> list[pin.GeometryObject]:
    """All visual shapes; none if a mesh cannot be read."""
    try:
        geometry = pin.buildGeomFromUrdf(
            robot.model,
            str(robot.urdf),
            pin.GeometryType.VISUAL,
            package_dirs=[str(folder) for folder in robot.package_dirs],
        )
    except (ValueError, RuntimeError):
        return []
    return list(geometry.geometryObjects)


def triangles_of(shape: pin.GeometryObject) -> tuple[Array, NDArray[np.int64]]:
    """Points (n, 3) in m and triangles (m, 3) of a mesh."""
    mesh, path = shape.geometry, Path(shape.meshPath)
    points = np.array(mesh.vertices())
    corners = [mesh.tri_indices(index) for index in range(mesh.num_tris)]
    triangles = np.array([(corner[0], corner[1], corner[2]) for corner in corners])
    if path.suffix.lower() == ".dae":
        triangles = _renumbered(triangles)
        if b"Z_UP" not in path.read_bytes():
            points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0]
    return points, triangles


def _renumbered(triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles of a Collada file with the points that they mean.

    Coal reads the parts of a node (one for each material) one after another, but counts the points
    of each part from the first point of the node.  Points are numbered as they first occur, so a
    part begins with three points in a row.
    """
    result = np.empty_like(triangles)
    used = shift = 0
    nodes = {0}
    for index, (a, b, c) in enumerate(triangles):
        if b == a + 1 and c == a + 2:
            if a == used:  # a new node, or three new points in the first part of one
                nodes.add(a)
                shift = 0
            elif a in nodes and a + shift != used:
                shift = used - a
        result[index] = (a + shift, b + shift, c + shift)
        used = max(used, int(result[index].max()) + 1)
    return result
