"""Signals that follow from the states of a run: errors, momentum, motion of the soles."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from balance.control.parts.setpoints import Path
from balance.dynamics.placements import frame_points, joint_placements
from balance.recordings.disk_arrays import chunks, zeros
from balance.recordings.penetration import FloorHeights
from balance.recordings.signals import Origin, signals_of
from balance.recordings.stance_rows import StanceRows
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.shapes.proximity import Proximity
from balance.simulation.ground import GroundMotion

Array = NDArray[np.float64]

ROWS_AHEAD = 256  # of which it is asked at once whether bodies can be near each other


def derive(
    robot: Robot,
    path: Path,
    time: Array,
    q: Array,
    v: Array,
    ground: GroundMotion | None = None,
    stances: StanceRows | None = None,
) -> dict[str, Any]:
    """The signals that follow from the recorded states, by name, each with a row for each state.

    ``stances`` tells which soles were meant to bear when, and on what, if that changes.
    """
    n = len(time)
    wanted = signals_of(Origin.STATES)
    out = {signal.name: zeros((n, *signal.row_shape(robot)), float) for signal in wanted}
    bodies = _Bodies(robot, ground)
    for rows in chunks(n):
        part = None if stances is None else stances.part(rows)
        states = States(bodies, path, time[rows], q[rows], v[rows], ground, part)
        for signal in wanted:
            assert signal.derive is not None
            out[signal.name][rows] = signal.derive(states)
    return out


class States:
    """A chunk of recorded states, and what follows from them.

    Lift and slip of a sole are relative to its ground, wherever that has moved.
    """

    com: Array
    momentum: Array
    placements: Array
    overlap: Array

    def __init__(
        self,
        bodies: _Bodies,
        path: Path,
        time: Array,
        q: Array,
        v: Array,
        ground: GroundMotion | None,
        stances: StanceRows | None = None,
    ) -> None:
        self.time, self.q, self.v = time, q, v
        self._stances = stances
        self._bodies, self._ground = bodies, ground
        self._desired = [path.at(t) for t in time.tolist()]
        self.com, self.momentum, self.placements, self.overlap = bodies.follow(q, v)

    @property
    def com_error(self) -> Array:
        """CoM less its setpoint (rows, 3), m."""
        return np.asarray(self.com - self._targets("com"))

    @property
    def rotation_error(self) -> Array:
        """Rotation vectors (rows, 3) from the desired to the actual base, in the desired axes."""
        target = Rotation.from_quat(self._targets("quaternion"))
        return np.asarray((target.inv() * Rotation.from_quat(self.q[:, 3:7])).as_rotvec())

    def _targets(self, name: str) -> Array:
        """An entry of the setpoints, (rows, n), or (n,) if they are one and the same."""
        first = self._desired[0] if self._desired else None
        if first is not None and all(one is first for one in self._desired):
            return np.asarray(getattr(first, name))
        return np.array([getattr(one, name) for one in self._desired])

    @cached_property
    def sole_motion(self) -> tuple[Array, Array]:
        """Lift and slip of every sole (rows, k), m."""
        if self._stances is not None:
            return self._bodies.sole_motion_by_stance(
                self.time, self.placements, self._ground, self._stances
            )
        return self._bodies.sole_motion(self.time, self.placements, self._ground)

    @cached_property
    def _over_floor(self) -> tuple[Array, Array]:
        return self._bodies.floor.see(self.time, self.placements)

    @property
    def lowest_body(self) -> Array:
        """Height (rows,) over the floor of the lowest body that carries no sole, m."""
        floor = self._bodies.floor
        return floor.lowest(self._over_floor, floor.without_sole)

    @property
    def penetration(self) -> Array:
        """How deep bodies are in the floor and in each other (rows, 2), m; 0 if they are not."""
        floor = self._bodies.floor
        in_floor = -floor.lowest(self._over_floor, floor.every)
        return np.maximum(np.stack([in_floor, self.overlap], axis=1), 0.0)


class _Bodies:
    """The robot's bodies in many states, in one array of joint placements."""

    def __init__(self, robot: Robot, ground: GroundMotion | None) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        pin.ccrba(self._model, self._data, robot.q_nominal, np.zeros(robot.model.nv))
        self._here = joint_placements(self._data)
        self.floor, self._proximity = FloorHeights(robot, ground), Proximity(robot)
        self._soles = [_Sole(robot, sole) for sole in robot.soles]
        stood = self._here[None].copy()
        self._start = [sole.points(stood)[0, 3, :2] for sole in self._soles]
        self._stood = [False] * len(self._soles)

    def follow(self, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
        """CoM (rows, 3), momentum (rows, 6), joint placements and overlap (rows,) of states."""
        model, data, here = self._model, self._data, self._here
        com_here, momentum_here = data.com[0], data.hg.vector
        com, momentum = np.empty((len(q), 3)), np.empty((len(q), 6))
        placements, overlap = np.empty((len(q), *here.shape)), np.zeros(len(q))
        unasked = 0  # the next row of which it is not known that no bodies are near each other
        for i in range(len(q)):
            pin.ccrba(model, data, q[i], v[i])
            placements[i], com[i], momentum[i] = here, com_here, momentum_here
            if i < unasked:
                continue
            if near := self._proximity.contacts(q[i], data):
                overlap[i] = -min(one.distance for one in near)
            unasked = i + 1 + self._proximity.rows_without(q[i + 1 : i + 1 + ROWS_AHEAD])
        return com, momentum, placements, overlap

    def sole_motion(
        self, time: Array, seen: Array, ground: GroundMotion | None
    ) -> tuple[Array, Array]:
        """Lift and slip of every sole (rows, k), m, from joint placements."""
        carried = seen if ground is None else ground.relative(time, seen)
        points = [
            sole.points(carried if ground and sole.name in ground.surfaces else seen)
            for sole in self._soles
        ]
        lift = [of_sole[:, 4:, 2].max(axis=1) for of_sole in points]
        slip = [
            np.hypot(*(of_sole[:, 3, :2] - start).T)
            for of_sole, start in zip(points, self._start, strict=True)
        ]
        return np.stack(lift, axis=1), np.stack(slip, axis=1)

    def sole_motion_by_stance(
        self, time: Array, seen: Array, ground: GroundMotion | None, stances: StanceRows
    ) -> tuple[Array, Array]:
        """Lift and slip (rows, k), m: over the planes of each phase, since the last touch-down."""
        lift, slip = np.empty((2, len(seen), len(self._soles)))
        carried = seen if ground is None else ground.relative(time, seen)
        for k, sole in enumerate(self._soles):
            moved = carried if ground and sole.name in ground.surfaces else seen
            local = stances.on_planes(k, sole.in_world(moved))
            lift[:, k] = local[:, 1:, 2].max(axis=1)
            for first, last in stances.spans(k):
                begin = self._start[k] if self._stood[k] and first == 0 else local[first, 0, :2]
                slip[first:last, k] = np.hypot(*(local[first:last, 0, :2] - begin).T)
                self._start[k] = begin
            slip[~stances.bears(k), k] = 0.0
            self._stood[k] = bool(stances.bears(k)[-1])
        return lift, slip


class _Sole:
    """Where a sole's axes, centre and corners are relative to the plane that it touches."""

    def __init__(self, robot: Robot, sole: ContactSurface) -> None:
        frame = robot.model.frames[sole.frame_id]
        self.name, self._joint = sole.name, frame.parentJoint
        self._rows = frame_points(frame.placement * sole.placement, sole.corners)
        self._plane = sole.plane

    def in_world(self, placements: Array) -> Array:
        """Centre and corners (rows, 1 + m, 3) from joint placements (rows, njoints, 4, 3)."""
        return np.asarray(self._rows[3:] @ placements[:, self._joint])

    def points(self, placements: Array) -> Array:
        """Axes, centre and corners (rows, 8, 3) from joint placements (rows, njoints, 4, 3)."""
        points = self._rows @ placements[:, self._joint]
        points[:, 3:] -= self._plane.translation
        return np.asarray(points @ self._plane.rotation)
