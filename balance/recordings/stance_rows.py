"""Which soles were meant to bear when, and on which planes, row by row of a recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.sequence import PlannedPhase

Array = NDArray[np.float64]


class StanceRows:
    """``phase`` (n,) and ``bearing`` (n, k) of recorded rows, and the planes of every phase.

    ``planes[p][k]`` are what sole k is on in phase p while it bears, and otherwise: of one that
    only gives off its load what it was on before, of one that is off what it comes to next.
    """

    def __init__(
        self,
        planes: list[list[tuple[pin.SE3, pin.SE3]]],
        phase: NDArray[np.int64],
        bearing: Array,
    ) -> None:
        self._planes, self._phase, self._bearing = planes, phase, bearing

    def part(self, rows: slice) -> StanceRows:
        """Some of the rows."""
        return StanceRows(self._planes, self._phase[rows], self._bearing[rows])

    def bears(self, sole: int) -> NDArray[np.bool_]:
        """Rows in which a sole bears, or takes up or gives off its load."""
        return np.asarray(self._bearing[:, sole] > 0.0)

    def spans(self, sole: int) -> list[tuple[int, int]]:
        """First row, and the one after the last, of each time in which a sole bears."""
        return spans(self.bears(sole))

    def on_planes(self, sole: int, points: Array) -> Array:
        """Points (n, m, 3) of a sole, from the world into the axes of its plane at each row."""
        local, bears = np.empty_like(points), self.bears(sole)
        for number in np.unique(self._phase).tolist():
            now = self._phase == number
            for plane, rows in zip(self._planes[number][sole], (bears, ~bears), strict=True):
                rows = rows & now
                local[rows] = (points[rows] - plane.translation) @ plane.rotation
        return local


def spans(rows: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First row, and the one after the last, of each run of rows that are true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], rows.astype(int), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def stance_rows(
    robot: Robot, phases: Sequence[PlannedPhase], phase: NDArray[np.int64], bearing: Array
) -> StanceRows:
    """The rows of a run; ``robot`` has all soles that ever bear."""
    planes: list[list[tuple[pin.SE3, pin.SE3]]] = [[] for _ in phases]
    for sole in robot.soles:
        own = [{s.name: s.plane for s in one.robot.soles}.get(sole.name) for one in phases]
        before = _filled(own, sole.plane)
        after = _filled(own[::-1], before[-1])[::-1]
        for number, pair in enumerate(zip(before, after, strict=True)):
            planes[number].append(pair)
    return StanceRows(planes, phase, bearing)


def step_rows(robot: Robot, bearing: Array) -> StanceRows:
    """The rows of a run of a law that may step: each sole stays on its own plane."""
    planes = [(sole.plane, sole.plane) for sole in robot.soles]
    return StanceRows([planes], np.zeros(len(bearing), dtype=np.int64), bearing)


def _filled(planes: Sequence[pin.SE3 | None], plane: pin.SE3) -> list[pin.SE3]:
    """Each of ``planes``, or where there is none, the last one before, at first ``plane``."""
    found = []
    for one in planes:
        plane = plane if one is None else one
        found.append(plane)
    return found
