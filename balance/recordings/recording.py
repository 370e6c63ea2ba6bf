"""A recording: what happened in a run, as arrays with one row per control period."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from balance.config import ExperimentConfig
from balance.control.parts.setpoints import SetpointPath
from balance.dynamics.placements import frame_points, joint_placements
from balance.recordings.bounds import LOADED_N
from balance.recordings.disk_arrays import chunks
from balance.recordings.verdict import RunEnd
from balance.robots import Robot
from balance.robots.clearance import bodies_off_the_ground
from balance.robots.contacts import ContactSurface, centre_of_pressure
from balance.simulation.ground import GroundMotion
from balance.simulation.pushes import Push

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """A run; row i holds the state at ``time[i]`` and what acted until the next row.

    Vectors are in world axes, wrenches (force, moment) at the soles' centres in their own axes (of
    points without an area in those of ``ContactSurface.axes``, which stay with their plane),
    units SI.  ``n`` rows, ``k`` soles, ``nj`` joints.
    """

    config: ExperimentConfig
    robot: Robot
    pushes: tuple[Push, ...]
    time: Array
    q: Array
    v: Array
    torques: Array
    wrenches: Array
    contact_wrenches: Array
    push_force: Array
    status: NDArray[np.int64]
    com_error: Array
    rotation_error: Array
    momentum: Array
    sole_lift: Array
    sole_slip: Array
    lowest_body: Array
    end: RunEnd
    timing: Mapping[str, Any] = field(default_factory=dict)
    conflict: str = ""
    """Limits that contradicted each other when a QP first had no solution, in words."""
    shortfall: Array | None = None
    """Wanted minus commanded wrench at the CoM (n, 6), N and N m in world axes."""
    estimation: Array | None = None
    """Errors of the estimated base and their standard deviations as the filter sees them (n, 18):
    position m, rotation rad, velocity m/s, world axes; None if the law knew the true state."""

    @property
    def cop(self) -> Array:
        """Measured centre of pressure of each sole in its own frame (n, k, 2); NaN without load."""
        return centre_of_pressure(self.contact_wrenches, LOADED_N)

    def summary(self) -> dict[str, Any]:
        """Outcome and figures of the run, as written to ``summary.json``."""
        from balance.recordings.metrics import summarise

        return summarise(self)


@dataclass(frozen=True)
class Derived:
    """Quantities that follow from the states alone."""

    com_error: Array
    rotation_error: Array
    momentum: Array
    sole_lift: Array
    sole_slip: Array
    lowest_body: Array


def derive(
    robot: Robot,
    path: SetpointPath,
    time: Array,
    q: Array,
    v: Array,
    ground: GroundMotion | None = None,
) -> Derived:
    """CoM error, rotation error, momentum and sole motion of every recorded state.

    The rotation error is the rotation vector from the desired to the actual base orientation, in
    the axes of the desired frame; lift is the highest corner of a sole above the ground and slip
    the horizontal way of its centre from where it stood, both relative to the ground wherever that
    has moved; ``lowest_body`` is the height of the lowest joint that carries no sole.
    """
    n, k = len(time), len(robot.soles)
    out = Derived(
        np.empty((n, 3)),
        np.empty((n, 3)),
        np.empty((n, 6)),
        np.empty((n, k)),
        np.empty((n, k)),
        np.empty(n),
    )
    bodies = _Bodies(robot)
    for rows in chunks(n):
        com, out.momentum[rows] = bodies.follow(q[rows], v[rows])
        desired = [path.at(t) for t in time[rows].tolist()]
        out.com_error[rows] = com - [one.com for one in desired]
        target = Rotation.from_quat([one.quaternion for one in desired])
        actual = Rotation.from_quat(q[rows, 3:7])
        out.rotation_error[rows] = (target.inv() * actual).as_rotvec()
        out.sole_lift[rows], out.sole_slip[rows] = bodies.sole_motion(time[rows], ground)
        out.lowest_body[rows] = bodies.lowest()
    return out


class _Bodies:
    """The robot's bodies in a chunk of recorded states, in one array of joint placements."""

    def __init__(self, robot: Robot) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        pin.ccrba(self._model, self._data, robot.q_nominal, np.zeros(robot.model.nv))
        self._here = joint_placements(self._data)
        self._placements = self._here[None].copy()
        self._others = bodies_off_the_ground(robot.model, robot.soles)
        self._soles = [_Sole(robot, sole) for sole in robot.soles]
        self._start = [sole.points(self._placements)[0, 3, :2] for sole in self._soles]

    def follow(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Take the chunk's states; their CoM (rows, 3) and momentum (rows, 6)."""
        model, data, here = self._model, self._data, self._here
        com_here, momentum_here = data.com[0], data.hg.vector
        com, momentum = np.empty((len(q), 3)), np.empty((len(q), 6))
        self._placements = np.empty((len(q), *here.shape))
        for i in range(len(q)):
            pin.ccrba(model, data, q[i], v[i])
            self._placements[i], com[i], momentum[i] = here, com_here, momentum_here
        return com, momentum

    def sole_motion(self, time: Array, ground: GroundMotion | None) -> tuple[Array, Array]:
        """Lift and slip of every sole (rows, k), m."""
        seen = self._placements
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

    def lowest(self) -> Array:
        """Height (rows,) of the lowest joint that carries no sole, m."""
        return np.asarray(self._placements[:, self._others, 3, 2].min(axis=1))


class _Sole:
    """Where a sole's axes, centre and corners are relative to the plane that it touches."""

    def __init__(self, robot: Robot, sole: ContactSurface) -> None:
        frame = robot.model.frames[sole.frame_id]
        self.name, self._joint = sole.name, frame.parentJoint
        self._rows = frame_points(frame.placement * sole.placement, sole.corners)
        self._plane = sole.plane

    def points(self, placements: Array) -> Array:
        """Axes, centre and corners (rows, 8, 3) from joint placements (rows, njoints, 4, 3)."""
        points = self._rows @ placements[:, self._joint]
        points[:, 3:] -= self._plane.translation
        return np.asarray(points @ self._plane.rotation)
