"""Convex polygons of few points in a plane, such as the support of two feet, in each step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]


@compiled
def convex_hull(points: Array) -> Array:
    """Vertices (k, 2) of the hull of ``points`` (n, 2), anticlockwise, by Andrew's chains.

    Points in line with two others are no vertices.
    """
    n, k, first = len(points), 0, 0
    order = np.argsort(points[:, 0])
    for i in range(1, n):  # of points one above the other the lowest comes first
        j = i
        while j > 0 and (
            points[order[j], 0] == points[order[j - 1], 0]
            and points[order[j], 1] < points[order[j - 1], 1]
        ):
            order[j], order[j - 1] = order[j - 1], order[j]
            j -= 1
    hull = np.empty((2 * n, 2))
    for chain in range(2):  # below from left to right, then above from right to left
        for step in range(chain, n):
            x, y = points[order[n - 1 - step if chain else step]]
            while k >= first + 2 - chain:
                a_x, a_y = hull[k - 2]
                b_x, b_y = hull[k - 1]
                if (b_x - a_x) * (y - a_y) - (b_y - a_y) * (x - a_x) > 0.0:
                    break
                k -= 1
            hull[k, 0], hull[k, 1] = x, y
            k += 1
        first = k
    return hull[: max(k - 1, 1)]


@compiled
def is_inside(vertices: Array, point: Array) -> bool:
    """Whether ``point`` (2,) is in a polygon of ``vertices`` (n, 2) that go round anticlockwise."""
    last_x, last_y = vertices[-1]
    for x, y in vertices:
        if (x - last_x) * (point[1] - last_y) - (y - last_y) * (point[0] - last_x) < 0.0:
            return False
        last_x, last_y = x, y
    return True


@compiled
def nearest_in(vertices: Array, point: Array) -> Array:
    """The point (2,) of such a polygon that is nearest to ``point`` (2,)."""
    if is_inside(vertices, point):
        return point.copy()
    best, least = vertices[0].copy(), np.inf
    last_x, last_y = vertices[-1]
    for x, y in vertices:
        side_x, side_y = x - last_x, y - last_y
        square = max(side_x * side_x + side_y * side_y, 1e-300)
        along = ((point[0] - last_x) * side_x + (point[1] - last_y) * side_y) / square
        along = min(max(along, 0.0), 1.0)
        on_x, on_y = last_x + along * side_x, last_y + along * side_y
        distance = (on_x - point[0]) ** 2 + (on_y - point[1]) ** 2
        if distance < least:
            least, best[0], best[1] = distance, on_x, on_y
        last_x, last_y = x, y
    return best
