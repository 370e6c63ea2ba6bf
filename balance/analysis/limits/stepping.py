"""Steps of the pendulum with a flywheel: where feet land is unknown too, and linear.

Each step: a foot leaves the ground, the CoP is on the other one for the time of the swing and until
the landed foot bears, then it may be on that one.  Places of feet are unknowns of the programme, so
that every bound on them is linear:

- the swing foot moves with the CoM, plus what its speed and acceleration allow in the time;
- it lands within reach of its hip, and the stance foot stays within reach of its own;
- it lands within a stride of the stance foot, left of it if it is the left one: feet do not cross.

After the last step the landed foot must hold the capture point.  What lies between the feet a
shorter step could have held as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.analysis.limits.bounds import HalfPlanes
from balance.analysis.limits.pendulum import CIRCLE, PendulumProgramme
from balance.analysis.limits.programme import Numbers
from balance.robots.capability.body import level_directions
from balance.robots.capability.steps import STEP_AZIMUTHS, StepNumbers

Array = NDArray[np.float64]

TRAVEL, REACH, SPACING = "foot speed", "leg reach", "foot spacing"
SAMPLE = 0.1  # of time within a step, about, 1 / omega
AFTER = (0.1,) * 8 + (0.25,) * 4
"""Samples after the last landing, 1 / omega."""


@dataclass(frozen=True)
class Walk:
    """What bounds steps, lengths in m and times in 1 / omega; left foot and hip first.

    ``sole`` bounds a centre of pressure relative to the centre of the foot it is on; ``travel``
    (8,) is how far a foot gets in one swing, relative to the CoM, to the azimuths of
    ``STEP_AZIMUTHS``, ``spread`` how far from its hip a foot may be, ``stride`` how far the feet
    from where they stand under the hips, ``narrowest`` their least distance sideways.  What is None
    does not bind.  ``transfer`` is the time between two steps in which a foot stands and its load
    goes over to the other; ``fore`` and ``widest`` bound the feet's distance fore and aft, and
    sideways.
    """

    feet: Array
    hips: Array
    sole: HalfPlanes
    prepare: float
    swing: float
    load: float
    travel: Array | None = None
    spread: float | None = None
    stride: float | None = None
    narrowest: float | None = None
    transfer: float = 0.0
    fore: float | None = None
    widest: float | None = None


def foot_travel(numbers: StepNumbers, time_s: float) -> Array:
    """How far (8,) a foot gets in ``time_s``: faster, steady and slower again."""
    speed, acceleration = numbers.foot_speed, numbers.foot_acceleration
    ramp = speed / acceleration
    steady = speed * (time_s - ramp)
    return np.asarray(np.where(time_s > 2.0 * ramp, steady, 0.25 * acceleration * time_s**2))


class Feet:
    """The places of both feet as unknowns, which change with each landing."""

    def __init__(self, pendulum: PendulumProgramme, walk: Walk) -> None:
        """``walk`` says where they are; each step may have bounds of its own."""
        self.pendulum, self.lp = pendulum, pendulum.lp
        self.places = []
        for foot in walk.feet:
            place = self.lp.unknowns(2)
            self.lp.equal(place, np.eye(2), foot)
            self.places.append(place)

    def step(self, swing: int, walk: Walk) -> None:
        """Foot ``swing``, 0 for the left, takes a step while the CoP is on the other."""
        pendulum = self.pendulum
        stance, lifted_x = self.places[1 - swing], pendulum.x
        for s in _samples(walk.swing):
            pendulum.keep(walk.sole, pendulum.sample(s)[0], stance)
        landed = self.lp.unknowns(2)
        self._travel(walk, swing, landed, lifted_x)
        self._reach(walk, swing, landed)
        self._reach(walk, 1 - swing, stance)
        self._stride(walk, swing, landed, stance)
        self.places[swing] = landed
        for s in _samples(walk.load):
            pendulum.keep(walk.sole, pendulum.sample(s)[0], stance)

    def _travel(self, walk: Walk, swing: int, landed: Numbers, lifted_x: Numbers) -> None:
        if walk.travel is None:
            return
        normals = level_directions(STEP_AZIMUTHS)
        columns = np.concatenate([landed, self.places[swing], self.pendulum.x, lifted_x])
        rows = np.hstack([normals, -normals, -normals, normals])
        self.lp.below(TRAVEL, columns, rows, walk.travel)

    def _reach(self, walk: Walk, foot: int, place: Numbers) -> None:
        if walk.spread is not None:
            columns = np.append(place, self.pendulum.x)
            most = walk.spread + CIRCLE @ walk.hips[foot]
            self.lp.below(REACH, columns, np.hstack([CIRCLE, -CIRCLE]), most)

    def _stride(self, walk: Walk, swing: int, landed: Numbers, stance: Numbers) -> None:
        if walk.stride is not None:
            rows = np.hstack([CIRCLE, -CIRCLE])
            most = walk.stride + CIRCLE @ (walk.hips[swing] - walk.hips[1 - swing])
            self.lp.below(REACH, np.append(landed, stance), rows, most)
        if walk.fore is not None:
            columns = np.array([landed[0], stance[0]])
            self.lp.below(REACH, columns, np.array([[1.0, -1.0], [-1.0, 1.0]]), walk.fore)
        left, right = (landed, stance) if swing == 0 else (stance, landed)
        columns = np.array([left[1], right[1]])
        if walk.widest is not None:
            self.lp.below(REACH, columns, np.array([[1.0, -1.0]]), walk.widest)
        if walk.narrowest is not None:
            self.lp.below(SPACING, columns, np.array([[-1.0, 1.0]]), -walk.narrowest)

    def transfer(self, onto: int, walk: Walk) -> None:
        """Both feet stand, and the CoP is already on the one that bears next."""
        for s in _samples(walk.transfer):
            self.pendulum.keep(walk.sole, self.pendulum.sample(s)[0], self.places[onto])

    def settle(self, landed: int, walk: Walk) -> None:
        """After the last step: the CoP on the landed foot, then the capture point at rest."""
        pendulum = self.pendulum
        for s in AFTER:
            pendulum.keep(walk.sole, pendulum.sample(s)[0], self.places[landed])
        point = pendulum.come_to_rest()
        pendulum.keep(walk.sole, point, self.places[landed])


def _samples(time: float) -> list[float]:
    count = max(1, round(time / SAMPLE))
    return [time / count] * count if time > 0.0 else []
