"""Where a frame shall be: smooth moves, straight or around, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.tasks import FrameMoveConfig
from balance.control.parts.setpoints import minimum_jerk

Array = NDArray[np.float64]

SAMPLES = 16  # of a way around, for what asks where a path leads


@dataclass(frozen=True, slots=True)
class FrameTarget:
    """Where a frame shall be, and its velocity and acceleration (6,): linear, angular; world."""

    position: Array
    rotation: Array
    velocity: Array
    acceleration: Array
    moving: bool


class FramePath:
    """Moves from a nominal pose on, each from where the last one ended, at rest in between."""

    def __init__(self, nominal: pin.SE3, moves: Sequence[FrameMoveConfig]) -> None:
        self._moves = sorted(moves, key=lambda move: move.time_s)
        self._place, self._axes = nominal.translation.copy(), nominal.rotation.copy()
        self._rest = [_at_rest(self._place, self._axes)]
        for move in self._moves:
            start = self._rest[-1]
            rotation = start.rotation
            if move.rpy_rad is not None:
                rotation = self._axes @ pin.rpy.rpyToMatrix(*move.rpy_rad)
            self._rest.append(_at_rest(self._way(move, start, 1.0)[0], rotation))

    @property
    def places(self) -> list[Array]:
        """Positions (3,) along the way: the ends of all moves, and some points of the circles."""
        found = [target.position for target in self._rest]
        for move, start in zip(self._moves, self._rest[:-1], strict=True):
            if move.circle is not None:
                around = np.linspace(0.0, 1.0, SAMPLES)
                found += [self._way(move, start, s)[0] for s in around]
        return found

    def at(self, time: float) -> FrameTarget:
        """The target at ``time`` in seconds."""
        index = sum(move.time_s <= time for move in self._moves)
        if index == 0:
            return self._rest[0]
        move = self._moves[index - 1]
        s = (time - move.time_s) / move.duration_s
        return self._rest[index] if s >= 1.0 else self._between(index, s)

    def _between(self, index: int, s: float) -> FrameTarget:
        move, start, end = self._moves[index - 1], self._rest[index - 1], self._rest[index]
        share, rate, bend = minimum_jerk(s)
        rate, bend = rate / move.duration_s, bend / move.duration_s**2
        place, tangent, curvature = self._way(move, start, share)
        turn = pin.log3(start.rotation.T @ end.rotation)
        about = start.rotation @ turn
        return FrameTarget(
            position=place,
            rotation=start.rotation @ pin.exp3(share * turn),
            velocity=np.append(rate * tangent, rate * about),
            acceleration=np.append(bend * tangent + rate**2 * curvature, bend * about),
            moving=True,
        )

    def _way(
        self, move: FrameMoveConfig, start: FrameTarget, share: float
    ) -> tuple[Array, Array, Array]:
        """Position at a share of a move's way, and its first two derivatives by the share."""
        if move.circle is not None:
            centre = self._place + np.array(move.circle.centre_m)
            axis = np.array(move.circle.normal) / np.linalg.norm(move.circle.normal)
            angle = 2.0 * np.pi * move.circle.turns
            arm = pin.exp3(share * angle * axis) @ (start.position - centre)
            tangent = angle * np.cross(axis, arm)
            return centre + arm, tangent, angle * np.cross(axis, tangent)
        step = np.zeros(3)
        if move.to_m is not None:
            step = self._place + np.array(move.to_m) - start.position
        return start.position + share * step, step, np.zeros(3)


def _at_rest(position: Array, rotation: Array) -> FrameTarget:
    return FrameTarget(position, rotation, np.zeros(6), np.zeros(6), False)
