"""The moments about the CoM that torque limits, contacts and joint speeds allow.

A moment shifts the line of the ground's force by u = T dl/dt / (m g), and shares contacts and
torques with the centre of pressure p: what is possible is a region of (p, u)
(:mod:`balance.robots.capability.programme`).  Light joints can be turned hard, but not for long.
So regions belong to a window of time: the conditions are linear, hence means over the window obey
them, and no joint's mean acceleration exceeds what its speed can change by in that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.capability.body import level_directions
from balance.robots.capability.flywheel import TOP_SPEED
from balance.robots.capability.programme import TorqueProgramme
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

AT_EDGE = 0.95  # of the CoP's reach: at the very edge one force is left, and no choice


@dataclass(frozen=True)
class MomentRows:
    """Half-planes ``on_p @ p + on_u @ u <= most`` that hold for all possible (p, u), m.

    p is from the CoM's ground point.
    """

    on_p: Array
    on_u: Array
    most: Array


def windowed_programme(
    robot: Robot,
    window_s: float,
    contacts: Sequence[ContactSurface] | None = None,
    friction: float | None = None,
    *,
    from_rest: bool = False,
) -> TorqueProgramme:
    """The programme of means over ``window_s``.

    Speeds change by no more than twice the top speed, or once if the joints are at rest when the
    window begins.
    """
    change = (1.0 if from_rest else 2.0) * TOP_SPEED * robot.rated_speeds
    return TorqueProgramme(robot, contacts, friction, change / window_s)


def moment_rows(
    programme: TorqueProgramme, azimuths: Array, cop_scale_m: float, shift_scale_m: float
) -> MomentRows:
    """The region's supports: of u, and of u and p together and against each other, by azimuth.

    The scales say how much u weighs against p in those.
    """
    on_p, on_u = [], []
    for direction in level_directions(azimuths):
        for with_p in (0.0, 1.0, -1.0):
            on_p.append(with_p * direction / cop_scale_m)
            on_u.append(direction / shift_scale_m)
    most = [
        programme.most(p @ programme.p + u @ programme.u)[0]
        for p, u in zip(on_p, on_u, strict=True)
    ]
    return MomentRows(np.array(on_p), np.array(on_u), np.array(most))


def moments_at_the_edge(
    programme: TorqueProgramme, direction: Array, reach: float
) -> tuple[float, float]:
    """Largest shift u (m) to ``direction`` (2,), and against it, with the CoP at that edge.

    ``reach`` is the distance of the edge of the CoP region, of which ``AT_EDGE`` is used.
    """
    across = np.array([-direction[1], direction[0]])
    conditions = np.vstack([programme.p, across @ programme.u])
    values = np.append(AT_EDGE * reach * direction, 0.0)
    driving = programme.most(direction @ programme.u, conditions, values)[0]
    braking = programme.most(-direction @ programme.u, conditions, values)[0]
    return max(driving, 0.0), max(braking, 0.0)
