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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.sizes import INWARDS, LONGER, OUTWARDS, StepSizes

Array = NDArray[np.float64]

MISSED, LATE, DISTANCE, TIME = 10.0, 20.0, 0.3, 1.0  # per m, s, m and s
CHANGE = 0.5  # per s by which a plan changes its time
CANDIDATES = 16
SOONEST_S = 1e-3
AT = (0.2, 0.35, 0.5, 0.65, 0.8)  # of a path, where its speed and acceleration are looked at


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

    def after(self, time: float, cop: Array, omega: float) -> Pendulum:
        """What it is after a ``time`` (s) with the CoP at rest."""
        growth = np.exp(omega * time)
        xi = cop + growth * (self.xi - cop)
        return Pendulum(0.5 * (xi + cop + (2.0 * self.com - self.xi - cop) / growth), xi)


@dataclass(frozen=True, slots=True)
class FootMotion:
    """Place, velocity and acceleration (2,) of a sole's centre."""

    place: Array
    velocity: Array
    acceleration: Array

    @classmethod
    def resting(cls, place: Array) -> FootMotion:
        """That of a foot that stands."""
        return cls(place, np.zeros(2), np.zeros(2))


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
    c, s = np.cos(heading), np.sin(heading)
    turn = np.array([[c, s], [-s, c]])  # into the heading's axes, from the stance foot
    xi, com, start = (turn @ (one - stance) for one in (pendulum.xi, pendulum.com, foot.place))
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
    way = place - start
    drift = (moved - com) / np.maximum(times + before, SOONEST_S)[:, None]
    rates = turn @ foot.velocity, turn @ foot.acceleration
    cost = MISSED * missed + LATE * _late(sizes, way, *rates, drift, times) + TIME * times
    cost += DISTANCE * np.hypot(way[:, 0], way[:, 1])
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


def _late(
    sizes: StepSizes, way: Array, velocity: Array, acceleration: Array, drift: Array, times: Array
) -> Array:
    """How much longer than ``times`` (n,) ways (n, 2) would take a foot with its drives, s.

    The path is that of :class:`SwingPath` from the foot's ``velocity`` and ``acceleration`` (2,).
    Drives see the speed relative to the CoM, which moves on at ``drift`` (n, 2), and all of the
    acceleration: at the path's both ends the CoM does not stand still.
    """
    T = np.maximum(times, SOONEST_S)[:, None]
    v, a = velocity * T, acceleration * T**2
    c3 = 10.0 * way - 6.0 * v - 1.5 * a
    c4 = -15.0 * way + 8.0 * v + 1.5 * a
    c5 = 6.0 * way - 3.0 * v - 0.5 * a
    azimuth = float(np.arctan2(*way.mean(axis=0)[::-1]))
    fastest, strongest = sizes.foot_limits(azimuth)
    most = np.zeros((2, len(times)))
    for s in AT:
        speed = (v + s * (a + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / T - drift
        bend = (a + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / T**2
        most = np.maximum(most, [np.hypot(*speed.T), np.hypot(*bend.T)])
    longer = np.maximum(most[0] / fastest, np.sqrt(most[1] / strongest)) - 1.0
    return times * np.maximum(longer, 0.0)
