"""What the plan may count on, in its units: regions of CoP, moment, lean and its rate."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.config import ContactAssumptionsConfig
from balance.control.capture.planner import Region, Regions, Shared
from balance.robots import Robot
from balance.robots.capability.cop import cop_region
from balance.robots.capability.leaning import Leaning
from balance.robots.support_polygon import SupportPolygon, feet, foot_corners

Array = NDArray[np.float64]

LEAST = 1e-6  # of a region's radius: none is a single point
STEEP = 1e-6  # the vertical part of a plane's normal at least
TOLERANCE = 0.05  # of the largest moment, by which planes may overstate it


def plan_regions(robot: Robot, numbers: Leaning, contacts: ContactAssumptionsConfig) -> Regions:
    """The regions of a robot whose law believes in ``contacts``."""
    height = float(robot.com()[2])
    gravity = float(np.linalg.norm(robot.model.gravity.linear))
    excursion = robot.mass * height**2
    momentum = excursion * float(np.sqrt(gravity / height))
    cop = _cop(robot, contacts)
    return Regions(
        cop,
        _moments(numbers, robot.com()[:2] / height, cop, excursion),
        _within(numbers.sides, numbers.lean / excursion),
        _hull(numbers.sides, numbers.rate / momentum),
    )


def _moments(numbers: Leaning, centre: Array, cop: Region, excursion: float) -> Shared:
    """Half-planes of CoP, moment, lean: at most the moment that is interpolated between ``cops``.

    To each side that is a concave function of the CoP, for what is possible is convex: the upper
    side of the hull of its values.  Of the hull's planes those are left out without which it
    changes next to nothing.  No moment at all is allowed wherever the CoP can be.
    """
    places = centre + numbers.cops
    corners = _vertices(cop)
    on_p, on_u, on_h, most = [], [], [], []
    fading = numbers.fading * excursion
    for side, values, faded in zip(numbers.sides, numbers.moment.T, fading, strict=True):
        planes = _above(places, values)
        for a, b, c in _needed(planes, places, float(values.max())):
            least = float((corners @ [a, b]).min() + c)
            on_p.append([-a, -b])
            on_u.append(side)
            # Where the CoP has taken all there is, a lean can take no more.
            on_h.append(-faded * min(max(0.0, least / float(values.max())), 1.0) * side)
            most.append(c + max(0.0, LEAST - least))
    return Shared(np.array(on_p), np.array(on_u), np.array(on_h), np.array(most))


def _above(places: Array, values: Array) -> Array:
    """Planes (n, 3), a x + b y + c, whose least is the concave envelope of ``values``."""
    floor = values.min() - 1.0
    points = np.vstack([np.c_[places, values], np.c_[places, np.full(len(values), floor)]])
    rows = ConvexHull(points, qhull_options="QJ").equations
    rows = rows[rows[:, 2] > STEEP]
    return np.asarray(-rows[:, [0, 1, 3]] / rows[:, 2:3])


def _needed(planes: Array, places: Array, scale: float) -> Array:
    """Those of the ``planes`` without which their least at ``places`` would be another."""
    heights = np.c_[places, np.ones(len(places))] @ planes.T
    target = heights.min(axis=1)
    kept: list[int] = []
    now = np.full(len(places), np.inf)
    while len(kept) < len(planes) and float((now - target).max()) > TOLERANCE * scale:
        worst = int((now - target).argmax()) if kept else 0
        kept.append(int(heights[worst].argmin()))
        now = heights[:, kept].min(axis=1)
    return planes[kept]


def _vertices(region: Region) -> Array:
    """Vertices (n, 2) of a bounded region about a point inside of it."""
    normals, offsets = region.normals, region.offsets
    found = []
    for i in range(len(offsets)):
        for j in range(i):
            pair = normals[[i, j]]
            if abs(np.linalg.det(pair)) < 1e-9:
                continue
            point = np.linalg.solve(pair, offsets[[i, j]])
            if (normals @ point <= offsets + 1e-9).all():
                found.append(point)
    return np.array(found)


def _hull(sides: Array, radii: Array) -> Region:
    """The convex hull of points at ``radii`` to the sides."""
    hull = ConvexHull(sides * np.maximum(radii, LEAST)[:, None])
    return Region(hull.equations[:, :2].copy(), -hull.equations[:, 2])


def _within(sides: Array, radii: Array) -> Region:
    """No more than ``radii`` along any of the sides: between them at most 8 % more."""
    return Region(sides.copy(), np.maximum(radii, LEAST))


def _cop(robot: Robot, contacts: ContactAssumptionsConfig) -> Region:
    """Within the feet less their margin, each pressed by its least force, and within torques."""
    height = float(robot.com()[2])
    pressed = SupportPolygon(pressed_corners(robot, contacts))
    points = pressed.vertices
    for a, b, c in _edges(cop_region(robot, contacts.friction)):
        points = _cut(points, np.array([a, b]), c)
    both = SupportPolygon(points)
    edges = _edges(both if both.has_area else pressed)
    return Region(edges[:, :2].copy(), -edges[:, 2] / height)


def _cut(points: Array, normal: Array, offset: float) -> Array:
    """What a convex polygon, its ``points`` (n, 2) in order, has where normal . x + offset <= 0."""
    kept: list[Array] = []
    for here, there in zip(points, np.roll(points, -1, axis=0), strict=True):
        d_here, d_there = normal.dot(here) + offset, normal.dot(there) + offset
        if d_here <= 0.0:
            kept.append(here)
        if d_here * d_there < 0.0:
            kept.append(here + d_here / (d_here - d_there) * (there - here))
    return np.array(kept).reshape(-1, 2)


def pressed_corners(robot: Robot, contacts: ContactAssumptionsConfig) -> Array:
    """Points (n, 2) whose hull holds the CoP if every foot bears at least the least force, m."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    soles = [foot_corners(foot, foot.pose(data), contacts.cop_margin_m) for foot in feet(robot)]
    weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
    least = contacts.least_normal_force(robot.mass) / weight
    found = []
    for own in range(len(soles)):
        points = (1.0 - least * (len(soles) - 1)) * soles[own]
        for other in range(len(soles)):
            if other != own:
                points = (points[:, None] + least * soles[other][None]).reshape(-1, 2)
        found.append(points)
    return np.concatenate(found)


def _edges(polygon: SupportPolygon) -> Array:
    """Rows (a, b, c) with a x + b y + c <= 0 inside."""
    return np.asarray(ConvexHull(polygon.vertices).equations)
