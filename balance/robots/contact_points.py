"""The wrenches that a few contact points can transmit, and the cone of any contact surface.

A force f in the friction pyramid at a point p gives the wrench (f, p x f).  Wrenches of unit normal
force are the convex hull of those at the pyramids' edges; its facets are the rows of the cone.  The
hull has five dimensions; four if the points lie on one line, about which they give no moment; two
for a single point.  For the corners of a rectangle its facets are the rows of
:func:`balance.robots.contacts.wrench_cone`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.errors import InputError
from balance.robots.contacts import (
    POINT_RADIUS_M,
    ContactSurface,
    WrenchCone,
    check_normal_forces,
    spans_area,
    wrench_cone,
)

Array = NDArray[np.float64]

_SQUARE = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
_ZERO = 1e-9  # entries of a scaled row below this are rounding
_FRICTION = {
    (-1, 0): "friction forwards",
    (1, 0): "friction backwards",
    (0, -1): "friction to the left",
    (0, 1): "friction to the right",
}


def surface_cone(
    surface: ContactSurface,
    pyramid_friction: float,
    *,
    cop_margin: float = 0.0,
    min_normal_force: float = 0.0,
    max_normal_force: float | None = None,
) -> WrenchCone:
    """The cone of a rectangle or of points; see :func:`balance.robots.contacts.wrench_cone`."""
    if surface.points:
        points = np.array(surface.points)
        return points_cone(points, pyramid_friction, cop_margin, min_normal_force, max_normal_force)
    return wrench_cone(
        surface.half_length,
        surface.half_width,
        pyramid_friction,
        cop_margin=cop_margin,
        min_normal_force=min_normal_force,
        max_normal_force=max_normal_force,
    )


def points_cone(
    points: Array,
    pyramid_friction: float,
    cop_margin: float = 0.0,
    min_normal_force: float = 0.0,
    max_normal_force: float | None = None,
) -> WrenchCone:
    """Wrenches at the origin that forces at ``points`` (n, 2) in m can add up to.

    Points that span no area lie along x, or are one point in the origin.  Their rows are about what
    such a contact transmits (``ContactSurface.held``), the columns of the other components being
    zero.  They have no edge from which the centre of pressure could keep ``cop_margin``.
    """
    mu = pyramid_friction
    if not 0.0 < mu < np.inf or not np.isfinite(points).all():
        raise InputError(f"a contact needs finite points and positive friction; friction is {mu}")
    check_normal_forces(min_normal_force, max_normal_force)
    if spans_area(points):
        radius = _inner_radius(points)
        if not 0.0 <= cop_margin < radius:
            raise InputError(
                f"cop_margin is {cop_margin} m; it must be at least 0 and below {radius:.4g} m, "
                "the radius of the largest circle between the points of the contact"
            )
    else:
        cop_margin = 0.0
    rows, names = [np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])], ["normal force at its minimum"]
    for row in _facets(points, mu):
        force, moment = row[:2], row[3:]
        if not force.any() and moment[2] == 0.0:
            row[2] -= cop_margin * np.hypot(*moment[:2])
            names.append("CoP at an edge of its points")
        elif not moment.any():
            names.append(_FRICTION[(int(np.sign(force[0])), int(np.sign(force[1])))])
        else:
            names.append("yaw friction of its points")
        rows.append(row)
    lower = np.zeros(len(rows))
    lower[0] = min_normal_force
    if max_normal_force is not None:
        rows.append(-rows[0])
        names.append("normal force at its maximum")
        lower = np.append(lower, -max_normal_force)
    return WrenchCone(np.array(rows), lower, tuple(names))


def along_a_line(points: Array) -> tuple[Array, Array]:
    """``points`` (n, 2) in axes with x along the line that they are on, and those axes (3, 3).

    The axes stay as they are where points span an area, or are one.
    """
    offsets = points - points.mean(axis=0)
    if spans_area(points) or np.abs(offsets).max() <= POINT_RADIUS_M:
        return points, np.eye(3)
    x = np.linalg.svd(offsets)[2][0]
    x = x * np.sign(x[np.argmax(np.abs(x))])
    R = np.array([[x[0], -x[1], 0.0], [x[1], x[0], 0.0], [0.0, 0.0, 1.0]])
    return points @ R[:2, :2], R


def _facets(points: Array, mu: float) -> Array:
    """Rows (n, 6), not negative for the wrenches that forces in the pyramids add up to."""
    x, y = np.repeat(points, 4, axis=0).T
    f_x, f_y = mu * np.tile(_SQUARE, (len(points), 1)).T
    # f_x, f_y, tau_x, tau_y, tau_z at f_z = 1, in units of what they can be.
    reach = float(np.abs(points - points.mean(axis=0)).max())
    scale = np.array([mu, mu, reach, reach, mu * reach])
    own = np.array(_transmitted(points))
    corners = np.stack([f_x, f_y, y, -x, x * f_y - y * f_x], axis=1)[:, own] / scale[own]
    hull = ConvexHull(corners)
    # Facets come in simplices, of which several lie in one plane.
    _, kept = np.unique(np.round(hull.equations, 8), axis=0, return_index=True)
    equations = hull.equations[kept]
    equations[np.abs(equations) < _ZERO] = 0.0
    facets = np.zeros((len(equations), 5))
    facets[:, own] = -equations[:, :-1] / scale[own]
    return np.insert(facets, 2, -equations[:, -1], axis=1)


def _transmitted(points: Array) -> list[int]:
    """Which of f_x, f_y, tau_x, tau_y, tau_z forces at ``points`` can add up to."""
    if spans_area(points):
        return [0, 1, 2, 3, 4]
    return [0, 1, 3, 4] if np.abs(points).max() > POINT_RADIUS_M else [0, 1]


def _inner_radius(points: Array) -> float:
    """Radius (m) of the largest circle inside the convex hull of points (n, 2)."""
    from scipy.optimize import linprog  # slow to import, and only points need it

    edges = ConvexHull(points).equations
    found = linprog(
        [0.0, 0.0, -1.0],
        A_ub=np.column_stack([edges[:, :2], np.ones(len(edges))]),
        b_ub=-edges[:, 2],
        bounds=[(None, None), (None, None), (0.0, None)],
    )
    return float(found.x[2])
