"""The way of a swing foot to a place that moves: up, across, and softly down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]

RISE = 0.45  # of the swing's time, after which the foot is highest
LATE, FASTEST = (
    0.03,
    4.0,
)  # s after which a foot comes down twice as fast, and at most so many times
SOONEST = 0.004  # s: what is nearer in time than this is not aimed at any more


class SwingPath:
    """Place, velocity and acceleration (3,) of the sole's centre, aimed anew in each step.

    Every axis follows the polynomial of third order from where it is, and as fast as it is, to
    where it shall be: of all ways that take the same time it needs the least mean square of
    acceleration, and its largest speed is 1.5 of the mean where that of a polynomial of fifth order
    is 1.88.  Its start in the next step is where it has come to, so that no speed jumps where the
    goal moves.
    """

    def __init__(self, place: Array, lift: float, landing_speed: float, lowering: float) -> None:
        """``place`` (3,) is where the foot stands, ``lowering`` for how long it goes down, s.

        Until then it stays up, so that a foot whose landing is put off does not drag.
        """
        self.place, self.velocity, self.acceleration = place.copy(), np.zeros(3), np.zeros(3)
        self._start, self._lift, self._landing_speed = float(place[2]), lift, landing_speed
        self._lowering = lowering
        self._rising = True
        self.time = 0.0
        """For how long it has been in the air, s."""

    @property
    def rises(self) -> bool:
        """Whether it still goes up: a touch is no landing."""
        return self._rising

    def follow(self, place: Array, velocity: Array, share: float) -> None:
        """Go level by a ``share`` towards where the foot is: what drives did not give is not made
        up for at once, but planned anew.
        """
        go_level(self.place, self.velocity, place, velocity, share)

    def advance(self, dt: float, goal: Array, left: float) -> None:
        """Go on for ``dt`` s towards ``goal`` (3,), to be reached ``left`` s from now."""
        whole = self.time + left
        if left > SOONEST:
            to_top = RISE * whole - self.time
            self._rising = to_top > SOONEST
            up = to_top if self._rising else left - self._lowering
            if up > SOONEST:
                top = max(self._start, float(goal[2])) + self._lift
                self._move(dt, goal, left, top, 0.0, up)
            else:
                self._move(dt, goal, left, float(goal[2]), -self._landing_speed, left)
        else:
            # Down until it meets something, the faster the later it is.
            rate = min(1.0, dt / SOONEST)
            speed = self._landing_speed * min(1.0 + max(-left, 0.0) / LATE, FASTEST)
            self.velocity[:2] -= rate * self.velocity[:2]
            self.velocity[2] += rate * (-speed - self.velocity[2])
            self.acceleration[:] = 0.0
            self.place += dt * self.velocity
        self.time += dt

    def touch(self, place: Array) -> None:
        """Stay over where it has met the ground, and go on downwards."""
        self.place[:2], self.velocity[:2], self.acceleration[:] = place[:2], 0.0, 0.0

    def _move(
        self, dt: float, goal: Array, left: float, height: float, speed: float, up: float
    ) -> None:
        move_on(self.place, self.velocity, self.acceleration, dt, goal, left, height, speed, up)


@compiled
def go_level(
    place: Array, velocity: Array, to_place: Array, to_velocity: Array, share: float
) -> None:
    """Bring ``place`` and ``velocity`` by a ``share`` towards others, but for their heights."""
    for axis in range(2):
        place[axis] += share * (to_place[axis] - place[axis])
        velocity[axis] += share * (to_velocity[axis] - velocity[axis])


@compiled
def move_on(
    place: Array,
    velocity: Array,
    acceleration: Array,
    dt: float,
    goal: Array,
    left: float,
    height: float,
    speed: float,
    up: float,
) -> None:
    """Go on for ``dt`` s along the polynomials of third order: to rest over ``goal`` in ``left`` s,
    and to a ``height`` in ``up`` s, which is reached at a vertical ``speed``.
    """
    for axis in range(3):
        level = axis < 2
        end, v_end, T = (goal[axis], 0.0, left) if level else (height, speed * up, up)
        x, v = place[axis], velocity[axis]
        v1, way = v * T, end - x
        c2 = 3.0 * way - 2.0 * v1 - v_end
        c3 = v1 + v_end - 2.0 * way
        s = min(dt / T, 1.0)
        place[axis] = x + s * (v1 + s * (c2 + s * c3))
        velocity[axis] = (v1 + s * (2.0 * c2 + s * 3.0 * c3)) / T
        acceleration[axis] = (2.0 * c2 + s * 6.0 * c3) / T**2
