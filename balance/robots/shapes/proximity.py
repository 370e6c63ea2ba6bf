"""Which bodies of a robot are near each other, a plate, or the floor.

Distances are computed anew only when they can have become small: no body comes nearer to another
than by the way they may have made since (:mod:`balance.robots.shapes.travel`).  From the *anchor*,
where a lower bound of every distance is known, that is tested for all pairs at once.  Where it
fails the anchor moves: every bound loses the way to there, and pairs that have lost much of it are
measured.  The few pairs that are close have an anchor each.  The bounds are strict, so nothing is
missed.  Pinocchio starts from its last answer for a pair, so distances depend on earlier looks, by
less than 1e-5 m.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.compiled import compiled
from balance.dynamics.placements import joint_placements
from balance.robots.robot import Robot
from balance.robots.shapes.floor import FloorWatch
from balance.robots.shapes.ground_points import Numbers
from balance.robots.shapes.robot_shapes import geometry_model
from balance.robots.shapes.shape import shape_of
from balance.robots.shapes.travel import travel_weights

Array = NDArray[np.float64]

MARGIN_M = 2e-3  # what is nearer is told
HORIZON_M = 0.06  # gaps beyond this are bounded, not computed
CLOSE_M = 3e-3  # pairs with less room than this beyond the margin have an anchor each
MOST_LOST = 40  # pairs that are measured again before all distances are computed anew
ROUNDING = 1e-9  # by which the products of many configurations at once may differ from those of one
LEAST_KEPT = 0.5  # share of its room, as measured, below which a pair is measured again


@dataclass(frozen=True)
class Plate:
    """A box that bodies can touch: ``pose`` has its origin on the top and z out of it.

    ``half_size`` are half its sides, m; the bodies of joints ``spared`` do not touch it.
    """

    pose: pin.SE3
    half_size: tuple[float, float, float]
    spared: tuple[int, ...] = ()

    @property
    def middle(self) -> pin.SE3:
        """Pose of its middle."""
        return self.pose * pin.SE3(np.eye(3), np.array([0.0, 0.0, -self.half_size[2]]))


class Near(NamedTuple):
    """Two shapes that are near each other, or a shape and a plate.

    ``i`` is a shape's number, ``j`` another's or, from the number of shapes on, that of a plate;
    ``point`` lies halfway, ``normal`` points from ``j`` to ``i``; a negative ``distance`` is a
    depth.
    """

    i: int
    j: int
    point: Array
    normal: Array
    distance: float


class Proximity:
    """What of a robot is near another part of it, near a plate, or near the floor.

    ``floor`` has its origin on it and z out of it.  A ``data`` is one whose joint placements are up
    to date.
    """

    def __init__(
        self,
        robot: Robot,
        floor: pin.SE3 | None = None,
        plates: Sequence[Plate] = (),
        bodies: bool = True,
        wider: float = 1.0,
        spared: Collection[int] = (),
    ) -> None:
        """``bodies`` says whether the robot's own bodies touch each other.

        The bodies of the joints in ``spared`` do not touch the floor.

        What is told is nearer than the margins of this module and of :mod:`balance.robots.floor`,
        times ``wider``.
        """
        self._margin = wider * MARGIN_M
        self.shapes = robot.shapes
        self.plates = list(plates)
        level = pin.SE3.Identity() if floor is None else floor
        self._floor = FloorWatch(robot, level, wider, spared)
        self._model = robot.model
        pairs = list(robot.shape_pairs) if bodies else []
        for number, plate in enumerate(self.plates, len(self.shapes)):
            pairs += [(i, number) for i, s in enumerate(self.shapes) if s.joint not in plate.spared]
        self._first, self._second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self._on_plate = self._second >= len(self.shapes)
        self._geometry = geometry_model(self.shapes, ())
        for number, plate in enumerate(self.plates):
            box = shape_of("box", plate.half_size, plate.middle).geometry()
            self._geometry.addGeometryObject(
                pin.GeometryObject(f"plate {number}", 0, plate.middle, box)
            )
        for i, j in pairs:
            self._geometry.addCollisionPair(pin.CollisionPair(i, j))
        self._found = self._geometry.createData()
        self._ways = self._pair_ways(robot.model)
        # Where in the list of pairs another first shape begins.
        self._starts = np.flatnonzero(np.diff(self._first, prepend=-1))
        self._joints = np.array([shape.joint for shape in self.shapes], dtype=np.int64)
        balls = [shape.ball for shape in self.shapes]
        self._centres = np.array([[*centre, 1.0] for centre, _ in balls]).reshape(-1, 4)
        self._radii = np.array([radius for _, radius in balls])
        self._anchor: Array | None = None
        self._data: pin.Data | None = None

    def contacts(self, q: Array, data: pin.Data) -> list[Near]:
        """All pairs nearer than ``MARGIN_M`` at ``q``: two bodies, or a body and a plate."""
        if not len(self._first):
            return []
        if self._anchor is None:
            self._drop_anchor(q, data)
        else:
            most = largest_use(q, self._anchor, self._bound)
            if most != most:  # a state that is not a number is near nothing, and no anchor
                self._anchor = None
                return []
            if most >= 1.0:
                self._move_anchor(q, np.abs(q - self._anchor), data)
        return self._close_contacts(q, data) if len(self._close) else []

    def rows_without(self, q: Array) -> int:
        """Of how many of the next configurations, rows of ``q``, :meth:`contacts` has none.

        Known without asking it, which then may be left out for them.
        """
        if not len(self._first):
            return len(q)
        if self._anchor is None or len(self._close):
            return 0
        used = np.abs(q - self._anchor) @ self._bound.T
        full = ~(used.max(axis=1) < 1.0 - ROUNDING)
        return int(full.argmax()) if full.any() else len(q)

    def touches_itself(self, q: Array, data: pin.Data) -> bool:
        """Whether :meth:`contacts` has any at ``q``; ``data`` is placed there if it is needed."""
        anchor = self._anchor
        if anchor is not None and not len(self._close) and largest_use(q, anchor, self._bound) < 1:
            return False
        pin.forwardKinematics(self._model, data, q)
        return bool(self.contacts(q, data))

    def self_contacts(self, data: pin.Data) -> list[Near]:
        """All pairs nearer than ``MARGIN_M``, looked for without what is known from before."""
        self._place(data)
        return self._near((self._all_gaps(data) < self._margin).nonzero()[0], data)[0]

    def clearance(self, data: pin.Data) -> float:
        """A distance (m) that no pair which does not overlap is below."""
        self._place(data)
        gaps = self._all_gaps(data)
        return float(gaps[gaps > 0.0].min(initial=np.inf))

    def ground_points(self, data: pin.Data) -> tuple[Array, Array, Numbers]:
        """Points (n, 3) near the floor, their heights above it, and the numbers of their shapes."""
        return self._floor.near(self._placements(data))

    def move_floor(self, pose: pin.SE3) -> None:
        """Put the floor elsewhere."""
        self._floor.move(pose)

    def move_plate(self, number: int, pose: pin.SE3) -> None:
        """Put a plate elsewhere."""
        plate = self.plates[number] = replace(self.plates[number], pose=pose)
        self._geometry.geometryObjects[len(self.shapes) + number].placement = plate.middle
        self._anchor = None

    def _placements(self, data: pin.Data) -> Array:
        if data is not self._data:
            self._data, self._view = data, joint_placements(data)
        return self._view

    def _place(self, data: pin.Data) -> None:
        pin.updateGeometryPlacements(self._model, data, self._geometry, self._found)

    def _pair_ways(self, model: pin.Model) -> Array:
        """Rows (n, nq) whose product with ``|q1 - q0|`` bounds how much nearer each pair comes, m.

        Joints that carry both shapes along, as the base does, do not count.
        """
        travel = travel_weights(model, self.shapes)
        carried = travel != 0.0
        ways = travel[self._first]
        own = (~self._on_plate).nonzero()[0]
        first, second = self._first[own], self._second[own]
        ways[own] += travel[second]
        ways[own] *= ~(carried[first] & carried[second])
        return ways

    def _drop_anchor(self, q: Array, data: pin.Data) -> None:
        """Begin with the distances of all pairs at ``q``."""
        self._place(data)
        self._gaps = self._all_gaps(data)
        self._rooms = self._gaps - self._margin  # when they were measured
        self._set_anchor(q)

    def _move_anchor(self, q: Array, moved: Array, data: pin.Data) -> None:
        """Know bounds at ``q`` from those at the anchor, ``moved`` (nq,) away, and measure some."""
        rooms = self._gaps - self._margin - self._ways.dot(moved)
        # Those that are close have other anchors.
        rooms[self._close] = -np.inf
        lost = (rooms < LEAST_KEPT * self._rooms).nonzero()[0]
        if len(lost) > MOST_LOST:
            self._drop_anchor(q, data)
            return
        np.add(rooms, self._margin, out=self._gaps)
        self._place(data)
        self._exact(lost, self._gaps)
        self._rooms[lost] = self._gaps[lost] - self._margin
        self._set_anchor(q)

    def _set_anchor(self, q: Array) -> None:
        """Put the anchor to ``q``, where ``_gaps`` are known."""
        self._anchor = q.copy()
        rooms = self._gaps - self._margin
        close = rooms < CLOSE_M
        self._close = close.nonzero()[0]
        self._close_ways = self._ways[self._close]
        self._close_gaps = self._gaps[self._close]
        self._close_anchors = np.tile(q, (len(self._close), 1))
        # Of all pairs with the same first shape the largest share of the room that a joint can use.
        shares = self._ways * np.where(close, 0.0, 1.0 / np.maximum(rooms, CLOSE_M))[:, None]
        self._bound = np.maximum.reduceat(shares, self._starts, axis=0)

    def _close_contacts(self, q: Array, data: pin.Data) -> list[Near]:
        """Which of the close pairs are near: those that can be are measured, and anchored here."""
        ways = np.einsum("nk,nk->n", self._close_ways, np.abs(q - self._close_anchors))
        doubtful = (self._close_gaps - ways < self._margin).nonzero()[0]
        if not len(doubtful):
            return []
        self._place(data)
        self._close_anchors[doubtful] = q
        found, self._close_gaps[doubtful] = self._near(self._close[doubtful], data)
        return found

    def _all_gaps(self, data: pin.Data) -> Array:
        """A lower bound of the distance of each pair, exact where balls around them are near."""
        now = self._placements(data)
        centres = np.einsum("nk,nkd->nd", self._centres, now[self._joints])
        if self.plates:
            return self._exact(range(len(self._first)), np.empty(len(self._first)))
        apart = centres[self._first] - centres[self._second]
        gaps = np.sqrt((apart * apart).sum(axis=1))
        gaps -= self._radii[self._first] + self._radii[self._second]
        return self._exact((gaps < HORIZON_M).nonzero()[0], gaps)

    def _exact(self, pairs: Sequence[int] | Numbers, gaps: Array) -> Array:
        """``gaps`` with the true distances of some pairs."""
        for pair in pairs:
            gaps[pair] = pin.computeDistance(self._geometry, self._found, int(pair)).min_distance
        return gaps

    def _near(self, pairs: Numbers, data: pin.Data) -> tuple[list[Near], list[float]]:
        """Which of some pairs are near, and where; and the distances of all of them."""
        found, distances = [], []
        for pair in pairs.tolist():
            result = pin.computeDistance(self._geometry, self._found, pair)
            distance = result.min_distance
            distances.append(distance)
            if distance >= self._margin:
                continue
            middle = 0.5 * (result.getNearestPoint1() + result.getNearestPoint2())
            i, j = int(self._first[pair]), int(self._second[pair])
            one = Near(i, j, middle, -result.normal, distance)
            found += self._on_top(one, data) if j >= len(self.shapes) else [one]
        return found, distances

    def _on_top(self, one: Near, data: pin.Data) -> list[Near]:
        """A body on a plate: its lowest points over the top, or else the nearest one."""
        plate = self.plates[one.j - len(self.shapes)]
        points, heights, numbers = self._floor.points.near(
            self._placements(data), plate.pose, self._margin
        )
        half, normal = np.array(plate.half_size), plate.pose.rotation[:, 2]
        local = (points - plate.pose.translation) @ plate.pose.rotation
        over = (np.abs(local[:, :2]) <= half[:2]).all(axis=1) & (heights > -2.0 * half[2])
        chosen = (over & (numbers == one.i)).nonzero()[0]
        if not len(chosen):
            return [one]
        return [
            Near(one.i, one.j, points[k] - 0.5 * heights[k] * normal, normal, float(heights[k]))
            for k in chosen
        ]


@compiled
def largest_use(q: Array, anchor: Array, bound: Array) -> float:
    """The largest entry of ``bound`` times how far ``q`` is from the ``anchor``, joint by joint.

    NaN if one is.
    """
    used = bound.dot(np.abs(q - anchor))
    return used[used.argmax()]
