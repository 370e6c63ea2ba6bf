"""Which bodies touched what, when and how hard.

The loop writes the strongest touches of every control period into its row of the log, and all else
is read from there.  A row has six blocks of nine numbers: who and whom, as numbers (0: nobody;
bodies count the model's frames from 1, obstacles from -1 downwards); where (m) and with which force
on the first of the two (N), world axes, mean over the period; how deep one was in the other (m).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.recordings.disk_arrays import in_chunks
from balance.recordings.recording import Recording, once
from balance.robots import Robot
from balance.simulation.ground import GroundMotion, ground_motion
from balance.simulation.plants.interface import Touch
from balance.simulation.world import obstacles

Array = NDArray[np.float64]
Pair = tuple[str, str]

RATTLE_S = 0.02  # two bodies that part for less than this have touched once


class TouchRow:
    """Adds up what touches in the simulation steps of a control period."""

    def __init__(self, robot: Robot, ground: GroundMotion | None, substeps: int) -> None:
        self._model, self._substeps = robot.model, substeps
        self._obstacles = [one.name for one in obstacles(robot, ground)]
        self._sums: dict[Pair, Array] = {}

    def add(self, touches: Sequence[Touch]) -> None:
        """Note the touches of a step."""
        for touch in touches:
            size = float(np.linalg.norm(touch.force))
            one = np.array([*touch.force, *(size * touch.point), size, touch.depth_m])
            pair = touch.body, touch.other
            total = self._sums.setdefault(pair, np.zeros(8))
            total[:7] += one[:7]
            total[7] = max(total[7], one[7])

    def write(self, row: Array) -> None:
        """Write the strongest of them into a row (6, 9) of the log, and begin anew."""
        if not self._sums:
            return
        strongest = sorted(self._sums.items(), key=lambda item: (-item[1][6], item[0]))
        for block, ((body, other), total) in zip(row, strongest, strict=False):
            block[0], block[1] = self._number(body), self._number(other)
            block[2:5] = total[3:6] / total[6] if total[6] > 0.0 else 0.0
            block[5:8], block[8] = total[:3] / self._substeps, total[7]
        self._sums.clear()

    def _number(self, name: str) -> int:
        if name in self._obstacles:
            return -1 - self._obstacles.index(name)
        return 1 + int(self._model.getFrameId(name, pin.FrameType.BODY))


class Span(NamedTuple):
    """A time in which two bodies, or a body and an obstacle, touched; s, N s, N and m."""

    body: str
    other: str
    start_s: float
    end_s: float
    impulse_Ns: float
    largest_N: float
    depth_m: float


@dataclass
class _Open:
    start: int
    last: int
    impulse: float = 0.0
    largest: float = 0.0
    depth: float = 0.0


@once
def touch_spans(recording: Recording) -> tuple[Span, ...]:
    """All spans of a run in the order in which they began."""
    period, robot = recording.config.control_period_s, recording.robot
    names = [one.name for one in obstacles(robot, ground_motion(robot, recording.config))]
    longest_gap = max(1, round(RATTLE_S / period))
    opened: dict[Pair, _Open] = {}
    done: list[Span] = []

    def close(pair: Pair) -> None:
        one = opened.pop(pair)
        begin = float(recording.time[one.start])
        end = float(recording.time[one.last]) + period
        done.append(Span(*pair, begin, end, one.impulse, one.largest, one.depth))

    first = in_chunks(len(recording.touches), lambda rows: recording.touches[rows, 0, 0] != 0.0)
    for row in np.flatnonzero(first).tolist():
        for block in recording.touches[row]:
            if block[0] == 0.0:
                break
            pair = _name(robot, names, block[0]), _name(robot, names, block[1])
            if pair in opened and row - opened[pair].last > longest_gap:
                close(pair)
            one = opened.setdefault(pair, _Open(row, row))
            force = float(np.linalg.norm(block[5:8]))
            one.last, one.impulse = row, one.impulse + period * force
            one.largest, one.depth = max(one.largest, force), max(one.depth, float(block[8]))
    for pair in list(opened):
        close(pair)
    return tuple(sorted(done, key=lambda span: (span.start_s, span.body, span.other)))


def _name(robot: Robot, obstacle_names: Sequence[str], number: float) -> str:
    index = int(number)
    if index > 0:
        return str(robot.model.frames[index - 1].name) if index <= robot.model.nframes else "?"
    return obstacle_names[-index - 1] if -index <= len(obstacle_names) else "?"


def touched_pairs(recording: Recording) -> list[dict[str, Any]]:
    """The spans of each pair as one entry, in the order in which they first touched."""
    pairs: dict[Pair, list[Span]] = {}
    for span in touch_spans(recording):
        pairs.setdefault((span.body, span.other), []).append(span)
    return [
        {
            "body": body,
            "other": other,
            "start_s": spans[0].start_s,
            "end_s": spans[-1].end_s,
            "duration_s": sum(span.end_s - span.start_s for span in spans),
            "impulse_Ns": sum(span.impulse_Ns for span in spans),
            "largest_N": max(span.largest_N for span in spans),
            "depth_m": max(span.depth_m for span in spans),
        }
        for (body, other), spans in pairs.items()
    ]
