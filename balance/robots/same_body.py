"""Surfaces of one body: toes are the front edge of a sole, and either may be what bears."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

SAME_POINT_M = 1e-6


def carries_foot(robot: Robot, surface: ContactSurface) -> bool:
    """Whether a surface is of a body that has a foot, as toes are."""
    body = _joint(robot, surface)
    return any(one.is_foot and _joint(robot, one) == body for one in robot.surfaces)


def shared_corners(robot: Robot) -> list[tuple[int, int, int]]:
    """Number of a contact, of a corner of it, and of another contact that has that corner, too."""
    found = []
    for (i, one), (j, other) in permutations(enumerate(robot.soles), 2):
        if _joint(robot, one) == _joint(robot, other):
            apart = _corners(robot, one)[:, None] - _corners(robot, other)[None]
            near = np.linalg.norm(apart, axis=2).min(axis=1) < SAME_POINT_M
            found += [(i, int(corner), j) for corner in np.flatnonzero(near)]
    return found


class SharedCorners:
    """Contacts that touch with the same corners, and whose of them a measured wrench is.

    Neither a plant nor a sensor in an ankle can tell whether a robot stands on its sole or on its
    toes, which are the front edge of it.  The one that is meant to bear has all of it.
    """

    def __init__(self, robot: Robot) -> None:
        """``robot`` has all surfaces that ever bear as its contacts."""
        self._soles = robot.soles
        self.pairs = sorted({(min(i, j), max(i, j)) for i, _, j in shared_corners(robot)})
        """Numbers of the contacts, in twos."""

    def attribute(self, data: pin.Data, wrenches: Array, bearing: Array) -> Array:
        """Wrenches (k, 6) with all that a pair bears at the one with more in ``bearing`` (k,).

        ``data`` has frame placements; where none is meant to bear more it stays as it is.
        """
        if not self.pairs:
            return wrenches
        found = wrenches.copy()
        for one, other in self.pairs:
            if bearing[one] == bearing[other]:
                continue
            to, of = (one, other) if bearing[one] > bearing[other] else (other, one)
            moved = self._soles[to].wrench_pose(data).actInv(self._soles[of].wrench_pose(data))
            found[to] += moved.act(pin.Force(found[of])).vector
            found[of] = 0.0
        return found


def _corners(robot: Robot, surface: ContactSurface) -> Array:
    """In the body's joint frame (n, 3), m."""
    place = robot.model.frames[surface.frame_id].placement * surface.placement
    return np.array([place.act(corner) for corner in surface.corners])


def _joint(robot: Robot, surface: ContactSurface) -> int:
    return int(robot.model.frames[surface.frame_id].parentJoint)
