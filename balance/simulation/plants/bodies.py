"""Which points of a robot's bodies come near the ground, plates and each other, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.robots import Robot
from balance.robots.shapes.proximity import Near
from balance.simulation.plants.body_points import (
    BodyPoints,
    PointRows,
    normal_axes,
    spread,
    twist_rows,
)
from balance.simulation.world import SAME_PLANE, Obstacle, proximity

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

RESERVE_M = 1e-3  # a point that misses by more within the step, as it moves, is left alone
MARGINS_STEP_S = 1e-3  # for longer steps, in which bodies get further, margins are wider
MOST_POINTS = 4  # of a shape on a plane; more hold nothing that these do not


class Bodies:
    """The bodies of a robot among obstacles, the first of which is the floor."""

    def __init__(
        self, robot: Robot, config: PlantConfig, data: pin.Data, obstacles: Sequence[Obstacle]
    ) -> None:
        self._data, self._obstacles = data, obstacles
        floor = obstacles[0].pose
        wider = max(1.0, config.step_s / MARGINS_STEP_S)
        self._proximity = proximity(robot, obstacles, config.collisions == "all", wider)
        self._rows = PointRows(robot.model, data)
        self._joint = np.array([shape.joint for shape in robot.shapes], dtype=np.intp)
        self._names = [shape.body for shape in robot.shapes]
        # Soft ground may let a sole sink deeper than its body is above it.
        soft = config.contact == "soft"
        sinking = [
            robot.model.frames[sole.frame_id].parentJoint
            for sole in robot.soles
            if soft and sole.plane.isApprox(floor, SAME_PLANE)
        ]
        self._above_floor = ~np.isin(self._joint, sinking)
        self._floor_axes = np.array(floor.rotation.T)
        self._twist: Array | None = None

    def carry(self, pose: pin.SE3, twist: pin.Motion) -> None:
        """Move the obstacles that are on the ground, which is at ``pose`` and moves."""
        self._twist = np.array(twist.vector)
        for number, obstacle in enumerate(self._obstacles):
            if obstacle.moves and number == 0:
                self._proximity.move_floor(pose * obstacle.pose)
                self._floor_axes = np.array((pose * obstacle.pose).rotation.T)
            elif obstacle.moves:
                self._proximity.move_plate(number - 1, pose * obstacle.pose)

    def near(self, q: Array, v: Array, dt: float) -> BodyPoints | None:
        """Points that touch or may within a step from this state; None if there are none."""
        points, heights, shapes = self._proximity.ground_points(self._data)
        pairs = self._proximity.contacts(q, self._data)
        if len(points) == 0 and not pairs:
            return None
        near = self._points(points, heights, shapes, pairs)
        approach = near.rows[2::3].dot(v) - near.carried[2::3]
        coming = near.gaps + dt * approach < RESERVE_M
        coming[: len(shapes)] &= self._above_floor[shapes]
        kept = np.flatnonzero(coming)
        return None if kept.size == 0 else near.chosen(*_thinned(near, kept))

    def _points(
        self, points: Array, heights: Array, shapes: Indices, pairs: list[Near]
    ) -> BodyPoints:
        """Those on the floor, then the pairs."""
        n, bodies = len(points), len(self._joint)
        axes = np.broadcast_to(self._floor_axes, (n, 3, 3))
        joints, others = self._joint[shapes], np.zeros(n, dtype=np.intp)
        who = [(self._names[i], self._obstacles[0].name) for i in shapes.tolist()]
        keys, moving = shapes.tolist(), [self._obstacles[0].moves] * n
        if pairs:
            points = np.concatenate([points, [pair.point for pair in pairs]])
            axes = np.concatenate([axes, [normal_axes(pair.normal) for pair in pairs]])
            heights = np.concatenate([heights, [pair.distance for pair in pairs]])
            joints = np.concatenate([joints, self._joint[[pair.i for pair in pairs]]])
            plates = [pair.j - bodies for pair in pairs]
            behind = [0 if plate >= 0 else int(self._joint[plate]) for plate in plates]
            others = np.concatenate([others, np.array(behind, dtype=np.intp)])
            for pair, plate in zip(pairs, plates, strict=True):
                obstacle = self._obstacles[1 + plate] if plate >= 0 else None
                other = self._names[pair.j] if obstacle is None else obstacle.name
                who.append((self._names[pair.i], other))
                moving.append(obstacle is not None and obstacle.moves)
                keys.append(bodies * (1 + pair.j) + pair.i)
        rows = self._rows(points, axes, joints, others)
        carried = np.zeros(len(rows))
        if self._twist is not None:
            carried = (
                twist_rows(points, axes).dot(self._twist) * np.array(moving)[:, None]
            ).ravel()
        return BodyPoints(points, axes, heights, rows, carried, keys, who)


def _thinned(near: BodyPoints, kept: Indices) -> tuple[Indices, list[int]]:
    """Of the points ``kept`` at most ``MOST_POINTS`` of each two that touch, and keys for them."""
    groups: dict[int, list[int]] = {}
    for i in kept.tolist():
        groups.setdefault(near.keys[i], []).append(i)
    chosen: list[int] = []
    keys: list[int] = []
    for key, group in groups.items():
        if len(group) > MOST_POINTS:
            those = np.array(group)
            group = those[spread(near.points[those], near.gaps[those])].tolist()
        chosen += group
        keys += range(MOST_POINTS * key, MOST_POINTS * key + len(group))
    return np.array(chosen), keys
