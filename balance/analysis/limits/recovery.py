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
from balance.errors import InputError
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot
from balance.robots.capability import StepNumbers, step_numbers
from balance.robots.capability.capability import FRICTION
from balance.robots.capability.kept import kept

Array = NDArray[np.float64]

STANDING = (0.05,) * 16 + (0.1,) * 12 + (0.25,) * 8
"""Samples of a recovery without a step, 1 / omega: 4 / omega in all."""
SWINGS = (0.5, 0.65, 0.8, 1.0, 1.25, 1.6)
"""Times of a swing that are tried, 1 / omega."""
BINDING = 0.02  # a bound with a smaller share is not named
MOST_STEPS = 6
LEAST_FRICTION = 1e-3


@dataclass(frozen=True)
class RecoveryLimit:
    """The largest push along a direction that the model of a robot recovers from.

    ``fraction`` is that of the ankle limit.  ``binding`` names the bounds that hold it back, the
    most costly first, and ``shares`` how much each matters: one that grows by 1 % lifts the limit
    by its share of 1 %.  ``steps`` are those taken, at most as many as were asked for, the first
    with ``first_foot``, each with ``swing_s`` in the air.
    """

    impulse_Ns: float
    fraction: float
    binding: tuple[str, ...]
    shares: Mapping[str, float]
    steps: int = 0
    first_foot: str | None = None
    swing_s: float | None = None


def recovery_limit(
    robot: Robot,
    direction: ArrayLike,
    steps: int = 0,
    *,
    height_m: float | None = None,
    duration_s: float = 0.0,
    friction: float = FRICTION,
) -> RecoveryLimit:
    """The largest level push along ``direction`` that ``robot`` could recover.

    ``steps`` is how many it may take.  The push acts at ``height_m`` above the ground, that of the
    robot's push body unless given, for ``duration_s``; ``friction`` is that of the ground.
    """
    level = _level(direction)
    if isinstance(steps, bool) or not (isinstance(steps, int) and 0 <= steps <= MOST_STEPS):
        raise InputError(f"steps is {steps!r}; it must be a whole number from 0 to {MOST_STEPS}")
    for name, value, least in (
        ("duration_s", duration_s, 0.0),
        ("friction", friction, LEAST_FRICTION),
        ("height_m", 0.0 if height_m is None else height_m, 0.0),
    ):
        if not (np.isfinite(value) and value >= least):
            raise InputError(f"{name} is {value}; it must be finite and at least {least:g}")
    height = push_height(robot) if height_m is None else height_m

    def find() -> dict[str, Any]:
        return asdict(_find(robot, level, steps, height, duration_s, friction))

    what = f"recovery limit {_code()} {level.tolist()} {steps} {height} {duration_s} {friction}"
    tree = kept(robot, what, find)
    return RecoveryLimit(**{**tree, "binding": tuple(tree["binding"])})


def _find(
    robot: Robot, level: Array, steps: int, height_m: float, duration_s: float, friction: float
) -> RecoveryLimit:
    bounds = robot_bounds(robot, friction)
    push = Push(level, height_m / bounds.height - 1.0, duration_s * bounds.omega)
    ankle = ankle_limit(robot, level)
    best = limit_of(standing_limit(bounds, push), bounds, ankle)
    if steps:
        numbers = step_numbers(robot)
        for count in range(1, steps + 1):
            found = _best_walk(robot, bounds, push, numbers, count, ankle)
            best = max(best, found, key=lambda limit: limit.impulse_Ns)
    return best


@cache
def _code() -> str:
    """A hash of the code of this folder: what it found before it changed is no longer valid."""
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(sources).hexdigest()


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
    bounds: PendulumBounds, push: Push, walk: Walk, first: int, steps: int
) -> Solution | None:
    """The largest J / (m omega), m, with ``steps``; ``first`` is 0 if the left foot begins."""
    pendulum = PendulumProgramme(bounds, push.direction, push.lift, push.duration)
    count = int(np.ceil(walk.prepare / STANDING[0]))
    for _ in range(count):
        pendulum.keep(bounds.cop, pendulum.sample(walk.prepare / count)[0])
    feet = Feet(pendulum, walk)
    swing = first
    for _ in range(steps):
        feet.step(swing)
        swing = 1 - swing
    feet.settle(1 - swing)
    pendulum.bound_moments(standing=count)
    return pendulum.lp.largest(pendulum.size)


def limit_of(found: Solution, bounds: PendulumBounds, ankle_Ns: float) -> RecoveryLimit:
    """A solution in N s, with the bounds that bind it."""
    impulse = found.value * bounds.mass * bounds.omega
    shares = {name: share for name, share in found.shares.items() if share > BINDING}
    binding = tuple(sorted(shares, key=lambda name: -shares[name]))
    fraction = impulse / ankle_Ns if ankle_Ns > 0.0 else np.inf
    return RecoveryLimit(impulse, fraction, binding, shares)


def _best_walk(
    robot: Robot,
    bounds: PendulumBounds,
    push: Push,
    numbers: StepNumbers,
    steps: int,
    ankle_Ns: float,
) -> RecoveryLimit:
    """The best of both feet first, and of all swing times, the same for all steps."""
    best = RecoveryLimit(-np.inf, -np.inf, (), {})
    for swing in SWINGS:
        time_s = swing / bounds.omega
        if time_s < numbers.swing_least:
            continue
        walk = robot_walk(robot, bounds, numbers, time_s)
        for first, name in enumerate((numbers.left, numbers.right)):
            found = walking_limit(bounds, push, walk, first, steps)
            if found is not None:
                limit = limit_of(found, bounds, ankle_Ns)
                limit = replace(limit, steps=steps, first_foot=name, swing_s=time_s)
                best = max(best, limit, key=lambda one: one.impulse_Ns)
    return best


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
