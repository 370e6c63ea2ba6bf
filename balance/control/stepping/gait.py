"""Which foot does what, and when: the states that a robot goes through as it steps.

stand -> unload -> swing -> load -> stand, or the next unload

A robot that has come to stand with its feet otherwise than nominally shifts its weight over one of
them and brings the other one back: stand -> shift -> unload -> swing -> load -> stand.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.closing import foot_to_close, nominal_place
from balance.control.stepping.legs import legs_reach
from balance.control.stepping.planner import (
    CANDIDATES,
    FootMotion,
    Landing,
    Pendulum,
    plan_landing,
)
from balance.control.stepping.seen import Eyes, Plane, Seen
from balance.control.stepping.sizes import StepSizes
from balance.control.stepping.swing import SwingPath
from balance.dynamics.convex_polygon import is_inside, nearest_in

Array = NDArray[np.float64]

TOUCH_SHARE = 0.02  # of the weight, which a foot that has touched down bears
EARLY_SHARE = 0.1  # the same where it is to land later: one that scuffs goes on
LOST_SHARE = 0.01  # the same, below which a foot that is to bear goes down
FLAT, STILL_SPEED = 0.03, 0.2  # sine of a sole's tilt that is none, m/s at which it is at rest
FLATTEN_S = 0.03  # for how long a sole that touches may be tilted or move
RESTS_SHARE = 0.2  # of the weight, that both feet bear where they feel the ground
RESTS_S = 0.05  # for how long they do so before the robot stands: a foot that bounces does not
INSIDE_M = 0.02  # by which the capture point is inside of the support when a step was the last one
FROZEN_S, LAST_S = 0.05, 0.03  # before touch-down, from when time and place are as planned
EDGE_M = 0.006  # that a CoP keeps from the edges
SLOW, CALM = 0.05, 0.04  # omega L and L: slower, and farther inside, feet can be brought together
OVER = 0.02  # of L, by which the capture point may be beside the middle of a foot that bears alone
LONGEST_SHIFT = 6.0  # / omega
SPACED = np.linspace(0.0, 1.0, CANDIDATES)
RETURN = 1.0  # of the capture point's distance from its goal, by which the CoP is beyond it
MISSED_M = 0.003  # height over its plane, at which a foot without a force sensor has landed


class Mode(Enum):
    """What the feet do."""

    STAND = "stand"
    SHIFT = "shift"
    UNLOAD = "unload"
    SWING = "swing"
    LOAD = "load"


class Gait:
    """The state of the steps; :meth:`update` goes on by a control period."""

    def __init__(self, sizes: StepSizes, eyes: Eyes, weight: float, period: float) -> None:
        self.sizes, self.eyes, self._weight, self._period = sizes, eyes, weight, period
        self.mode, self.swing = Mode.STAND, 0
        self.begin = 0.0
        """When the mode began, s."""
        self.steps = 0
        """How many steps were begun."""
        self.plan: Landing | None = None
        self._aim: tuple[Landing, Plane, Array] | None = None
        self.path: SwingPath | None = None
        self.grounds = [
            Plane(sole.plane.translation, sole.plane.rotation[:, 2]) for sole in sizes.soles
        ]
        """Under each foot, as it last stood at rest."""
        self.yaw = 0.0
        """With which the foot that steps is to land."""
        self._touched: float | None = None
        self._at = np.zeros(3)
        for margin in (0.0, EDGE_M, INSIDE_M, CALM * sizes.leg):
            eyes.hull(eyes.nominal, margin)  # smaller soles are kept: no step has time for them
        self.unload_s = sizes.prepare
        self.unload_from = weight
        self.closing = False
        """Whether the step that is under way brings the feet back to how they stand nominally."""
        self._given_up = False
        self._loose = -np.inf  # when a foot last bore too little

    @property
    def stance(self) -> int:
        """The foot that stays, while one steps."""
        return 1 - self.swing

    @property
    def stepping(self) -> bool:
        """Whether a step is under way."""
        return self.mode in (Mode.UNLOAD, Mode.SWING, Mode.LOAD)

    @property
    def ground(self) -> Plane:
        """Under the foot that steps."""
        return self.grounds[self.swing]

    def bears_both(self, seen: Seen) -> bool:
        """Whether both feet bear a good part of the weight, as far as they are felt."""
        return seen.forces is None or bool(seen.forces.min() > RESTS_SHARE * self._weight)

    def rests(self, seen: Seen) -> bool:
        """Whether the robot stands: it is slow, its capture point well inside of the support, and
        both feet have borne a good part of the weight for a while.
        """
        if self.mode is not Mode.STAND or seen.time - self._loose <= RESTS_S:
            return False
        slow = float(np.linalg.norm(seen.velocity)) < SLOW * self.sizes.omega * self.sizes.leg
        return slow and is_inside(self.eyes.hull(seen, CALM * self.sizes.leg), seen.xi)

    def rest(self, seen: Seen) -> None:
        """Feel the ground while both feet stand on it."""
        if seen.forces is not None and self.bears_both(seen):
            self.grounds = [Plane.under(pose) for pose in seen.poses]

    @property
    def aim(self) -> tuple[Landing, Array]:
        """The plan of the step that is under way, and the place (3,) on the ground."""
        plan, ground = self.plan, self.ground
        assert plan is not None
        # Asked for several times in a period.
        if self._aim is None or self._aim[0] is not plan or self._aim[1] is not ground:
            self._aim = plan, ground, ground.above(plan.place)
        return plan, self._aim[2]

    def begin_step(self, seen: Seen) -> None:
        """Take the first step, with the foot whose plan, and that of the step after it, is better.

        The first step alone would not do: a far foot that closes up costs little, and leaves the
        near one with a farther way.
        """
        (left, left_cost), (right, right_cost) = (self._first_of_two(seen, f) for f in (0, 1))
        foot, plan = (1, right) if right_cost < left_cost - 1e-9 else (0, left)
        self._unload(seen, foot, self.sizes.prepare, plan=plan)

    def _first_of_two(self, seen: Seen, foot: int) -> tuple[Landing, float]:
        """A step with a ``foot``; its cost and that of the one with the other that follows."""
        sizes, now = self.sizes, Pendulum(seen.com[:2], seen.xi)
        heading = self.eyes.heading(seen, 1 - foot)
        first = self._planned(seen, foot, self._times(), sizes.prepare)
        then = now.after(sizes.prepare + first.time + sizes.load, first.cop, sizes.omega)
        other = FootMotion.resting(seen.place(1 - foot))
        second = plan_landing(
            sizes, then, 1 - foot, first.place, heading, other, self._times(), sizes.transfer
        )
        return first, first.cost + second.cost

    def update(self, seen: Seen) -> None:
        """Go on to the state that follows, if it is time, and plan anew."""
        if not self.bears_both(seen):
            self._loose = seen.time
        if self.stepping:
            self.yaw = self.eyes.heading(seen, self.stance) + self.sizes.turns[self.swing]
        if self.mode in (Mode.STAND, Mode.SHIFT):
            self._close(seen)
        elif self.mode is Mode.UNLOAD:
            left = max(self.begin + self.unload_s - seen.time, 0.0)
            self._take_care(seen)
            self.plan = self._planned(seen, self.swing, self._times(), left)
            if left <= 0.5 * self._period:
                self._lift(seen)
        elif self.mode is Mode.SWING:
            self._take_care(seen)
            self._adapt(seen)
            if self._landed(seen):
                self.mode, self.begin = Mode.LOAD, seen.time
        elif self.mode is Mode.LOAD and seen.time - self.begin >= self.sizes.load:
            inside = is_inside(self.eyes.hull(seen, INSIDE_M), seen.xi)
            if inside and legs_reach(self.sizes, seen, self.eyes.turned(seen, self.swing)):
                self.mode, self.begin, self.plan = Mode.STAND, seen.time, None
                self.closing = False
            else:
                self._unload(seen, self.stance, self.sizes.transfer)

    def _close(self, seen: Seen) -> None:
        """Begin to bring the feet together once the robot is slow, or go on with it."""
        if self.mode is Mode.STAND:
            if not self._given_up and self.steps and self.rests(seen):
                self.rest(seen)
                if (foot := foot_to_close(self.sizes, self.eyes, seen)) is not None:
                    self.mode, self.begin, self.swing = Mode.SHIFT, seen.time, foot
                self._given_up = foot is None
            return
        passed = seen.time - self.begin
        goal = seen.place(self.stance)
        # The CoM follows by itself, and a stretched leg is the sooner off the ground.
        near = np.abs(seen.xi - goal).max() < OVER * self.sizes.leg
        if near and passed > self.sizes.shift:
            self._unload(seen, self.swing, self.sizes.close[0], closing=True)
        elif passed > LONGEST_SHIFT / self.sizes.omega:
            self.mode, self.begin, self._given_up = Mode.STAND, seen.time, True

    def _take_care(self, seen: Seen) -> None:
        """Go on as with any other step if the capture point leaves the foot that bears."""
        if self.closing and not is_inside(self.eyes.sole(seen, self.stance, 0.0), seen.xi):
            self.closing = False

    def _unload(
        self,
        seen: Seen,
        foot: int,
        duration: float,
        closing: bool = False,
        plan: Landing | None = None,
    ) -> None:
        self.closing = closing
        self._given_up = self._given_up and closing
        self.mode, self.begin, self.swing, self.unload_s = Mode.UNLOAD, seen.time, foot, duration
        self.unload_from = self._weight
        if seen.forces is not None:
            self.unload_from = min(max(float(seen.forces[foot]), 1e-3), self._weight)
        self._touched = None
        self.steps += 1
        self.plan = plan or self._planned(seen, foot, self._times(), duration)

    def _lift(self, seen: Seen) -> None:
        self.mode, self.begin = Mode.SWING, seen.time
        place = seen.places[self.swing]
        self.path = SwingPath(place, self.sizes.lift, self.sizes.landing_speed, self.sizes.lowering)

    def _adapt(self, seen: Seen) -> None:
        """Plan time and place of the touch-down anew."""
        assert self.plan is not None
        if self.closing:
            self.plan = self._planned(seen, self.swing, self._times(), 0.0)
            return
        left = self.plan.time - self._period
        times = self._times(seen.time - self.begin)
        times = times[times > LAST_S]
        if left > FROZEN_S and len(times):
            self.plan = self._planned(seen, self.swing, times, 0.0, left)
            return
        plan = self._planned(seen, self.swing, np.array([max(left, 0.0)]), 0.0)
        place = self.plan.place
        self.plan = replace(plan, place=place, time=left)

    def _landed(self, seen: Seen) -> bool:
        """Whether the foot is down: it touches, flat and at rest, or has had its time to be."""
        assert self.path is not None
        pose = seen.poses[self.swing]
        if self.path.rises or not self._touches(seen):
            self._touched = None  # it may have bounced
            return False
        if self._touched is None:
            self._touched, self._at = seen.time, pose.translation.copy()
        moved = float(np.linalg.norm(pose.translation - self._at)) / self._period
        self._at = pose.translation.copy()
        self.path.touch(pose.translation)
        down = self.ground.tilt(pose) < FLAT and moved < STILL_SPEED
        return (down and seen.time > self._touched) or seen.time - self._touched > FLATTEN_S

    def off_ground(self, seen: Seen) -> list[bool]:
        """Which feet are to bear and feel no ground: a leg that is stretched may lose it."""
        if seen.forces is None:
            return [False, False]
        off = [force < LOST_SHARE * self._weight for force in seen.forces.tolist()]
        if self.mode in (Mode.UNLOAD, Mode.SWING):
            off[self.swing] = False
        return off

    def _touches(self, seen: Seen) -> bool:
        assert self.plan is not None
        if seen.forces is not None:
            share = TOUCH_SHARE if self.plan.time < FROZEN_S else EARLY_SHARE
            return bool(seen.forces[self.swing] > share * self._weight)
        place = seen.places[self.swing]
        height = place[2] - self.ground.above(place[:2])[2]
        return bool(self.plan.time < FROZEN_S and height < MISSED_M)

    def _planned(
        self, seen: Seen, foot: int, times: Array, before: float, planned: float | None = None
    ) -> Landing:
        if self.closing:
            passed = seen.time - self.begin if self.mode is Mode.SWING else 0.0
            place = nominal_place(self.sizes, self.eyes, seen, foot)
            return Landing(place, self.sizes.close[1] - passed, self.cop(seen), 0.0, 0.0)
        motion = FootMotion.resting(seen.place(foot))
        if self.mode is Mode.SWING and self.path is not None:
            path = self.path
            motion = FootMotion(path.place[:2], path.velocity[:2])
        return plan_landing(
            self.sizes,
            Pendulum(seen.com[:2], seen.xi),
            foot,
            seen.place(1 - foot),
            self.eyes.heading(seen, 1 - foot),
            motion,
            times,
            before,
            planned,
        )

    def _times(self, elapsed: float = 0.0) -> Array:
        """For how long a foot may still be in the air, that has been for ``elapsed`` s."""
        least, most = self.sizes.swing
        first, last = max(least - elapsed, 0.0), max(most - elapsed, 0.0)
        return first + (last - first) * SPACED

    def cop(self, seen: Seen) -> Array:
        """Where the CoP shall be now (2,)."""
        stepping = self.mode in (Mode.UNLOAD, Mode.SWING)
        if stepping and not self.closing and self.plan is not None:
            return self.plan.cop
        goal, region = seen.middle[:2], self.eyes.hull(seen, EDGE_M)
        if self.mode is Mode.SHIFT:
            share = min((seen.time - self.begin) / self.sizes.shift, 1.0)
            goal = goal + share * (seen.place(self.stance) - goal)
        elif stepping:
            goal = seen.place(self.stance)
            region = self.eyes.sole(seen, self.stance, EDGE_M)
        return nearest_in(region, seen.xi + RETURN * (seen.xi - goal))
