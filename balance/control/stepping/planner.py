"""Where and when a foot shall land so that the robot can be caught there.

The linear inverted pendulum on a stance foot, with its capture point xi = x + v / omega and the CoP
p at rest, has

    xi(T) = p + (xi - p) exp(omega T).

For each time T that the swing may still take, p is the CoP of the stance sole that brings xi(T)
nearest to where a foot beside the stance foot would hold it; the foot then lands a little beyond
xi, within reach.  The time with the least cost is taken: what a landing within reach misses counts
most, then by how much the foot would be late, then distance and time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.sizes import (
    INWARDS,
    LONGER,
    OUTWARDS,
    PlanSizes,
    StepSizes,
    foot_limits,
)
from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]

MISSED, LATE, DISTANCE, TIME = 10.0, 20.0, 0.3, 1.0  # per m, s, m and s
CHANGE = 0.5  # per s by which a plan changes its time
LATEST_S = 2.0  # by which a foot is waited for: the robot has long fallen
CANDIDATES = 16
SOONEST_S = 1e-3
AT = (0.2, 0.35, 0.5, 0.65, 0.8)  # of a path, where its speed and acceleration are looked at


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

    def after(self, time: float, cop: Array, omega: float) -> Pendulum:
        """What it is after a ``time`` (s) with the CoP at rest."""
        return Pendulum(*carried_on(self.com, self.xi, cop, float(np.exp(omega * time))))


@dataclass(slots=True)
class FootMotion:
    """Place and velocity (2,) of a sole's centre."""

    place: Array
    velocity: Array

    @classmethod
    def resting(cls, place: Array) -> FootMotion:
        """That of a foot that stands."""
        return cls(place, np.zeros(2))


@compiled
def carried_on(com: Array, xi: Array, cop: Array, growth: float) -> tuple[Array, Array]:
    """CoM and capture point once their distance from the CoP has grown so."""
    then = cop + growth * (xi - cop)
    return 0.5 * (then + cop + (2.0 * com - xi - cop) / growth), then


def plan_landing(
    sizes: StepSizes,
    pendulum: Pendulum,
    swing: int,
    stance: Array,
    heading: float,
    foot: FootMotion,
    times: Array,
    before: float,
    planned: float | None = None,
) -> Landing:
    """The best landing of foot ``swing`` (0 left, 1 right) with the other one at ``stance`` (2,).

    ``times`` (n,) is how long it may still be in the air, after ``before`` s in which it still
    stands, and ``planned`` the time of the last plan.
    """
    return Landing(
        *best_landing(
            sizes.for_plan, swing, stance, math.cos(heading), math.sin(heading),
            pendulum.xi, pendulum.com, foot.place, foot.velocity, times, before,
            -1.0 if planned is None else planned,
        )
    )  # fmt: skip


@compiled
def best_landing(
    of_plan: tuple[Any, ...],
    swing: int,
    stance: Array,
    c: float,
    s: float,
    xi: Array,
    com: Array,
    foot: Array,
    velocity: Array,
    times: Array,
    before: float,
    planned: float,
) -> tuple[Array, float, Array, float, float]:
    """Place, time, CoP, what is missed and cost of the best landing.

    ``of_plan`` are the ``PlanSizes``, (c, s) is the heading, ``planned`` negative without a last
    plan.
    """
    sizes = PlanSizes(*of_plan)
    turn = np.array([[c, s], [-s, c]])  # into the heading's axes, from the stance foot
    points = np.empty((4, 2))
    points[0], points[1], points[2], points[3] = xi - stance, com - stance, foot - stance, velocity
    points = points.dot(turn.T)
    # A foot that would be late lands when it can, and what is missed then counts.
    late = landings(sizes, swing, points, times, before)[5]
    times = times + np.minimum(late, LATEST_S)
    x, y, cop_x, cop_y, missed, late = landings(sizes, swing, points, times, before)
    cost = MISSED * missed + LATE * late + TIME * times
    cost += DISTANCE * np.hypot(x - points[2, 0], y - points[2, 1])
    if planned >= 0.0:
        cost += CHANGE * np.abs(times - planned)
    i = cost.argmin()
    back = np.ascontiguousarray(turn.T)
    place, cop = back.dot(np.array([x[i], y[i]])), back.dot(np.array([cop_x[i], cop_y[i]]))
    return stance + place, float(times[i]), stance + cop, float(missed[i]), float(cost[i])


@compiled
def landings(
    sizes: PlanSizes, swing: int, points: Array, times: Array, before: float
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Places, CoPs, what is missed and by how much the foot is late, of landings at ``times``."""
    xi, com, foot = points[0], points[1], points[2]
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
    # A leg that is stretched to the side and ahead at once reaches less far either way.
    below_y = side * moved_y + sizes.hip
    out_x, out_y = x - moved_x, across - below_y
    part = np.minimum(sizes.around_hip / np.maximum(np.hypot(out_x, out_y), 1e-6), 1.0)
    x = np.clip(moved_x + part * out_x, -sizes.fore, sizes.fore)
    y = side * np.minimum(np.maximum(below_y + part * out_y, sizes.narrow), sizes.wide)
    # Too far out is no miss where the foot is put down inside of it.
    across = side * (ideal_y - y)
    missed = np.hypot(ideal_x - x, np.where(across > 0.0, across, 0.5 * across))
    way_x, way_y = x - foot[0], y - foot[1]
    span = np.maximum(times + before, SOONEST_S)
    drift_x, drift_y = (moved_x - com[0]) / span, (moved_y - com[1]) / span
    limits = foot_limits(sizes, math.atan2(way_y.mean(), way_x.mean()))
    late = lateness(way_x, way_y, points[3], drift_x, drift_y, times, limits)
    return x, y, cop_x, cop_y, missed, late


@compiled
def lateness(
    way_x: Array,
    way_y: Array,
    velocity: Array,
    drift_x: Array,
    drift_y: Array,
    times: Array,
    limits: tuple[float, float],
) -> Array:
    """How much longer than ``times`` (n,) ways (n,) would take a foot with its drives, s.

    The path is that of :class:`SwingPath` from the foot's ``velocity`` (2,).  Drives see the speed
    relative to the CoM, which moves on at a drift (n,), and all of the acceleration: at the path's
    both ends, where it is largest, the CoM does not stand still.
    """
    T = np.maximum(times, SOONEST_S)
    v_x, v_y = velocity[0] * T, velocity[1] * T
    fastest = np.zeros(len(times))
    for s in AT:
        on, off = 6.0 * s * (1.0 - s), (1.0 - s) * (1.0 - 3.0 * s)
        speed_x, speed_y = (on * way_x + off * v_x) / T, (on * way_y + off * v_y) / T
        fastest = np.maximum(fastest, np.hypot(speed_x - drift_x, speed_y - drift_y))
    first = np.hypot(6.0 * way_x - 4.0 * v_x, 6.0 * way_y - 4.0 * v_y)
    last = np.hypot(6.0 * way_x - 2.0 * v_x, 6.0 * way_y - 2.0 * v_y)
    strongest = np.maximum(first, last) / T**2
    longer = np.maximum(fastest / limits[0], np.sqrt(strongest / limits[1])) - 1.0
    return times * np.maximum(longer, 0.0)
