"""The body as a flywheel: its coordinates at a state, and what a lean asks of them."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.setpoints import Desired
from balance.control.parts.whole_body import BodyView
from balance.dynamics.compiled import compiled
from balance.robots import Robot
from balance.robots.capability.leaning import AZIMUTHS, Leaning, shares
from balance.robots.capability.programme import TURN

Array = NDArray[np.float64]

LITTLE = 0.1  # of the largest lean
_ROUND = np.append(AZIMUTHS, 2.0 * np.pi)


class Flywheel:
    """Coordinates delta (3 + n,) of a robot: the base's rotation vector, then its free joints."""

    def __init__(self, robot: Robot, numbers: Leaning) -> None:
        self.numbers, self.free = numbers, numbers.free
        self._nominal = robot.q_nominal[7:][self.free].copy()
        self._sink = np.append(numbers.sink, numbers.sink[0])
        self._little = LITTLE * float(numbers.lean.mean())
        self._forwards = self._little * TURN.T.dot(numbers.sides[0])
        self._deepest = float((numbers.sink * numbers.lean**2).max())

    def state(self, body: BodyView, desired: Desired) -> tuple[Array, Array]:
        """delta (3 + n,) rad and its rate, relative to the desired orientation."""
        R_DB = desired.rotation.T.dot(body.R_WB)
        theta = pin.log3(R_DB)
        omega = R_DB.dot(body.v[3:6]) - desired.rotation.T.dot(desired.angular_velocity)
        joints, rates = body.q[7:][self.free], body.v[6:][self.free]
        return np.concatenate([theta, joints - self._nominal]), np.concatenate([omega, rates])

    def wanted(self, delta: Array, rates: Array, moment: Array, servo: float) -> Array:
        """Accelerations (3 + n,) that make the level ``moment`` (2,), in the shares of the lean.

        Where the coordinates are not in their shares of the excursion and the momentum that they
        have together, they come back to them at the rate ``servo``: that moves nothing but them.
        """
        numbers = self.numbers
        return wanted_turn(
            numbers.B, numbers.up, numbers.down, self._little, self._forwards,
            delta, rates, moment, servo,
        )  # fmt: skip

    def sink(self, excursion: Array, room: float = 1.0) -> float:
        """How far (m) the CoM sinks with a level excursion (2,), because legs must reach.

        Sideways the far leg must at once; fore and aft ``room`` says how much of it there may be.
        """
        angle = self._angle(TURN.dot(excursion))
        sunk = float(np.interp(angle, _ROUND, self._sink)) * float(excursion.dot(excursion))
        needed = float(np.sin(angle)) ** 2
        return min(sunk, self._deepest) * (needed + (1.0 - needed) * room)

    def _angle(self, side: Array) -> float:
        """The azimuth of a level vector from the robot's heading, 0 to 2 pi."""
        angle = math.atan2(side[1], side[0]) - self.numbers.heading
        return angle % (2.0 * math.pi)


@compiled
def wanted_turn(
    B: Array,
    up: Array,
    down: Array,
    little: float,
    forwards: Array,
    delta: Array,
    rates: Array,
    moment: Array,
    servo: float,
) -> Array:
    """What :meth:`Flywheel.wanted` returns, of coordinates with ranges ``up`` and ``down``.

    Upright, the side to which the body is about to lean counts, by a ``little``.
    """
    level = B[:2]
    excursion, size = level.dot(delta), math.sqrt(moment.dot(moment))
    about = moment * (little / size) if size > 0.0 else forwards
    share = shares(B, up, down, excursion + about)
    target = np.minimum(np.maximum(share.dot(excursion), -down), up)
    turn = share.dot(moment) + servo**2 * (target - delta)
    return turn + 2.0 * servo * (share.dot(level.dot(rates)) - rates)
