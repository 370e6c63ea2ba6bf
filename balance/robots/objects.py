"""The objects of an experiment with phases: what surfaces are put on besides the floor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.phases import FLOOR, ObjectConfig
from balance.robots.contacts import ContactSurface
from balance.robots.shapes.shape import Shape, shape_of

Array = NDArray[np.float64]

EDGE_M = 1e-6  # by which a surface may hang over: rounding


@dataclass(frozen=True)
class WorldObject:
    """A box with one face that surfaces touch.

    ``pose`` has its origin in the middle of that face and z out of it; ``half_size`` are half the
    face's sides along x and y, ``depth`` is the box's, m.
    """

    name: str
    pose: pin.SE3
    half_size: tuple[float, float]
    depth: float

    def shape(self) -> Shape:
        """The box as a shape, placed in the world."""
        half = (*self.half_size, 0.5 * self.depth)
        middle = self.pose * pin.SE3(np.eye(3), np.array([0.0, 0.0, -half[2]]))
        return shape_of("box", half, middle)

    def overhang(self, surface: ContactSurface, pose: pin.SE3) -> float:
        """How far a surface at a world ``pose`` reaches over the edge of the face, m."""
        corners = surface.corners @ pose.rotation.T + pose.translation
        local = (corners - self.pose.translation) @ self.pose.rotation
        beyond = float((np.abs(local[:, :2]) - self.half_size).max())
        return beyond if beyond > EDGE_M else 0.0


def world_objects(objects: Mapping[str, ObjectConfig]) -> dict[str, WorldObject]:
    """The objects by their names."""
    return {
        name: WorldObject(name, _pose(one), (0.5 * one.size_m[0], 0.5 * one.size_m[1]), one.depth_m)
        for name, one in objects.items()
    }


def face_of(name: str, objects: Mapping[str, WorldObject]) -> pin.SE3:
    """The pose of the face of an object, or of the floor, z out of it."""
    return pin.SE3.Identity() if name == FLOOR else objects[name].pose


def _pose(one: ObjectConfig) -> pin.SE3:
    z = np.array(one.normal) / np.linalg.norm(one.normal)
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    R = np.column_stack([x, np.cross(z, x), z]) @ pin.rpy.rpyToMatrix(0.0, 0.0, one.yaw_rad)
    return pin.SE3(R, np.array(one.centre_m))
