"""What the plan may count on, in its units: regions of CoP, moment, lean and its rate."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.config import ContactAssumptionsConfig
from balance.control.capture.planner import Region, Regions
from balance.robots import Robot
from balance.robots.capability.cop import cop_region
from balance.robots.capability.leaning import Leaning
from balance.robots.support_polygon import SupportPolygon, feet, foot_corners

Array = NDArray[np.float64]

LEAST = 1e-6  # of a region's radius: none is a single point


def plan_regions(robot: Robot, numbers: Leaning, contacts: ContactAssumptionsConfig) -> Regions:
    """The regions of a robot whose law believes in ``contacts``."""
    height = float(robot.com()[2])
    gravity = float(np.linalg.norm(robot.model.gravity.linear))
    excursion = robot.mass * height**2
    momentum = excursion * float(np.sqrt(gravity / height))
    return Regions(
        _cop(robot, contacts),
        Region(numbers.sides, numbers.moment.min(axis=0)),
        _hull(numbers.sides, numbers.lean / excursion),
        _hull(numbers.sides, numbers.rate / momentum),
    )


def _hull(sides: Array, radii: Array) -> Region:
    """The convex hull of points at ``radii`` to the sides."""
    hull = ConvexHull(sides * np.maximum(radii, LEAST)[:, None])
    return Region(hull.equations[:, :2].copy(), -hull.equations[:, 2])


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
