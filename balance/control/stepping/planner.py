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

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.sizes import (
    INWARDS,
    LONGER,
    OUTWARDS,
    PlanSizes,
    StepSizes,
    foot_travel,
)
from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]

MISSED, FAR, DISTANCE, TIME = 10.0, 8.0, 0.3, 1.0  # per m, m, m and s
CHANGE = 0.5  # per s by which a plan changes its time
CANDIDATES = 16
SOONEST_S = 1e-3


@dataclass(slots=True)  # made in every step, where frozen would cost a microsecond
class Landing:
    """``place`` (2,) of the sole's centre, ``time`` (s) until touch-down, ``cop`` (2,) until then.

    ``missed`` (m) is how far the place is from where it would catch the robot.
    """

    place: Array
    time: float
    cop: Array
    missed: float
    cost: float


@dataclass(slots=True)
class Pendulum:
    """Ground points (2,) of the CoM and its capture point, m."""

    com: Array
    xi: Array


@dataclass(slots=True)
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
    c, s = math.cos(heading), math.sin(heading)
    turn = np.array([[c, s], [-s, c]])  # into the heading's axes, from the stance foot
    passed, start, com_start = 0.0, foot, pendulum.com
    if lifted is not None:
        passed, start, com_start = lifted.passed, lifted.foot, lifted.com
    points = np.array([pendulum.xi, pendulum.com, foot, start, com_start])
    place, time, cop, missed, cost = best_landing(
        sizes.of_plan, swing, turn, (points - stance).dot(turn.T), times, before, passed,
        -1.0 if planned is None else planned,
    )  # fmt: skip
    return Landing(stance + place, time, stance + cop, missed, cost)


@compiled
def best_landing(
    sizes: PlanSizes,
    swing: int,
    turn: Array,
    points: Array,
    times: Array,
    before: float,
    passed: float,
    planned: float,
) -> tuple[Array, float, Array, float, float]:
    """Place, time, CoP, what is missed and cost of the best landing, from the stance foot.

    ``points`` (5, 2), in the heading's axes, are the capture point, the CoM, the foot, and where
    foot and CoM were ``passed`` s ago, when the foot left the ground; ``turn`` takes to those axes.
    ``planned`` is negative without a last plan.
    """
    xi, com, foot, start, com_start = points[0], points[1], points[2], points[3], points[4]
    omega, side = sizes.omega, 1.0 if swing == 0 else -1.0
    growth = np.exp(omega * np.maximum(times + before, SOONEST_S))
    want_y = side * (sizes.width - INWARDS * sizes.leg)
    half = sizes.half[1 - swing]
    cop_x = np.clip(-xi[0] * growth / (1.0 - growth), -half[0], half[0])
    cop_y = np.clip((want_y - xi[1] * growth) / (1.0 - growth), -half[1], half[1])
    borne = growth * math.exp(omega * sizes.load)
    ideal_x = (cop_x + (xi[0] - cop_x) * borne) * LONGER
    ideal_y = cop_y + (xi[1] - cop_y) * borne + side * OUTWARDS * sizes.leg
    cosh, sinh = np.cosh(omega * (times + before)), np.sinh(omega * (times + before))
    moved_x = (com[0] - cop_x) * cosh + cop_x + (xi[0] - com[0]) * sinh
    moved_y = (com[1] - cop_y) * cosh + cop_y + (xi[1] - com[1]) * sinh
    x = np.clip(ideal_x, -sizes.fore, sizes.fore)
    outmost = np.minimum(side * moved_y + sizes.beside_hip, sizes.wide)
    across = np.minimum(side * ideal_y, np.maximum(outmost, sizes.narrow))
    y = side * np.maximum(across, sizes.narrow)
    # Too far out is no miss where the foot is put down inside of it.
    across = side * (ideal_y - y)
    missed = np.hypot(ideal_x - x, np.where(across > 0.0, across, 0.5 * across))
    # How far the foot has to go relative to the CoM.
    way_x = x - start[0] - (moved_x - com_start[0])
    way_y = y - start[1] - (moved_y - com_start[1])
    azimuth = math.atan2((y - start[1]).mean(), (x - start[0]).mean())
    beyond = np.hypot(way_x, way_y) - foot_travel(sizes, azimuth, passed + times)
    cost = MISSED * missed + FAR * np.maximum(beyond, 0.0) + TIME * times
    cost += DISTANCE * np.hypot(x - foot[0], y - foot[1])
    if planned >= 0.0:
        cost += CHANGE * np.abs(times - planned)
    i = cost.argmin()
    back = np.ascontiguousarray(turn.T)
    place, cop = back.dot(np.array([x[i], y[i]])), back.dot(np.array([cop_x[i], cop_y[i]]))
    return place, float(times[i]), cop, float(missed[i]), float(cost[i])
