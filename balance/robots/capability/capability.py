"""All that a robot's own numbers say about what it can recover from, in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.config.plant import PlantConfig
from balance.robots import Robot
from balance.robots.capability.body import level_directions
from balance.robots.capability.cop import cop_region
from balance.robots.capability.excursion import largest_excursion
from balance.robots.capability.flywheel import momentum_bound
from balance.robots.capability.kept import kept
from balance.robots.capability.moments import moments_at_the_edge, windowed_programme
from balance.robots.capability.programme import TURN
from balance.robots.support_polygon import SupportPolygon

Array = NDArray[np.float64]

AZIMUTHS = np.arange(8) * np.pi / 4
FRICTION: float = PlantConfig.model_fields["friction"].default
WINDOW = 0.25  # / omega: moments are means over this time


@dataclass(frozen=True)
class Capability:
    """What a robot in its stance can do against a fall; SI units, world axes.

    ``height`` (m) and ``com`` (2,) are the CoM's height and ground point, ``omega`` (1/s) the rate
    of the pendulum.  ``cop_vertices`` (n, 2) bound the centre of pressure, m.  The body as a
    flywheel: a *lean* (2,) is T lambda, the excursion B delta of the body turned into the direction
    to which it falls, kg m^2; divided by ``mass * height`` it is as good as a sole that is longer
    by that much.  ``lean_vertices`` (n, 2) bound it.  By azimuth (``AZIMUTHS``, n = 8):
    ``lean_postures`` (8, nq) are the furthest leans, ``momentum`` (8,) the largest angular momentum
    to that side, kg m^2/s, ``driving`` and ``braking`` (8,) the largest moments to that side and
    against it, N m, as means over ``WINDOW / omega``, with the CoP at the edge of that side.
    """

    mass: float
    gravity: float
    height: float
    omega: float
    com: Array
    friction: float
    cop_vertices: Array
    lean_vertices: Array
    lean_postures: Array
    momentum: Array
    driving: Array
    braking: Array

    def cop_reach(self, direction: Array) -> float:
        """How far (m) the CoP can be from the CoM's ground point along a unit ``direction``."""
        return SupportPolygon(self.cop_vertices).reach(self.com, direction)

    def lean_reach(self, direction: Array) -> float:
        """Largest part (kg m^2) of a lean along a unit ``direction`` (2,)."""
        return float((self.lean_vertices @ direction).max())


def capability(robot: Robot, friction: float = FRICTION) -> Capability:
    """The numbers of ``robot`` in its stance, found once and kept.

    ``friction`` is that of the ground; its cone is taken by the pyramid around it.
    """
    tree = kept(robot, f"capability friction={friction!r}", lambda: _find(robot, friction))
    arrays: dict[str, Any] = {
        key: np.array(value) if isinstance(value, list) else value for key, value in tree.items()
    }
    return Capability(**arrays)


def _find(robot: Robot, friction: float) -> dict[str, Any]:
    com = robot.com()
    gravity = float(np.linalg.norm(robot.model.gravity.linear))
    height, weight = float(com[2]), robot.mass * gravity
    omega = float(np.sqrt(gravity / height))
    region = cop_region(robot, friction)
    leans, postures = _leans(robot)
    programme = windowed_programme(robot, WINDOW / omega, friction=friction, from_rest=True)
    edges = [
        moments_at_the_edge(programme, direction, region.reach(com[:2], direction))
        for direction in level_directions(AZIMUTHS)
    ]
    return {
        "mass": robot.mass,
        "gravity": gravity,
        "height": height,
        "omega": omega,
        "com": com[:2].tolist(),
        "friction": friction,
        "cop_vertices": region.vertices.tolist(),
        "lean_vertices": leans.tolist(),
        "lean_postures": postures.tolist(),
        "momentum": [momentum_bound(robot, e) for e in level_directions(AZIMUTHS)],
        "driving": [weight * driving for driving, _ in edges],
        "braking": [weight * braking for _, braking in edges],
    }


def _leans(robot: Robot) -> tuple[Array, Array]:
    """The hull (n, 2) of the furthest leans, kg m^2, and the postures (8, nq) that have them.

    A search may end early where bodies are in each other's way; whatever another one found to a
    direction counts there too.
    """
    found = [largest_excursion(robot, e) for e in level_directions(AZIMUTHS)]
    points = np.array([TURN @ excursion.turn[:2] for excursion in found])
    best = [int(np.argmax(points @ e)) for e in level_directions(AZIMUTHS)]
    corners = np.vstack([points, np.zeros(2)])
    hull = ConvexHull(corners)
    return corners[hull.vertices], np.array([found[k].q for k in best])
