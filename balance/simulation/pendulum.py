"""The pendulum behind a push of that kind, for pictures: where it is before, during and after.

A point mass m, L below its pivot, swings in the plane of the push and the vertical; two ropes in a
V keep it there, clear of the robot's shoulder.  With theta the angle from hanging, towards the
push, it is a free pendulum before and after the hit,

    theta'' = -(g / L) sin theta,        E = m L^2 theta'^2 / 2 + m g L (1 - cos theta),

which at the hit moves along the push with the speed v = sqrt(2 energy / m).  Within the hit its
momentum falls by what the robot has been given so far, m L theta' = m v - delivered(t); gravity is
left out of these milliseconds, as it is in the impulse itself.

The robot in a simulation feels the impulse alone: what is drawn here follows from the same numbers
and acts on nothing.  In particular the mass that swings on does not hit again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.special import ellipj, ellipk, ellipkinc

from balance.dynamics.checks import frame_id
from balance.robots import Robot
from balance.simulation.plants.visuals import visual_shapes
from balance.simulation.pushes import PendulumPush, Push

Array = NDArray[np.float64]

GRAVITY = 9.81
LENGTH_M = (
    1.0  # of a pendulum; longer for a hit so hard that the mass would be let go above 60 degrees
)
LARGEST_MODULUS = 0.999
SPREAD = 0.35  # of the rope's length, from the plane of the swing to either pivot
DENSITY = 7850.0  # kg/m^3, a ball of steel
SHOWN_AFTER_S = 1.5


@dataclass(frozen=True)
class FreeSwing:
    """A free pendulum: its angle at time 0 is ``angle`` (rad), its rate ``rate`` (rad/s).

    Closed form with Jacobi's elliptic functions for one that turns back, which those of this module
    do: sin(theta / 2) = k sn(omega t + u_0, k), omega = sqrt(g / L), with k from the energy.
    """

    angle: float
    rate: float
    length: float

    @cached_property
    def omega(self) -> float:
        """Rate of small swings, rad/s."""
        return math.sqrt(GRAVITY / self.length)

    @cached_property
    def modulus(self) -> float:
        """k, the sine of half of the largest angle; less than that of one that turns over."""
        k = math.hypot(math.sin(0.5 * self.angle), 0.5 * self.rate / self.omega)
        return min(k, LARGEST_MODULUS)

    @cached_property
    def phase(self) -> float:
        """u_0 = F(phi_0, k); k sin phi_0 = sin(theta_0 / 2), cos phi_0 has the rate's sign."""
        sine, cosine = math.sin(0.5 * self.angle), 0.5 * self.rate / self.omega
        return float(ellipkinc(math.atan2(sine, cosine), self.modulus**2))

    @property
    def quarter_s(self) -> float:
        """Time from the turning point to hanging, s."""
        return float(ellipk(self.modulus**2)) / self.omega

    def at(self, time: float) -> tuple[float, float]:
        """Angle and rate at ``time`` (s), which may be negative."""
        k = self.modulus
        if k == 0.0:
            return 0.0, 0.0
        sn, cn, _, _ = ellipj(self.omega * time + self.phase, k**2)
        return 2.0 * math.asin(k * sn), 2.0 * self.omega * k * float(cn)


