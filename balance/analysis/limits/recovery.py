"""The largest push that any law could recover, in the best-understood model of a robot.

docs/limits.md derives it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from balance.analysis.limits.bounds import HalfPlanes, PendulumBounds, robot_bounds
from balance.analysis.limits.pendulum import PendulumProgramme
from balance.analysis.limits.programme import Solution
from balance.analysis.limits.stepping import Feet, Walk, foot_travel
from balance.control.stepping.sizes import foot_limits, step_sizes
from balance.errors import InputError, RobotError
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot
from balance.robots.capability import StepNumbers, step_numbers
from balance.robots.capability.capability import FRICTION
from balance.robots.capability.cop import stands_on_level_feet
from balance.robots.capability.kept import kept
from balance.robots.capability.steps import STEP_AZIMUTHS, left_and_right
from balance.robots.support_polygon import support_polygon

Array = NDArray[np.float64]

STANDING = (0.05,) * 16 + (0.1,) * 12 + (0.25,) * 8
"""Samples of a recovery without a step, 1 / omega: 4 / omega in all."""
PEAK_RATE, PEAK_BEND = 1.5, 6.0  # of the law's path, the cubic from rest to rest, over 1 s and 1 m
SWINGS = (0.5, 0.65, 0.8, 1.0, 1.25, 1.6)
"""Times of a swing that are tried, 1 / omega."""
BINDING = 0.02  # a bound with a smaller share is not named
MOST_STEPS = 6
FASTEST = "fastest"
GAITS = (FASTEST, "stepping")
LEAST_FRICTION = 1e-3


@dataclass(frozen=True)
class RecoveryLimit:
    """The largest push along a direction that the model of a robot recovers from.

    ``fraction`` is that of the ankle limit.  ``binding`` names the bounds that hold it back, the
    most costly first, and ``shares`` how much each matters: one that grows by 1 % lifts the limit
    by its share of 1 %.  ``steps`` are those taken, at most as many as were asked for, the first
    with ``first_foot``; ``swing_s`` are the times of the feet in the air.
    """

    impulse_Ns: float
    fraction: float
    binding: tuple[str, ...]
    shares: Mapping[str, float]
    steps: int = 0
    first_foot: str | None = None
    swing_s: tuple[float, ...] = ()


def recovery_limit(
    robot: Robot,
    direction: ArrayLike,
    steps: int = 0,
    *,
    height_m: float | None = None,
    duration_s: float = 0.0,
    friction: float = FRICTION,
    gait: str = FASTEST,
) -> RecoveryLimit:
    """The largest level push along ``direction`` that ``robot`` could recover.

    ``steps`` is how many it may take.  The push acts at ``height_m`` above the ground, that of the
    robot's push body unless given, for ``duration_s``; ``friction`` is that of the ground.  Steps
    are as fast and far as drives and legs allow (``gait`` is "fastest"), or as those of the law
    `stepping` ("stepping").
    """
    level = _level(direction)
    check_question(robot, steps, height_m, duration_s, friction)
    if gait not in GAITS:
        raise InputError(f"gait is {gait!r}; valid: {', '.join(GAITS)}")
    height = push_height(robot) if height_m is None else height_m

    def find() -> dict[str, Any]:
        return asdict(_find(robot, level, steps, height, duration_s, friction, gait))

    question = f"{level.tolist()} {steps} {height} {duration_s} {friction} {gait}"
    what = f"recovery limit {_code()} {question}"
    tree = kept(robot, what, find)
    names = ("binding", "swing_s")
    return RecoveryLimit(**{**tree, **{name: tuple(tree[name]) for name in names}})


def _find(
    robot: Robot,
    level: Array,
    steps: int,
    height_m: float,
    duration_s: float,
    friction: float,
    gait: str,
) -> RecoveryLimit:
    bounds = robot_bounds(robot, friction)
    push = Push(level, height_m / bounds.height - 1.0, duration_s * bounds.omega)
    ankle = ankle_limit(robot, level)
    best = limit_of(standing_limit(bounds, push), bounds, ankle)
    if steps:
        walks = _Walks(robot, bounds, push, ankle, gait)
        for count in range(1, steps + 1):
            best = max(best, walks.best(count), key=lambda limit: limit.impulse_Ns)
    return best


@cache
def _code() -> str:
    """A hash of the code of this folder: what it found before it changed is no longer valid."""
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(sources).hexdigest()


def check_question(
    robot: Robot, steps: int, height_m: float | None, duration_s: float, friction: float
) -> None:
    """Raise if the limit cannot be asked for like that."""
    if isinstance(steps, bool) or not (isinstance(steps, int) and 0 <= steps <= MOST_STEPS):
        raise InputError(f"steps is {steps!r}; it must be a whole number from 0 to {MOST_STEPS}")
    for name, value, least in (
        ("duration_s", duration_s, 0.0),
        ("friction", friction, LEAST_FRICTION),
        ("height_m", 0.0 if height_m is None else height_m, 0.0),
    ):
        if not (np.isfinite(value) and value >= least):
            raise InputError(f"{name} is {value:g}; it must be finite and at least {least:g}")
    if not support_polygon(robot).has_area or not stands_on_level_feet(robot):
        raise RobotError(
            "the recovery limit is that of a robot which stands on level ground, on feet that span "
            f"an area and nothing else; '{robot.name}' stands otherwise"
        )
    if steps:
        left_and_right(robot)


@dataclass(frozen=True)
class Push:
    """A unit vector (2,), the height above the CoM over its own, and the duration, 1 / omega."""

    direction: Array
    lift: float = 0.0
    duration: float = 0.0


def push_height(robot: Robot) -> float:
    """Height (m) of the push body's origin."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    return float(data.oMf[robot.model.getFrameId(robot.push_body)].translation[2])


