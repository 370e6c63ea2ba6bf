"""Torque that falls with speed, at the end of a step: a light joint cannot jump over the curve.

Above its full speed a drive gives a joint that it drives at the speed w no more than

    tau(w) = max(0, b (w_none - w)),   b = tau_full / (w_none - w_full).

Taken at the speed with which a step begins, this lets a wrist that weighs nothing reach several
times w_none within one step.  So the curve is taken at the speed with which the step ends.  Each
joint is on one of three branches: *free*, with the torque that is wanted; *falling*, with the
constant b w_none less the viscous friction b w, which plants take implicitly; *spent*, with none.
A step that ends off a branch is taken back and repeated with the joint on the next one.  The
branches are those of a monotone function, so that there is one answer; it mostly takes one
repetition, and none while the branches are those of the step before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from balance.config.actuators import SpeedTorqueConfig
from balance.errors import RobotError
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse, Plant

Array = NDArray[np.float64]
Branches = NDArray[np.int8]

FREE, FALLING, SPENT = 0, 1, 2
MOST_TRIES = 14
TOGETHER = 6  # tries after which joints change their branches one by one, which cannot go round
ROUNDING = 1e-9  # of the full torque: a joint so near to the end of its branch stays on it


class SpeedCurve:
    """What drives give at speed, for all joints of a robot."""

    def __init__(self, curve: SpeedTorqueConfig, robot: Robot) -> None:
        rated = robot.rated_speeds
        for name, speed in zip(robot.joint_names, rated, strict=True):
            if not 0.0 < speed < np.inf:
                raise RobotError(
                    f"actuators.speed_torque needs the rated speed of joint '{name}' of robot "
                    f"'{robot.name}'; it is {speed:g} rad/s and must be positive and finite"
                )
        self._full, self._none = curve.full_until * rated, curve.none_from * rated
        self._slope = robot.effort_limits / (self._none - self._full)
        self._most = robot.effort_limits
        self._slowest = float(self._full.min())
        self.forget()

    def forget(self) -> None:
        """Start again: all joints are slow."""
        self._branches: Branches = np.zeros(self._full.size, dtype=np.int8)
        self._all_free = True

    def step(self, plant: Plant, wanted: Array, impulses: Sequence[BodyImpulse]) -> None:
        """Advance the plant by one step under what is to be had of the wanted torques (nj,).

        While no joint gets fast, that is exactly a step of the plant.
        """
        if not plant.remember():
            plant.step(self.cut(wanted, plant.v[6:]), impulses)
            return
        start = plant.v
        if self._all_free:
            plant.step(wanted, impulses)
            if self._slow(plant.v):
                return
        self._follow(plant, start[6:], wanted, impulses)

    def cut(self, torques: Array, velocities: Array) -> Array:
        """Torques (nj,) within the curve at these velocities; those that brake are left alone."""
        limit = np.clip(self._slope * (self._none - np.abs(velocities)), 0.0, self._most)
        driving = torques * velocities > 0.0
        return np.where(driving, np.clip(torques, -limit, limit), torques)

    def _slow(self, v: Array) -> bool:
        """Whether every joint has its full torque."""
        # The sum of squares, the base's included, settles it for a robot that stands.
        return bool(v.dot(v) <= self._slowest**2 or (np.abs(v[6:]) <= self._full).all())

    def _follow(
        self, plant: Plant, start: Array, wanted: Array, impulses: Sequence[BodyImpulse]
    ) -> None:
        """End a step from velocities ``start`` on the branches; all free may have been tried."""
        lowest, highest = plant.torque_range
        torques = np.minimum(np.maximum(wanted, lowest), highest)
        sign, size = np.sign(torques), np.abs(torques)
        first = np.where(sign * start < self._none, FALLING, SPENT)  # to be tried after free
        stepped = self._all_free
        for tried in range(MOST_TRIES):
            if not stepped:
                self._try(plant, torques, sign, impulses)
            speed = sign * plant.v[6:]
            found = self._next(speed, size, first)
            undecided = found != self._branches
            stepped = not undecided.any()
            if stepped:
                break
            plant.go_back()
            if tried >= TOGETHER:
                undecided[int(np.argmax(undecided)) + 1 :] = False
            self._branches = np.where(undecided, found, self._branches)
        if not stepped:
            self._give_up(plant, torques, sign, size, first, impulses)
        self._all_free = not self._branches.any()

    def _give_up(
        self,
        plant: Plant,
        torques: Array,
        sign: Array,
        size: Array,
        first: NDArray[np.int_],
        impulses: Sequence[BodyImpulse],
    ) -> None:
        """End a step for which no branches fit: joints that are off theirs get no torque.

        Contacts with friction may leave none that fit, now and then in a fall.  A drive that gives
        less than it has is within its curve; one that stays on its branch might not be.  Each try
        leaves fewer joints that may be off, so there is a last one.
        """
        off = np.zeros(sign.size, dtype=bool)
        while True:
            self._branches[off] = SPENT
            self._try(plant, torques, sign, impulses)
            found = self._next(sign * plant.v[6:], size, first)
            more = (found != self._branches) & (self._branches != SPENT)
            if not more.any():
                break
            plant.go_back()
            off |= more
        self._branches[off] = FREE

    def _next(self, speed: Array, size: Array, first: NDArray[np.int_]) -> Branches:
        """Each joint's branch, or the one to try next if the step ended off it."""
        line, rounding = self._slope * (self._none - speed), ROUNDING * self._most
        found = self._branches.copy()
        free, falling = self._branches == FREE, self._branches == FALLING
        too_fast = free & (speed > self._full) & (line < size - rounding)
        found[too_fast] = first[too_fast]
        found[falling & (line > size + rounding)] = FREE
        found[falling & (line < -rounding)] = SPENT
        found[~free & ~falling & (line > rounding)] = FALLING
        return found

    def _try(
        self, plant: Plant, torques: Array, sign: Array, impulses: Sequence[BodyImpulse]
    ) -> None:
        """A step of the plant with every joint on its branch."""
        falling = self._branches == FALLING
        torques = np.where(self._branches == SPENT, 0.0, torques)
        torques[falling] = (sign * self._slope * self._none)[falling]
        damping, limits = plant.joint_damping, plant.torque_range
        kept_damping, kept_limits = damping.copy(), limits.copy()
        damping[falling] += self._slope[falling]
        # The constant alone is larger than any torque of the drive; less the friction it is not.
        limits[:, falling] = [[-np.inf], [np.inf]]
        try:
            plant.step(torques, impulses)
        finally:
            damping[:], limits[:] = kept_damping, kept_limits
