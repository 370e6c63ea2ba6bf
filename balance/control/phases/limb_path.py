"""The way of a limb to its next contact: off its plane, across with clearance, softly down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from balance.control.parts.frame_path import FrameTarget
from balance.control.parts.setpoints import minimum_jerk
from balance.robots import Robot
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

UP, ACROSS, DOWN = (0.0, 0.45), (0.2, 0.8), (0.55, 1.0)  # when, in shares of the time
WHOLE = (0.0, 1.0)
OFF, ON = (0.0, 0.3, 0.6), (0.2, 0.6, 1.0)  # when a clearance begins, is there, and is over
SEEK_SPEED = 0.04  # m/s, with which a limb goes on that has not met its plane
SEEK_RAMP_S = 0.1
SAMPLES = 41  # of a way that follows a posture


@dataclass(slots=True)
class Motion:
    """Place, velocity and acceleration of a surface's centre, its rotation and angular rates.

    Derivatives are by whatever it is a function of; world axes.
    """

    place: Array
    velocity: Array
    acceleration: Array
    rotation: Array
    omega: Array
    alpha: Array


class Way(Protocol):
    """Where a surface is on its way, at a share of the time."""

    def at(self, s: float) -> Motion:
        """The motion at the share ``s`` of the time, derivatives by it."""
        ...


@final
class OverWay:
    """Out of the plane that it leaves, as high as goal and clearance ask for, across, and down.

    Three smooth moves that overlap.  z of a surface is out of its plane, save where it touches with
    an edge.  In the air, where it does not ``land``, it goes straight.
    """

    def __init__(
        self,
        start: pin.SE3,
        goal: pin.SE3,
        clearance: float,
        lands: bool,
        normals: tuple[Array, Array] | None = None,
    ) -> None:
        """``normals`` (3,) are those of the planes of start and goal, if they are not z there."""
        way = goal.translation - start.translation
        out, onto = normals or (start.rotation[:, 2], goal.rotation[:, 2])
        rise = fall = 0.0
        self._when = (WHOLE, WHOLE, WHOLE)
        if lands:
            rise = clearance + max(0.0, float(way @ out))
            fall = clearance + max(0.0, float(-way @ onto))
            self._when = (UP, ACROSS, DOWN)
        up, down = rise * out, -fall * onto
        self._steps = up, way - up - down, down
        self._start, self._R = start.translation.copy(), start.rotation.copy()
        self._turn = pin.log3(start.rotation.T @ goal.rotation)

    def at(self, s: float) -> Motion:
        place, velocity, acceleration = self._start.copy(), np.zeros(3), np.zeros(3)
        for step, when in zip(self._steps, self._when, strict=True):
            share, rate, bend = _part(s, *when)
            place += share * step
            velocity += rate * step
            acceleration += bend * step
        share, rate, bend = _part(s, *self._when[1])
        R, about = self._R @ pin.exp3(share * self._turn), self._R @ self._turn
        return Motion(place, velocity, acceleration, R, rate * about, bend * about)


@final
class PostureWay:
    """Along with the joints from one posture to another, which an arm can always follow.

    From ``start``, where the surface is, instead of where the first posture has it; with clearance
    from the planes that it leaves and comes to.
    """

    def __init__(
        self,
        robot: Robot,
        surface: ContactSurface,
        postures: tuple[Array, Array],
        start: pin.SE3,
        clearance: tuple[float, float],
    ) -> None:
        """``clearance`` (m) from the plane that it leaves, and from that of its goal; 0 if none."""
        shares, model = np.linspace(0.0, 1.0, SAMPLES), robot.model
        data, poses = model.createData(), []
        for share in shares:
            q = pin.interpolate(model, *postures, float(share))
            pin.framesForwardKinematics(model, data, q)
            poses.append(surface.pose(data))
        self._R = poses[SAMPLES // 2].rotation
        turns = np.array([pin.log3(self._R.T @ pose.rotation) for pose in poses])
        places = np.array([pose.translation for pose in poses])
        left = (1.0 - shares)[:, None]  # what the start is off by fades
        places += left * (start.translation - places[0])
        turns += left * (pin.log3(self._R.T @ start.rotation) - turns[0])
        self._spline = CubicSpline(shares, np.concatenate([places, turns], axis=1))
        self._spline_rate, self._spline_bend = (self._spline.derivative(n) for n in (1, 2))
        self._bumps = (
            (clearance[0] * start.rotation[:, 2], OFF),
            (clearance[1] * poses[-1].rotation[:, 2], ON),
        )

    def at(self, s: float) -> Motion:
        share, rate, bend = minimum_jerk(s)
        value, by_share, bend_by_share = (
            f(share) for f in (self._spline, self._spline_rate, self._spline_bend)
        )
        first, second = rate * by_share, bend * by_share + rate**2 * bend_by_share
        place, velocity, acceleration = value[:3].copy(), first[:3].copy(), second[:3].copy()
        for step, (begin, there, over) in self._bumps:
            up, down = _part(s, begin, there), _part(s, there, over)
            place += (up[0] - down[0]) * step
            velocity += (up[1] - down[1]) * step
            acceleration += (up[2] - down[2]) * step
        R, onto = self._R @ pin.exp3(value[3:]), pin.Jexp3(value[3:])
        # The rate of Jexp3 is left out: what is fed forward is short of a small term.
        return Motion(place, velocity, acceleration, R, R @ onto @ first[3:], R @ onto @ second[3:])


class LimbPath:
    """A surface's way in time, told for the frame that carries it.

    If it ``seeks`` a contact it goes on into the plane of its ``goal``, slowly, after its time is
    over.
    """

    def __init__(
        self, way: Way, goal: pin.SE3, begin: float, duration: float, frame: pin.SE3, seeks: bool
    ) -> None:
        """``frame`` is the pose of the carrying frame in the surface; times in s."""
        self._way, self.goal, self._frame = way, goal, frame
        self.begin, self.duration, self.seeks = begin, duration, seeks
        self._onto = goal.rotation[:, 2].copy()
        self.stopped = False
        """Whether it has met its plane."""
        self._still: FrameTarget | None = None

    def stop(self, pose: pin.SE3) -> None:
        """Stay at ``pose``, where the surface has met something."""
        if not self.stopped:
            self.stopped, zero = True, np.zeros(6)
            held = pose * self._frame
            self._still = FrameTarget(held.translation, held.rotation, zero, zero, False)

    @property
    def end(self) -> float:
        """When it is at its goal, s."""
        return self.begin + self.duration

    def descends(self, time: float) -> bool:
        """Whether it is coming down: a touch is what it waits for."""
        return self.seeks and time >= self.begin + DOWN[0] * self.duration

    def sought(self, time: float) -> tuple[Array, Array]:
        """How far (3,) m and how fast it has gone on from its goal to seek its contact."""
        if not self.seeks or self.stopped or time <= self.end:
            return np.zeros(3), np.zeros(3)
        way, rate, _ = _seek(time - self.end)
        return -way * self._onto, -rate * self._onto

    def at(self, time: float) -> FrameTarget:
        """Where the carrying frame shall be at ``time`` in s."""
        if self._still is not None:
            return self._still
        T, since = self.duration, time - self.begin
        motion = self._way.at(min(max(since / T, 0.0), 1.0))
        place, velocity = motion.place, motion.velocity / T
        acceleration, omega, alpha = motion.acceleration / T**2, motion.omega / T, motion.alpha
        alpha = alpha / T**2
        if self.seeks and since > T:
            way, rate, bend = _seek(since - T)
            place = place - way * self._onto
            velocity = velocity - rate * self._onto
            acceleration = acceleration - bend * self._onto
        arm = motion.rotation @ self._frame.translation
        turned = np.cross(omega, arm)
        bent = acceleration + np.cross(alpha, arm) + np.cross(omega, turned)
        return FrameTarget(
            position=place + arm,
            rotation=motion.rotation @ self._frame.rotation,
            velocity=np.append(velocity + turned, omega),
            acceleration=np.append(bent, alpha),
            moving=True,
        )


def _part(s: float, first: float, last: float) -> tuple[float, float, float]:
    """Share of a move between two shares of the time, and its derivatives by the share of time."""
    span = last - first
    if s <= first:
        return 0.0, 0.0, 0.0
    if s >= last:
        return 1.0, 0.0, 0.0
    share, rate, bend = minimum_jerk((s - first) / span)
    return share, rate / span, bend / span**2


def _seek(time: float) -> tuple[float, float, float]:
    """Way, speed and acceleration of a limb that has gone on for ``time`` s."""
    left = math.exp(-time / SEEK_RAMP_S)
    way = SEEK_SPEED * (time - SEEK_RAMP_S * (1.0 - left))
    return way, SEEK_SPEED * (1.0 - left), SEEK_SPEED / SEEK_RAMP_S * left