def standing_limit(
    bounds: PendulumBounds, push: Push, samples: Sequence[float] = STANDING
) -> Solution:
    """The largest J / (m omega), m, without a step."""
    pendulum = PendulumProgramme(bounds, push.direction, push.lift, push.duration)
    for s in samples:
        pendulum.keep(bounds.cop, pendulum.sample(s)[0])
    pendulum.bound_moments(standing=len(samples))
    pendulum.keep(bounds.cop, pendulum.come_to_rest())
    return _solved(pendulum)


def walking_limit(
    bounds: PendulumBounds, push: Push, walks: Sequence[Walk], first: int
) -> Solution | None:
    """The largest J / (m omega), m, with a step for each of ``walks``.

    ``first`` is 0 if the left foot begins, else 1.
    """
    pendulum = PendulumProgramme(bounds, push.direction, push.lift, push.duration)
    count = int(np.ceil(walks[0].prepare / STANDING[0]))
    for _ in range(count):
        pendulum.keep(bounds.cop, pendulum.sample(walks[0].prepare / count)[0])
    feet = Feet(pendulum, walks[0])
    swing = first
    for number, walk in enumerate(walks):
        if number:
            feet.transfer(1 - swing, walk)
        feet.step(swing, walk)
        swing = 1 - swing
    feet.settle(1 - swing, walks[-1])
    pendulum.bound_moments(standing=count)
    return pendulum.lp.largest(pendulum.size)


def limit_of(found: Solution, bounds: PendulumBounds, ankle_Ns: float) -> RecoveryLimit:
    """A solution in N s, with the bounds that bind it."""
    impulse = found.value * bounds.mass * bounds.omega
    shares = {name: share for name, share in found.shares.items() if share > BINDING}
    binding = tuple(sorted(shares, key=lambda name: -shares[name]))
    fraction = impulse / ankle_Ns if ankle_Ns > 0.0 else np.inf
    return RecoveryLimit(impulse, fraction, binding, shares)


NOTHING = RecoveryLimit(-np.inf, -np.inf, (), {})


