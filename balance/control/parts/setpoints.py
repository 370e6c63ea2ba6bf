"""Desired CoM position and base orientation as smooth functions of time, and their momentum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import SetpointConfig
from balance.control.parts.support import SupportView
from balance.robots import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Desired:
    """What the law should reach at one instant, world axes, SI units."""

    com: Array
    com_velocity: Array
    com_acceleration: Array
    quaternion: Array
    rotation: Array
    angular_velocity: Array
    angular_acceleration: Array
    moving: bool


class Path(Protocol):
    """Where the setpoint is at any time."""

    def at(self, time: float) -> Desired:
        """The desired state at ``time`` in seconds."""
        ...


def minimum_jerk(s: float) -> tuple[float, float, float]:
    """Position and first two derivatives, by s in [0, 1], of the quintic from rest to rest."""
    return (
        s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
        30.0 * s**2 * (1.0 - s) ** 2,
        60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    )


class SetpointPath:
    """Moves one after the other, each from where the last one ended, at rest in between."""

    def __init__(self, com: Array, base_rotation: Array, moves: Sequence[SetpointConfig]) -> None:
        self._moves = sorted(moves, key=lambda move: move.time_s)
        self._coms = [com] + [com + np.array(move.com_m) for move in self._moves]
        self._rotations = [base_rotation] + [
            base_rotation @ pin.rpy.rpyToMatrix(*move.base_rpy_rad) for move in self._moves
        ]
        self._rest = [_at_rest(c, R) for c, R in zip(self._coms, self._rotations, strict=True)]

    def at(self, time: float) -> Desired:
        """The desired state at ``time`` in seconds."""
        index = 0
        for move in self._moves:
            if time < move.time_s:
                break
            index += 1
        if index == 0:
            return self._rest[0]
        move = self._moves[index - 1]
        s = (time - move.time_s) / move.duration_s
        return self._rest[index] if s >= 1.0 else self._between(index, s, move.duration_s)

    def _between(self, index: int, s: float, duration: float) -> Desired:
        position, rate, bend = minimum_jerk(s)
        step = self._coms[index] - self._coms[index - 1]
        start = self._rotations[index - 1]
        turn = pin.log3(start.T @ self._rotations[index])
        rotation = start @ pin.exp3(position * turn)
        return Desired(
            com=self._coms[index - 1] + position * step,
            com_velocity=rate / duration * step,
            com_acceleration=bend / duration**2 * step,
            quaternion=np.array(pin.Quaternion(rotation).coeffs()),
            rotation=rotation,
            angular_velocity=start @ (rate / duration * turn),
            angular_acceleration=start @ (bend / duration**2 * turn),
            moving=True,
        )


def setpoint_path(moves: Sequence[SetpointConfig], robot: Robot) -> SetpointPath:
    """The path of an experiment: ``moves`` from where the robot nominally stands."""
    return SetpointPath(robot.com(), pin.Quaternion(robot.q_nominal[3:7]).matrix(), moves)


def _at_rest(com: Array, rotation: Array) -> Desired:
    zero = np.zeros(3)
    quaternion = np.array(pin.Quaternion(rotation).coeffs())
    return Desired(com, zero, zero, quaternion, rotation, zero, zero, False)


def desired_angular_momentum_rate(data: pin.Data, here: SupportView, desired: Desired) -> Array:
    """Rate of l_d = I_l omega_d, dI_l/dt omega_d + I_l domega_d/dt (3,), N m in world axes.

    The columns of A_l for the base's rotation are I_l R_WB, whose derivative gives dI_l/dt =
    dA_l/dt R_WB^T - I_l [omega x], with omega the angular velocity of the base in world axes.
    ``data`` is overwritten.
    """
    pin.dccrba(here.model, data, here.q, here.v)
    R_WB, inertia = data.oMi[1].rotation, data.Ig.inertia
    inertia_rate = data.dAg[3:, 3:6].dot(R_WB.T) - inertia.dot(pin.skew(R_WB.dot(here.v[3:6])))
    return np.asarray(
        inertia_rate.dot(desired.angular_velocity) + inertia.dot(desired.angular_acceleration)
    )
