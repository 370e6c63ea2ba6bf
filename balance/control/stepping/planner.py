"""Where and when a foot shall land so that the robot can be caught there.

The linear inverted pendulum on a stance foot, with its capture point xi = x + v / omega and the CoP
p at rest, has

    xi(T) = p + (xi - p) exp(omega T).

For each time T that the swing may still take, p is the CoP of the stance sole that brings xi(T)
nearest to where a foot beside the stance foot would hold it; the foot then lands a little beyond
xi, within reach.  The time with the least cost is taken: what a landing within reach misses counts
most, then what a foot cannot travel in the time, then distance and time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.sizes import INWARDS, LONGER, OUTWARDS, StepSizes

Array = NDArray[np.float64]

MISSED, FAR, DISTANCE, TIME = 10.0, 8.0, 0.3, 1.0  # per m, m, m and s
CHANGE = 0.5  # per s by which a plan changes its time
CANDIDATES = 16
SOONEST_S = 1e-3


@dataclass(frozen=True, slots=True)
class Landing:
    """``place`` (2,) of the sole's centre, ``time`` (s) until touch-down, ``cop`` (2,) until then.

    ``missed`` (m) is how far the place is from where it would catch the robot.
    """

    place: Array
    time: float
    cop: Array
    missed: float
    cost: float


@dataclass(frozen=True, slots=True)
class Pendulum:
    """Ground points (2,) of the CoM and its capture point, m."""

    com: Array
    xi: Array


@dataclass(frozen=True, slots=True)
class Lifted:
    """How long ago (s) a foot left the ground, where it and the CoM were, (2,) each."""

    passed: float
    foot: Array
    com: Array


def plan_landing(
    sizes: StepSizes,
    pendulum: Pendulum,
    swing: int,
    stance: Array,
    heading: float,
    foot: Array,
    times: Array,
    before: float,
    lifted: Lifted | None = None,
    planned: float | None = None,
) -> Landing:
    """The best landing of foot ``swing`` (0 left, 1 right) with the other one at ``stance`` (2,).

    ``foot`` (2,) is where it is, ``times`` (n,) how long it may still be in the air, after
    ``before`` s in which it still stands; ``lifted`` says how it left the ground, if it has, and
    ``planned`` the time of the last plan.
    """
    c, s = np.cos(heading), np.sin(heading)
    turn = np.array([[c, s], [-s, c]])  # into the heading's axes, from the stance foot
    xi, com, foot = (turn @ (one - stance) for one in (pendulum.xi, pendulum.com, foot))
    side = 1.0 if swing == 0 else -1.0
    growth = np.exp(sizes.omega * np.maximum(times + before, SOONEST_S))[:, None]
    want = np.array([0.0, side * (sizes.width - INWARDS * sizes.leg)])
    half = sizes.half[1 - swing]
    cop = np.clip((want - xi * growth) / (1.0 - growth), -half, half)
    borne = growth * np.exp(sizes.omega * sizes.load)
    caught = cop + (xi - cop) * borne
    ideal = caught * [LONGER, 1.0] + [0.0, side * OUTWARDS * sizes.leg]
    place = ideal.copy()
    moved = (com - cop) * np.cosh(sizes.omega * (times + before))[:, None] + cop
    moved += (xi - com) * np.sinh(sizes.omega * (times + before))[:, None]
    place[:, 0] = np.clip(place[:, 0], -sizes.fore, sizes.fore)
    outmost = np.minimum(side * moved[:, 1] + sizes.beside_hip, sizes.wide)
    across = np.minimum(side * place[:, 1], np.maximum(outmost, sizes.narrow))
    place[:, 1] = side * np.maximum(across, sizes.narrow)
    # Too far out is no miss where the foot is put down inside of it.
    short = np.abs(ideal[:, 0] - place[:, 0])
    across = side * (ideal[:, 1] - place[:, 1])
    missed = np.hypot(short, np.where(across > 0.0, across, 0.5 * across))
    # How far the foot has to go relative to the CoM.
    passed, start, com_start = 0.0, foot, com
    if lifted is not None:
        passed = lifted.passed
        start, com_start = turn @ (lifted.foot - stance), turn @ (lifted.com - stance)
    way = place - start - (moved - com_start)
    distance = np.hypot(way[:, 0], way[:, 1])
    azimuth = float(np.arctan2(*(place - start).mean(axis=0)[::-1]))
    beyond = np.maximum(distance - sizes.travel(azimuth, passed + times), 0.0)
    cost = MISSED * missed + FAR * beyond + TIME * times
    cost += DISTANCE * np.hypot(*(place - foot).T)
    if planned is not None:
        cost += CHANGE * np.abs(times - planned)
    best = int(cost.argmin())
    return Landing(
        stance + turn.T @ place[best],
        float(times[best]),
        stance + turn.T @ cop[best],
        float(missed[best]),
        float(cost[best]),
    )