@dataclass(frozen=True)
class Swing:
    """The pendulum of one push that hits ``point`` (world, m) along the unit vector ``direction``.

    ``point`` is where the mass, a point, is when the hit begins.
    """

    push: Push
    mass: float
    speed: float
    point: Array
    direction: Array

    @cached_property
    def length(self) -> float:
        """From the pivot to the mass, m; for a level push it is let go at 60 degrees at most."""
        return max(LENGTH_M, self.speed**2 / GRAVITY)

    @property
    def radius(self) -> float:
        """Of a ball of steel of this mass, m."""
        return float((3.0 * self.mass / (4.0 * math.pi * DENSITY)) ** (1.0 / 3.0))

    @cached_property
    def _axes(self) -> tuple[Array, Array]:
        """Level and upward unit vectors of the plane of the swing."""
        up = np.array([0.0, 0.0, 1.0])
        level = self.direction - (self.direction @ up) * up
        size = float(np.linalg.norm(level))
        # A push straight up or down swings in the plane of x.
        return (level / size if size > 1e-9 else np.array([1.0, 0.0, 0.0])), up

    @cached_property
    def hit_angle(self) -> float:
        """Angle at the hit, at which the mass moves along the push."""
        level, up = self._axes
        return math.atan2(float(self.direction @ up), float(self.direction @ level))

    @cached_property
    def pivot(self) -> Array:
        """Centre of the circle (3,), m; midway between the ends of the two ropes."""
        return self.point - self._offset(self.hit_angle)

    @cached_property
    def rope_ends(self) -> tuple[Array, Array]:
        """Where the two ropes are fixed, m."""
        across = SPREAD * self.length * np.cross(*self._axes)
        return self.pivot - across, self.pivot + across

    @cached_property
    def _before(self) -> FreeSwing:
        return FreeSwing(self.hit_angle, self.speed / self.length, self.length)

    @cached_property
    def _after(self) -> FreeSwing:
        rate = (self.speed - self.push.impulse / self.mass) / self.length
        return FreeSwing(self._angle_within(self.push.end), rate, self.length)

    @cached_property
    def release(self) -> float:
        """When the mass is let go, at rest, s; before that it is held there."""
        before = self._before
        return self.push.start - before.quarter_s - before.phase / before.omega

    def angle(self, time: float) -> float:
        """Angle from hanging, towards the push, rad."""
        if time < self.push.start:
            return self._before.at(max(time, self.release) - self.push.start)[0]
        if time <= self.push.end:
            return self._angle_within(time)
        return self._after.at(time - self.push.end)[0]

    def _angle_within(self, time: float) -> float:
        """During the hit: the integral of (v - delivered / m) / L."""
        passed = time - self.push.start
        given = quad(self.push.delivered, self.push.start, time)[0] if passed > 0.0 else 0.0
        return self.hit_angle + (self.speed * passed - given / self.mass) / self.length

    def ball(self, time: float) -> Array:
        """Where the mass is (3,), m."""
        return self.pivot + self._offset(self.angle(time))

    def shown(self, time: float) -> bool:
        """Whether a picture shows it: until it has swung away."""
        return time <= self.push.end + SHOWN_AFTER_S

    def _offset(self, angle: float) -> Array:
        level, up = self._axes
        return self.length * (math.sin(angle) * level - math.cos(angle) * up)


class Pendulums:
    """Makes the pendulums of pushes on one robot."""

    def __init__(self, robot: Robot) -> None:
        self._model = robot.model
        self._robot = robot

    @cached_property
    def _corners(self) -> dict[int, Array]:
        """Corners (n, 3) of the boxes around all visual shapes, by the joint that carries them."""
        found: dict[int, list[Array]] = {}
        for shape in visual_shapes(self._robot):
            shape.geometry.computeLocalAABB()
            low, high = shape.geometry.aabb_local.min_, shape.geometry.aabb_local.max_
            for corner in product(*zip(low, high, strict=True)):
                found.setdefault(shape.parentJoint, []).append(
                    shape.placement.act(np.array(corner))
                )
        return {joint: np.array(corners) for joint, corners in found.items()}

    def swing(self, push: Push, data: pin.Data) -> Swing | None:
        """The pendulum of a push on the robot as in ``data``; None for other kinds of pushes.

        The point pushed is inside of a link: the ball touches the box around the link.
        """
        if not isinstance(push.profile, PendulumPush):
            return None
        frame = self._model.frames[frame_id(self._model, push.body)]
        joint = data.oMi[frame.parentJoint]
        body = joint * frame.placement
        axis = body.rotation @ push.direction if push.in_body_axes else push.direction
        point, profile = body.act(push.point), push.profile
        corners = self._corners.get(frame.parentJoint, np.zeros((0, 3)))
        ahead = (point - corners @ joint.rotation.T - joint.translation) @ axis
        at_surface = point - float(np.max(ahead, initial=0.0)) * axis
        there = Swing(push, profile.mass, profile.speed, at_surface, axis)
        return replace(there, point=at_surface - there.radius * axis)


def swings(robot: Robot, pushes: Sequence[Push], time: Array, q: Array) -> list[Swing]:
    """The pendulums of a recording, each at where its point was when the hit began."""
    pendulums, data, found = Pendulums(robot), robot.model.createData(), []
    for push in pushes:
        row = min(int(np.searchsorted(time, push.start)), len(time) - 1)
        pin.forwardKinematics(robot.model, data, q[row])
        if (swing := pendulums.swing(push, data)) is not None:
            found.append(swing)
    return found
