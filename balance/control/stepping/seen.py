"""What a law that steps looks at: the CoM, its capture point, and the soles of both feet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.stepping.sizes import StepSizes, heading_of
from balance.dynamics.compiled import compiled
from balance.dynamics.convex_polygon import convex_hull, is_inside
from balance.robots.support_polygon import inner_corners

Array = NDArray[np.float64]


@dataclass(slots=True)  # made in every step, where frozen would cost a microsecond
class Seen:
    """A state: ``com``, ``velocity`` (3,) and ``xi`` (2,), m; ``poses`` of the soles, left first.

    ``places`` are the poses' origins (3,), ``yaws`` the soles', rad; ``hips`` (2, 3) are the hips'
    places from the CoM, as the base is turned, and ``forces`` (2,) the measured normal ones, N;
    None if nobody measures them.
    """

    time: float
    com: Array
    velocity: Array
    xi: Array
    poses: tuple[pin.SE3, pin.SE3]
    places: tuple[Array, Array]
    yaws: tuple[float, float]
    hips: Array
    forces: Array | None

    def place(self, foot: int) -> Array:
        """Ground point (2,) of a sole's centre."""
        return self.places[foot][:2]

    @property
    def middle(self) -> Array:
        """Between the soles' centres (3,)."""
        return np.asarray(0.5 * (self.places[0] + self.places[1]))


class Eyes:
    """Looks at states of a robot."""

    def __init__(self, model: pin.Model, q_nominal: Array, sizes: StepSizes) -> None:
        self._model, self._data, self._sizes = model, model.createData(), sizes
        self._corners: dict[float, list[Array]] = {}  # of the soles, by how much smaller they are
        # Pinocchio's memory, without a copy: the way to it through bindings takes its time.
        data = self._data
        self._com, self._velocity = data.com[0], data.vcom[0]
        self._base, self._axes = data.oMi[1].translation, data.oMi[1].rotation
        self._soles = [(sole.frame_id, sole.placement) for sole in sizes.soles]
        frames = [model.frames[sole.frame_id] for sole in sizes.soles]
        self._carriers = [
            (
                data.oMi[frame.parentJoint],
                data.v[frame.parentJoint],
                frame.placement * sole.placement,
            )
            for frame, sole in zip(frames, sizes.soles, strict=True)
        ]
        com = pin.centerOfMass(model, data, q_nominal)
        self._hips = (sizes.hips + com - self._base) @ self._axes
        self.nominal = self.see(q_nominal, np.zeros(model.nv), 0.0, None)
        self._facing = self.heading(self.nominal)

    def see(self, q: Array, v: Array, t: float, forces: Array | None) -> Seen:
        """The state at configuration ``q`` and velocity ``v``."""
        model, data = self._model, self._data
        pin.centerOfMass(model, data, q, v)
        com, velocity = self._com.copy(), self._velocity.copy()
        (left_id, on_left), (right_id, on_right) = self._soles
        left = pin.updateFramePlacement(model, data, left_id) * on_left
        right = pin.updateFramePlacement(model, data, right_id) * on_right
        xi, hips = capture_point_and_hips(
            com, velocity, self._sizes.omega, self._hips, self._axes, self._base
        )
        places = left.translation, right.translation
        yaws = heading_of(left.rotation), heading_of(right.rotation)
        return Seen(t, com, velocity, xi, (left, right), places, yaws, hips, forces)

    def sole_velocity(self, foot: int) -> Array:
        """Of a sole's centre (3,) in the state that was looked at last, m/s, world axes."""
        joint, rates, place = self._carriers[foot]
        return np.asarray((joint * place).rotation.dot(place.actInv(rates).linear))

    def heading(self, seen: Seen, foot: int | None = None) -> float:
        """Where the robot is to face, by one foot, or by both."""
        turns = self._sizes.turns
        if foot is not None:
            return float(seen.yaws[foot] - turns[foot])
        left, right = (seen.yaws[f] - turns[f] for f in (0, 1))
        turned = (right - left + np.pi) % (2.0 * np.pi) - np.pi
        return float(left + 0.5 * turned)

    def turned(self, seen: Seen, foot: int | None = None) -> float:
        """How far that is from where it faces nominally."""
        return self.heading(seen, foot) - self._facing

    def left(self, seen: Seen) -> bool:
        """Whether the capture point has left the support of both feet."""
        return not is_inside(self.hull(seen, 0.0), seen.xi)

    def hull(self, seen: Seen, margin: float) -> Array:
        """Vertices (n, 2) of the support of both feet, each smaller by ``margin`` m."""
        return convex_hull(np.concatenate([self._places(seen, foot, margin) for foot in (0, 1)]))

    def sole(self, seen: Seen, foot: int, margin: float) -> Array:
        """The same of one foot."""
        return convex_hull(self._places(seen, foot, margin))

    def _places(self, seen: Seen, foot: int, margin: float) -> Array:
        """Corners (n, 2) of a foot that is smaller by ``margin`` m."""
        if margin not in self._corners:
            self._corners[margin] = [inner_corners(sole, margin) for sole in self._sizes.soles]
        pose = seen.poses[foot]
        corners = self._corners[margin][foot].dot(pose.rotation[:2].T)
        return np.asarray(corners + pose.translation[:2])


@compiled
def capture_point_and_hips(
    com: Array, velocity: Array, omega: float, hips: Array, axes: Array, base: Array
) -> tuple[Array, Array]:
    """The capture point (2,), and from the CoM the hips that are ``hips`` (2, 3) from the base."""
    return com[:2] + velocity[:2] / omega, hips.dot(axes.T) + (base - com)


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
        x, y = place.tolist()
        p_x, p_y, p_z = self.point.tolist()
        n_x, n_y, n_z = self.normal.tolist()
        return np.array([x, y, p_z - (n_x * (x - p_x) + n_y * (y - p_y)) / n_z])

    def axes(self, yaw: float) -> Array:
        """Rotation (3, 3) of a sole that lies on it and faces ``yaw``."""
        return lying_axes(self.normal, math.cos(yaw), math.sin(yaw))


@compiled
def lying_axes(normal: Array, c: float, s: float) -> Array:
    """Axes of what lies on a plane with that ``normal`` and faces (c, s)."""
    axes = np.empty((3, 3))
    x, y, z = normal[0], normal[1], normal[2]
    into = x * c + y * s
    a_x, a_y, a_z = c - x * into, s - y * into, -z * into
    length = math.sqrt(a_x * a_x + a_y * a_y + a_z * a_z)
    a_x, a_y, a_z = a_x / length, a_y / length, a_z / length
    axes[0] = a_x, y * a_z - z * a_y, x
    axes[1] = a_y, z * a_x - x * a_z, y
    axes[2] = a_z, x * a_y - y * a_x, z
    return axes
