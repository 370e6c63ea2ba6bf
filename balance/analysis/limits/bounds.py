"""The bounds of the pendulum with a flywheel, in metres, from a robot's own numbers.

All vectors are level, from the CoM's ground point, and in the direction of the fall: h is the lean
over m z, k its rate over omega, u the moment over m g turned (:mod:`balance.robots.capability`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from balance.robots import Robot
from balance.robots.capability import capability, cop_region
from balance.robots.capability.body import level_directions
from balance.robots.capability.flywheel import momentum_bound
from balance.robots.capability.kept import kept
from balance.robots.capability.moments import moment_rows, windowed_programme
from balance.robots.support_polygon import SupportPolygon

Array = NDArray[np.float64]

ROUND = np.arange(16) * np.pi / 8
WINDOWS = (
    (0.05, True),
    (0.1, True),
    (0.2, True),
    (0.4, True),
    (0.8, True),
    (0.1, False),
    (0.4, False),
)
"""Times, in 1 / omega, over which mean moments are bounded; whether they begin at rest."""


@dataclass(frozen=True)
class HalfPlanes:
    """``normals @ point <= most`` for points (2,) in m."""

    normals: Array
    most: Array

    @classmethod
    def of(cls, vertices: Array) -> HalfPlanes:
        """Those of a convex polygon."""
        equations = ConvexHull(vertices).equations
        return cls(equations[:, :2], -equations[:, 2])


@dataclass(frozen=True)
class MomentWindow:
    """``on_p @ p + on_u @ u <= most`` for means of p and u over ``length`` (1 / omega).

    ``from_rest``: only if the window begins at rest.
    """

    length: float
    from_rest: bool
    on_p: Array
    on_u: Array
    most: Array


@dataclass(frozen=True)
class PendulumBounds:
    """What bounds a pendulum with a flywheel; lengths in m, rates in units of ``omega`` (1/s).

    ``cop`` bounds p, ``lean`` h, ``momentum`` k and ``moments`` (p, u); ``slip`` (m) is the
    largest distance of p + u from the CoM that friction allows.  Without ``lean`` there is no
    flywheel.
    """

    mass: float
    height: float
    omega: float
    cop: HalfPlanes
    slip: float | None = None
    lean: HalfPlanes | None = None
    momentum: HalfPlanes | None = None
    moments: Sequence[MomentWindow] = ()


def robot_bounds(robot: Robot, friction: float) -> PendulumBounds:
    """The bounds of a robot in its stance."""
    numbers = capability(robot, friction)
    mass_height = numbers.mass * numbers.height
    tree = kept(robot, f"limit bounds friction={friction!r}", lambda: _find(robot, friction))
    return PendulumBounds(
        mass=numbers.mass,
        height=numbers.height,
        omega=numbers.omega,
        cop=HalfPlanes.of(numbers.cop_vertices - numbers.com),
        slip=friction * numbers.height,
        lean=HalfPlanes.of(numbers.lean_vertices / mass_height),
        momentum=HalfPlanes(
            level_directions(ROUND), np.array(tree["momentum"]) / (mass_height * numbers.omega)
        ),
        moments=[
            MomentWindow(
                window["length"],
                window["from_rest"],
                *(np.array(window[key]) for key in ("on_p", "on_u", "most")),
            )
            for window in tree["moments"]
        ],
    )


def ankle_bounds(robot: Robot) -> PendulumBounds:
    """The bounds of the ankle limit: the CoP region alone, at any friction."""
    numbers_com = robot.com()
    gravity = float(np.linalg.norm(robot.model.gravity.linear))
    region: SupportPolygon = cop_region(robot)
    return PendulumBounds(
        mass=robot.mass,
        height=float(numbers_com[2]),
        omega=float(np.sqrt(gravity / numbers_com[2])),
        cop=HalfPlanes.of(region.vertices - numbers_com[:2]),
    )


def _find(robot: Robot, friction: float) -> dict[str, Any]:
    numbers = capability(robot, friction)
    reach = float(np.abs(numbers.cop_vertices - numbers.com).max())
    moments = []
    for length, from_rest in WINDOWS:
        programme = windowed_programme(
            robot, length / numbers.omega, friction=friction, from_rest=from_rest
        )
        rows = moment_rows(programme, ROUND, reach, 0.2 * numbers.height)
        moments.append(
            {
                "length": length,
                "from_rest": from_rest,
                "on_p": rows.on_p.tolist(),
                "on_u": rows.on_u.tolist(),
                "most": rows.most.tolist(),
            }
        )
    momentum = [momentum_bound(robot, direction) for direction in level_directions(ROUND)]
    return {"moments": moments, "momentum": momentum}