class _Walks:
    """Searches the swing times of a number of steps, and which foot goes first."""

    def __init__(
        self, robot: Robot, bounds: PendulumBounds, push: Push, ankle_Ns: float, gait: str
    ) -> None:
        self.bounds, self.push, self.ankle_Ns = bounds, push, ankle_Ns
        self.numbers = step_numbers(robot)
        least, walk_of = self.numbers.swing_least, robot_walk
        if gait != FASTEST:
            least, walk_of = step_sizes(robot).swing[0], law_walk
        times = {max(swing / bounds.omega, least) for swing in SWINGS}
        self.walks = {time: walk_of(robot, bounds, self.numbers, time) for time in sorted(times)}

    def best(self, steps: int) -> RecoveryLimit:
        """First with the same time for all steps, then with another for each in its turn."""
        best = NOTHING
        for first in (0, 1):
            found = NOTHING
            for time in self.walks:
                found = self._better(found, (time,) * steps, first)
            for step in range(steps if found.swing_s and steps > 1 else 0):
                for time in self.walks:
                    swings = (*found.swing_s[:step], time, *found.swing_s[step + 1 :])
                    found = self._better(found, swings, first)
            best = max(best, found, key=lambda limit: limit.impulse_Ns)
        return best

    def _better(self, best: RecoveryLimit, swings: tuple[float, ...], first: int) -> RecoveryLimit:
        if best.swing_s == swings:
            return best
        walks = [self.walks[time] for time in swings]
        found = walking_limit(self.bounds, self.push, walks, first)
        if found is None or found.value * self.bounds.mass * self.bounds.omega <= best.impulse_Ns:
            return best
        limit = limit_of(found, self.bounds, self.ankle_Ns)
        return replace(limit, steps=len(swings), first_foot=self._name(first), swing_s=swings)

    def _name(self, first: int) -> str:
        return (self.numbers.left, self.numbers.right)[first]


def robot_walk(robot: Robot, bounds: PendulumBounds, numbers: StepNumbers, swing_s: float) -> Walk:
    """The bounds of a robot's steps with a given swing time."""
    sole = next(surface for surface in robot.soles if surface.name == numbers.left)
    corners = np.asarray(sole.corners[:, :2])
    return Walk(
        feet=numbers.feet,
        hips=numbers.hips,
        sole=HalfPlanes.of(corners),
        prepare=numbers.prepare * bounds.omega,
        swing=swing_s * bounds.omega,
        load=numbers.load * bounds.omega,
        travel=foot_travel(numbers, swing_s),
        spread=numbers.spread,
        stride=numbers.reach,
        narrowest=numbers.narrowest,
    )


def law_walk(robot: Robot, bounds: PendulumBounds, numbers: StepNumbers, swing_s: float) -> Walk:
    """The same with times, reach and path of the foot as the law `stepping` plans them.

    The law weighs the way that a foot gets in its time, and may ask for more.
    """
    sizes = step_sizes(robot)
    limits = np.array([foot_limits(sizes.of_plan, azimuth) for azimuth in STEP_AZIMUTHS])
    travel = np.minimum(limits[:, 0] * swing_s / PEAK_RATE, limits[:, 1] * swing_s**2 / PEAK_BEND)
    return replace(
        robot_walk(robot, bounds, numbers, swing_s),
        prepare=sizes.prepare * bounds.omega,
        load=sizes.load * bounds.omega,
        transfer=sizes.transfer * bounds.omega,
        travel=travel,
        spread=sizes.around_hip,
        fore=sizes.fore,
        widest=sizes.wide,
        narrowest=sizes.narrow,
    )


def _level(direction: ArrayLike) -> Array:
    vector = np.asarray(direction, dtype=float)
    if vector.ndim != 1 or vector.size not in (2, 3) or not np.isfinite(vector).all():
        raise InputError(f"direction is {direction!r}; it must have two or three finite numbers")
    length = float(np.linalg.norm(vector[:2]))
    if length < 1e-9:
        raise InputError(f"direction is {direction!r}; it must have a level part")
    return np.asarray(vector[:2] / length)


def _solved(pendulum: PendulumProgramme) -> Solution:
    found = pendulum.lp.largest(pendulum.size)
    if found is None:
        raise InputError(
            "the robot cannot even stand in this model: its CoM is not over where contacts, "
            "friction and torque limits let the centre of pressure be"
        )
    return found
