"""What a law that steps looks at: the CoM, its capture point, and the soles of both feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.stepping.sizes import StepSizes, heading_of
from balance.robots.support_polygon import SupportPolygon, foot_corners

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Seen:
    """A state: ``com``, ``velocity`` (3,) and ``xi`` (2,), m; ``poses`` of the soles, left first.

    ``forces`` (2,) are the measured normal ones, N; None if nobody measures them.
    """

    time: float
    com: Array
    velocity: Array
    xi: Array
    poses: tuple[pin.SE3, pin.SE3]
    forces: Array | None

    def place(self, foot: int) -> Array:
        """Ground point (2,) of a sole's centre."""
        return np.asarray(self.poses[foot].translation[:2])

    @property
    def middle(self) -> Array:
        """Between the soles' centres (3,)."""
        return np.asarray(0.5 * (self.poses[0].translation + self.poses[1].translation))


class Eyes:
    """Looks at states of a robot."""

    def __init__(self, model: pin.Model, q_nominal: Array, sizes: StepSizes) -> None:
        self._model, self._data, self._sizes = model, model.createData(), sizes
        self.nominal = self.see(q_nominal, np.zeros(model.nv), 0.0, None)
        self._facing = self.heading(self.nominal)

    def see(self, q: Array, v: Array, t: float, forces: Array | None) -> Seen:
        """The state at configuration ``q`` and velocity ``v``."""
        model, data, sizes = self._model, self._data, self._sizes
        pin.centerOfMass(model, data, q, v)
        com, velocity = data.com[0].copy(), data.vcom[0].copy()
        left, right = (
            pin.updateFramePlacement(model, data, sole.frame_id) * sole.placement
            for sole in sizes.soles
        )
        xi = com[:2] + velocity[:2] / sizes.omega
        return Seen(t, com, velocity, xi, (left, right), forces)

    def sole_velocity(self, foot: int) -> Array:
        """Of a sole's centre (3,) in the state that was looked at last, m/s, world axes."""
        sole = self._sizes.soles[foot]
        frame = self._model.frames[sole.frame_id]
        place, joint = frame.placement * sole.placement, frame.parentJoint
        velocity = place.actInv(self._data.v[joint]).linear
        return np.asarray((self._data.oMi[joint] * place).rotation.dot(velocity))

    def heading(self, seen: Seen, foot: int | None = None) -> float:
        """Where the robot is to face, by one foot, or by both."""
        yaws = [heading_of(seen.poses[f].rotation) - self._sizes.turns[f] for f in (0, 1)]
        if foot is not None:
            return yaws[foot]
        turned = (yaws[1] - yaws[0] + np.pi) % (2.0 * np.pi) - np.pi
        return yaws[0] + 0.5 * turned

    def turned(self, seen: Seen, foot: int | None = None) -> float:
        """How far that is from where it faces nominally."""
        return self.heading(seen, foot) - self._facing

    def left(self, seen: Seen) -> bool:
        """Whether the capture point has left the support of both feet."""
        return not self.hull(seen, 0.0).contains(seen.xi)

    def hull(self, seen: Seen, margin: float) -> SupportPolygon:
        """The support of both feet, each smaller by ``margin`` m."""
        corners = [
            foot_corners(sole, pose, margin)
            for sole, pose in zip(self._sizes.soles, seen.poses, strict=True)
        ]
        return SupportPolygon(np.concatenate(corners))

    def sole(self, seen: Seen, foot: int, margin: float) -> SupportPolygon:
        """The support of one foot, smaller by ``margin`` m."""
        return SupportPolygon(foot_corners(self._sizes.soles[foot], seen.poses[foot], margin))


@dataclass(frozen=True, slots=True)
class Plane:
    """The ground under a foot, as the foot stood on it: a point and the normal (3,)."""

    point: Array
    normal: Array

    @classmethod
    def under(cls, pose: pin.SE3) -> Plane:
        """That of a sole that stands flat."""
        return cls(pose.translation.copy(), pose.rotation[:, 2].copy())

    def tilt(self, pose: pin.SE3) -> float:
        """Sine of the angle between it and a sole."""
        return float(np.linalg.norm(np.cross(self.normal, pose.rotation[:, 2])))

    def above(self, place: Array) -> Array:
        """The point (3,) of the plane over ``place`` (2,)."""
        way = place - self.point[:2]
        rise = -float(self.normal[:2].dot(way)) / float(self.normal[2])
        return np.append(place, self.point[2] + rise)

    def axes(self, yaw: float) -> Array:
        """Rotation (3, 3) of a sole that lies on it and faces ``yaw``."""
        ahead = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        x = ahead - self.normal * self.normal.dot(ahead)
        x /= np.linalg.norm(x)
        return np.column_stack([x, np.cross(self.normal, x), self.normal])
