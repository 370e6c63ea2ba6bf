"""What stands around a robot: the floor, and a plate under every surface that is not on it.

Soles touch the planes that their stance gives them, which have no end.  The other bodies touch what
is listed here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.support_polygon import feet
from balance.simulation.ground import GroundMotion

Array = NDArray[np.float64]

FLOOR = "ground"
PLATE_MARGIN_M = 0.1  # of a plate around the surface that lies on it
PLATE_THICKNESS_M = 0.04
SAME_PLANE = 1e-9


@dataclass(frozen=True)
class Obstacle:
    """Something that bodies can touch.

    ``pose`` has its origin on the top and z out of it.  ``half_size`` are the half sides of a plate
    along x and y, m; None for a floor without end.  ``surface`` is the contact surface that lies on
    a plate: the body that has it is left to that surface.  With ``moves`` it goes along with ground
    that moves.
    """

    name: str
    pose: pin.SE3
    half_size: tuple[float, float] | None = None
    surface: str | None = None
    moves: bool = False

    @property
    def box(self) -> tuple[pin.SE3, Array]:
        """Centre and half sides (3,) of a plate."""
        assert self.half_size is not None
        half = np.array([*self.half_size, 0.5 * PLATE_THICKNESS_M])
        return self.pose * pin.SE3(np.eye(3), np.array([0.0, 0.0, -half[2]])), half


def obstacles(robot: Robot, ground: GroundMotion | None = None) -> tuple[Obstacle, ...]:
    """The floor and the plates around ``robot``, as they are before anything moves.

    The floor is the plane on which all feet stand; where they stand on several, it is level and as
    low as the lowest corner of a foot, and each of them has a plate.
    """
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    standing = feet(robot)
    carried = frozenset() if ground is None else ground.surfaces
    first = standing[0].plane
    if all(first.isApprox(foot.plane, SAME_PLANE) for foot in standing):
        floor = first
    else:
        low = min(float(foot.pose(data).act(c)[2]) for foot in standing for c in foot.corners)
        floor = pin.SE3(np.eye(3), np.array([0.0, 0.0, low]))
    found = [Obstacle(FLOOR, floor, moves=any(foot.name in carried for foot in standing))]
    for surface in robot.soles:
        if not surface.plane.isApprox(floor, SAME_PLANE):
            found.append(_plate(surface, data, surface.name in carried))
    return tuple(found)


def _plate(surface: ContactSurface, data: pin.Data, moves: bool) -> Obstacle:
    """A plate whose middle is under a surface."""
    pose = pin.SE3(surface.plane.rotation, surface.pose(data).translation)
    reach = float(np.abs(surface.corners).max()) + PLATE_MARGIN_M
    return Obstacle(f"plate of {surface.name}", pose, (reach, reach), surface.name, moves)
