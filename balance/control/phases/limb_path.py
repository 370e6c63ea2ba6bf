"""The way of a limb to its next contact: off its plane, across with clearance, softly down."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.frame_path import FrameTarget
from balance.control.parts.setpoints import minimum_jerk

Array = NDArray[np.float64]

UP, ACROSS, DOWN = (0.0, 0.45), (0.2, 0.8), (0.55, 1.0)  # when, in shares of the time
WHOLE = (0.0, 1.0)
SEEK_SPEED = 0.04  # m/s, with which a limb goes on that has not met its plane
SEEK_RAMP_S = 0.1


class LimbPath:
    """A surface's way from ``start`` to ``goal``, told for the frame that carries it.

    Three smooth moves that overlap: out of the plane that it leaves, as high as the goal and the
    clearance ask for, across, and onto the plane of its goal.  z of a surface is out of its plane.
    If it ``seeks`` a contact it goes on into that plane, slowly, after its time is over.
    """

    def __init__(
        self,
        start: pin.SE3,
        goal: pin.SE3,
        clearance: float,
        begin: float,
        duration: float,
        frame: pin.SE3,
        seeks: bool,
    ) -> None:
        """``frame`` is the pose of the carrying frame in the surface; times in s."""
        self.begin, self.duration, self.seeks = begin, duration, seeks
        self.goal, self._frame = goal, frame
        way = goal.translation - start.translation
        out, onto = start.rotation[:, 2], goal.rotation[:, 2]
        rise, fall = max(0.0, float(way @ out)), max(0.0, float(-way @ onto))
        if seeks:
            rise, fall = rise + clearance, fall + clearance
            self._when = (UP, ACROSS, DOWN)
        else:  # in the air there is nothing to keep clear of
            rise = fall = 0.0
            self._when = (WHOLE, WHOLE, WHOLE)
        self._up, self._down = rise * out, -fall * onto
        self._across = way - self._up - self._down
        self._start, self._onto = start.translation.copy(), onto.copy()
        self._R, self._turn = start.rotation.copy(), pin.log3(start.rotation.T @ goal.rotation)

        self.stopped = False
        """Whether it has met its plane."""
        self._still: FrameTarget | None = None

    def stop(self, time: float, pose: pin.SE3) -> None:
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

    def at(self, time: float) -> FrameTarget:
        """Where the carrying frame shall be at ``time`` in s."""
        if self._still is not None:
            return self._still
        T, since = self.duration, time - self.begin
        s = min(max(since / T, 0.0), 1.0)
        place, velocity, acceleration = self._start.copy(), np.zeros(3), np.zeros(3)
        steps = self._up, self._across, self._down
        for step, when in zip(steps, self._when, strict=True):
            share, rate, bend = _part(s, *when)
            place += share * step
            velocity += rate / T * step
            acceleration += bend / T**2 * step
        if self.seeks and since > T:
            way, rate, bend = _seek(since - T)
            place -= way * self._onto
            velocity -= rate * self._onto
            acceleration -= bend * self._onto
        share, rate, bend = _part(s, *self._when[1])
        R, about = self._R @ pin.exp3(share * self._turn), self._R @ self._turn
        omega, alpha = rate / T * about, bend / T**2 * about
        arm = R @ self._frame.translation
        turned = np.cross(omega, arm)
        return FrameTarget(
            position=place + arm,
            rotation=R @ self._frame.rotation,
            velocity=np.append(velocity + turned, omega),
            acceleration=np.append(
                acceleration + np.cross(alpha, arm) + np.cross(omega, turned), alpha
            ),
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
