"""Where contacts and torque limits let a robot's centre of pressure be, as a pendulum.

The geometric support polygon takes ankles of any strength for granted.  Here the CoP region is the
set of points p for which there are accelerations, wrenches in the cones and torques within their
limits that have the CoP there, the weight on the ground and no moment about the CoM (u = 0 in
:mod:`balance.robots.capability.programme`): what a linear inverted pendulum needs of the robot, in
its nominal posture and at rest.  It is convex.  Its vertices are found as those of any projected
polytope (Bretl and Lall, "Testing static equilibrium for legged robots", T-RO 2008): the normal of
each edge of what is known asks for a vertex beyond it, until there is none.

Differs: Bretl and Lall have no torque limits and a robot at rest over its CoP.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.errors import RobotError
from balance.robots import Robot
from balance.robots.capability.kept import kept
from balance.robots.capability.programme import TorqueProgramme
from balance.robots.support_polygon import SupportPolygon, feet, support_polygon

Array = NDArray[np.float64]

SAME_M = 1e-7  # a support that is larger by less is that of a vertex which is known
LEVEL = 1e-9


def cop_region(robot: Robot, friction: float | None = None) -> SupportPolygon:
    """The CoP region of ``robot`` in the world; its support polygon where no torque binds.

    ``friction`` is half the side of the friction pyramid at unit height, none unless given.  Where
    hands bear load too, or feet are not on level ground, it is the support polygon.
    """
    polygon = support_polygon(robot)
    if not polygon.has_area or not stands_on_level_feet(robot):
        return polygon
    what = f"CoP region friction={friction!r}"
    tree = kept(robot, what, lambda: _find(robot, polygon, friction), shapes=False)
    corners = tree["corners"]
    return polygon if corners is None else SupportPolygon(np.array(corners))


def _find(robot: Robot, polygon: SupportPolygon, friction: float | None) -> dict[str, Any]:
    """The region's corners in the world, or None if it is the whole ``polygon``."""
    programme = TorqueProgramme(robot, friction=friction)
    centre = robot.com()[:2]
    if all(_holds(programme, vertex - centre) for vertex in polygon.vertices):
        return {"corners": None}  # the region is convex, and all vertices are in it
    return {"corners": (centre + _vertices(programme)).tolist()}


def stands_on_level_feet(robot: Robot) -> bool:
    """Whether nothing but feet bears the robot, all on the level ground."""
    level = all(
        abs(sole.plane.rotation[2, 2] - 1.0) < LEVEL and abs(sole.plane.translation[2]) < LEVEL
        for sole in robot.soles
    )
    return level and len(feet(robot)) == len(robot.soles) and all(s.is_foot for s in robot.soles)


def _holds(programme: TorqueProgramme, point: Array) -> bool:
    """Whether the CoP can be at ``point`` (2,), to :data:`SAME_M`."""
    distance = float(np.linalg.norm(point))
    along = point / distance
    across = np.array([-along[1], along[0]])
    conditions = np.vstack([programme.u, across @ programme.p])
    return programme.most(along @ programme.p, conditions, np.zeros(3))[0] > distance - SAME_M


def _vertices(programme: TorqueProgramme) -> Array:
    """Vertices (n, 2) of the region, m from the CoM's ground point."""

    def farthest(normal: Array) -> Array:
        unknowns = programme.most(normal @ programme.p, programme.u, np.zeros(2))[1]
        return np.asarray(programme.p @ unknowns)

    found = [farthest(normal) for normal in np.array([[1.0, 0], [0, 1.0], [-1.0, 0], [0, -1.0]])]
    closed: set[tuple[float, ...]] = set()
    if np.ptp(found, axis=0).min() < SAME_M:
        raise RobotError(
            "its joints cannot move the centre of pressure in every direction: within their torque "
            "limits it has no ankle limit; give it joints that roll and pitch, and torque for them"
        )
    while True:
        hull = ConvexHull(np.array(found))
        new = []
        for a, b, c in hull.equations:
            key = (round(a, 6), round(b, 6), round(c, 8))
            if key in closed:
                continue
            closed.add(key)
            point = farthest(np.array([a, b]))
            if a * point[0] + b * point[1] + c > SAME_M:
                new.append(point)
        if not new:
            return np.array(found)[hull.vertices]
        found += new
