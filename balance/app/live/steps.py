"""Steps that a law takes, worked out from a row: its strategy, footsteps planned and taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.recordings.footsteps import landing_pose, strategy_words
from balance.robots import Robot

Array = NDArray[np.float64]

REMEMBERED = 8  # places that feet have left


@dataclass(frozen=True)
class Steps:
    """What a law that may step is about: soles by their numbers, with poses in the world."""

    strategy: str
    """Ankles, hips, 1 step, 2 steps ..."""
    taken: int
    landing: tuple[int, pin.SE3] | None
    """Where the sole that is, or is about to be, in the air is to land."""
    left: tuple[tuple[int, pin.SE3], ...]
    """Where feet stood before, the last ones."""


class StepObserver:
    """Finds the steps of a robot in rows of a log or recording."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._poses: dict[int, tuple[int, pin.SE3]] = {}
        self._feet = [sole.is_foot for sole in robot.soles]
        pin.framesForwardKinematics(robot.model, self._data, robot.q_nominal)
        self._middle = self._between([sole.wrench_pose(self._data) for sole in robot.soles])
        self._com = robot.com()

    def at(self, rows: Any, row: int) -> Steps | None:
        """What a row says of steps; None of a law that takes none."""
        step = getattr(rows, "step", None)
        if step is None:
            return None
        swing, landing = int(rows.swing[row]), rows.landing[row]
        planned = None
        if swing >= 0 and np.isfinite(landing).all():
            planned = swing, landing_pose(landing, self._robot.soles[swing].plane)
        begun = np.flatnonzero(np.diff(step[: row + 1])) + 1
        return Steps(
            strategy_words(int(rows.strategy[row]), int(step[row])),
            int(step[row]),
            planned,
            tuple(self._left(rows, int(one)) for one in begun[-REMEMBERED:]),
        )

    def setpoint(self, soles: list[pin.SE3]) -> tuple[Array, Array]:
        """CoM (3,) and rotation of the base over feet that have stepped: as over the nominal ones.

        It is where the robot will be meant to stand once it does; the log has no other.
        """
        now, before = self._between(soles), self._middle
        moved = now * before.inverse()
        return np.array(moved.act(self._com)), np.array(moved.rotation)

    def _between(self, soles: list[pin.SE3]) -> pin.SE3:
        """The middle between the feet, turned about the vertical as they are on average."""
        feet = [pose for pose, foot in zip(soles, self._feet, strict=True) if foot]
        yaws = [np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0]) for pose in feet]
        yaw = float(np.arctan2(np.mean(np.sin(yaws)), np.mean(np.cos(yaws))))
        middle = np.mean([pose.translation for pose in feet], axis=0)
        return pin.SE3(pin.utils.rotate("z", yaw), middle)

    def _left(self, rows: Any, row: int) -> tuple[int, pin.SE3]:
        """The sole that begins a step in a row, and where it stands."""
        if row not in self._poses:
            robot, sole = self._robot, int(rows.swing[row])
            pin.framesForwardKinematics(robot.model, self._data, rows.q[row])
            self._poses[row] = sole, robot.soles[sole].wrench_pose(self._data)
        return self._poses[row]
