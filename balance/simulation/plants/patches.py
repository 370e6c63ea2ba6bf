"""Which of several faces a contact surface meets: the floor, or the top of what is under it.

A surface touches one face at a time and changes to another only while it is off the ground.  Its
corners beyond the edge of a face touch nothing.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

ABSENT_M = 1e3  # gap of corners that are not there: so far away that they never touch
OFF_M = 1e-4  # a surface whose corners are all higher than this is off its face
FACING = 0.5  # cosine of the largest angle between a surface and the face that it may meet
SUNK_M = 0.02  # below a face by more than this a surface is beside or behind it
SAME_PLANE = 1e-9


class _Face:
    """A plane with z out of it, and half its sides, m, if it has an end."""

    def __init__(self, pose: pin.SE3, half_size: tuple[float, float] | None) -> None:
        self.pose = pose
        self.R, self.p = pose.rotation.copy(), pose.translation.copy()
        self.half = None if half_size is None else np.array(half_size)

    def local(self, points: Array) -> Array:
        """Axes (3, 3) in rows, centre and corners of a surface, from the world into its axes."""
        found = points.copy()
        found[3:] -= self.p
        return np.asarray(found.dot(self.R))

    def height(self, points: Array) -> float:
        """Height (m) of a surface over it; infinite if the surface is not above and facing it."""
        axes_z, centre = points[2], self.R.T.dot(points[3] - self.p)
        if axes_z.dot(self.R[:, 2]) < FACING or centre[2] < -SUNK_M:
            return np.inf
        if self.half is not None and (np.abs(centre[:2]) > self.half).any():
            return np.inf
        return float(centre[2])


class Patches:
    """The faces that one surface may meet, and which of them it does."""

    def __init__(self, robot: Robot, surface: ContactSurface) -> None:
        floor = _Face(pin.SE3.Identity(), None)
        self._faces = [floor, *(_Face(one.pose, one.half_size) for one in robot.objects)]
        lies = [face for face in self._faces if face.pose.isApprox(surface.plane, SAME_PLANE)]
        self._face = lies[0] if lies else floor

    def localise(self, points: Array) -> None:
        """Put axes, centre and corners of the surface, world axes, into those of its face."""
        local = self._face.local(points)
        if local[4:, 2].min() > OFF_M:
            nearest = min(self._faces, key=lambda face: face.height(points))
            if nearest is not self._face and nearest.height(points) < np.inf:
                self._face, local = nearest, nearest.local(points)
        if self._face.half is not None:
            beyond = (np.abs(local[4:, :2]) > self._face.half).any(axis=1)
            local[4:, 2][beyond] = ABSENT_M
        points[:] = local
