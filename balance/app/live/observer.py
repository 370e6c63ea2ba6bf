"""What the page shows of one instant, worked out from a row of a log or recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.app.live.steps import StepObserver, Steps
from balance.control.parts.setpoints import Path as SetpointSource
from balance.recordings.verdict import LOADED_N
from balance.robots import Robot
from balance.robots.contacts import centre_of_pressure
from balance.robots.support_polygon import support_polygon

Array = NDArray[np.float64]


class Rows(Protocol):
    """What the log of a run and a recording share."""

    @property
    def time(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def wrenches(self) -> Array: ...
    @property
    def contact_wrenches(self) -> Array: ...
    @property
    def push_force(self) -> Array: ...
    @property
    def touches(self) -> Array: ...


@dataclass(frozen=True)
class Instant:
    """World axes, SI units; arrays over soles have one row for each."""

    time: float
    q: Array
    com: Array
    com_velocity: Array
    momentum: Array
    com_error: Array
    rotation_error: Array
    capture_point: Array
    """Where the CoM would come to rest if the CoP were put there at once, on the ground (3,)."""
    soles: list[pin.SE3]
    forces: Array
    """Measured contact forces (k, 3)."""
    torsions: Array
    """Measured moments about the soles' normals (k, 3)."""
    commanded: Array
    """Commanded contact forces (k, 3)."""
    commanded_torsions: Array
    touches: Array
    """Where bodies touch besides the soles, and with which force, in rows (6, 2, 3)."""
    cops: Array
    """Measured CoP of each sole (k, 3); NaN without load."""
    commanded_cops: Array
    total_cop: Array
    cop_margins: Array
    """Distance of each CoP from the nearest edge of its sole (k,), m; NaN without load."""
    support: Array
    """Corners (n, 3) of the convex hull of the loaded feet, in order; empty without load."""
    steps: Steps | None = None
    """Of a law that may step."""


class Observer:
    """Evaluates rows for one robot."""

    def __init__(self, robot: Robot, path: SetpointSource) -> None:
        self.robot, self.path = robot, path
        self._model, self._data = robot.model, robot.model.createData()
        self._steps = StepObserver(robot)
        self._gravity = float(np.linalg.norm(robot.model.gravity.linear))

    def at(self, rows: Rows, row: int) -> Instant:
        """Everything about one row."""
        model, data = self._model, self._data
        time, q, v = float(rows.time[row]), rows.q[row].copy(), rows.v[row]
        pin.ccrba(model, data, q, v)
        pin.updateFramePlacements(model, data)
        com, momentum = data.com[0].copy(), data.hg.vector.copy()
        velocity = momentum[:3] / self.robot.mass
        desired = self.path.at(time)
        wanted_com, wanted_rotation = desired.com, desired.rotation
        capture = com + velocity * np.sqrt(max(com[2], 1e-3) / self._gravity)
        capture[2] = 0.0
        soles = [sole.wrench_pose(data) for sole in self.robot.soles]
        steps = self._steps.at(rows, row)
        if steps is not None and steps.taken:
            wanted_com, wanted_rotation = self._steps.setpoint(soles)
        measured, commanded = rows.contact_wrenches[row], rows.wrenches[row]
        cops, margins = self._cops(soles, measured)
        forces, torsions = _forces(soles, measured)
        wanted_forces, wanted_torsions = _forces(soles, commanded)
        weights = np.maximum(forces[:, 2], 0.0) * np.isfinite(cops[:, 0])
        total = np.full(3, np.nan)
        if weights.sum() > LOADED_N:
            total = weights @ np.nan_to_num(cops) / weights.sum()
        return Instant(
            time=time,
            q=q,
            com=com,
            com_velocity=velocity,
            momentum=momentum,
            com_error=com - wanted_com,
            rotation_error=pin.log3(wanted_rotation.T @ data.oMi[1].rotation),
            capture_point=capture,
            soles=soles,
            forces=forces,
            torsions=torsions,
            commanded=wanted_forces,
            commanded_torsions=wanted_torsions,
            touches=rows.touches[row, :, 2:8].reshape(-1, 2, 3).copy(),
            cops=cops,
            commanded_cops=self._cops(soles, commanded)[0],
            total_cop=total,
            cop_margins=margins,
            support=self._support(weights),
            steps=steps,
        )

    def body_point(self, body: str, point: Array) -> pin.SE3:
        """Pose of a point of a body at the instant that was evaluated last."""
        placement = self._data.oMf[self._model.getFrameId(body)]
        return placement * pin.SE3(np.eye(3), point)

    def placements(self, nominal: bool = False) -> pin.Data:
        """Where all joints were at the instant that was evaluated last, or nominally are."""
        if not nominal:
            return self._data
        data = self._model.createData()
        pin.forwardKinematics(self._model, data, self.robot.q_nominal)
        return data

    def _cops(self, soles: list[pin.SE3], wrenches: Array) -> tuple[Array, Array]:
        local = centre_of_pressure(wrenches, LOADED_N)
        half = np.array([[sole.half_length, sole.half_width] for sole in self.robot.soles])
        margins = (half - np.abs(local)).min(axis=1)
        flat = np.concatenate([local, np.zeros((len(local), 1))], axis=1)
        world = np.array([pose.act(point) for pose, point in zip(soles, flat, strict=True)])
        return world, margins

    def _support(self, weights: Array) -> Array:
        vertices = support_polygon(self.robot, self._data, loaded=weights > LOADED_N).vertices
        return np.concatenate([vertices, np.zeros((len(vertices), 1))], axis=1)


def _forces(soles: list[pin.SE3], wrenches: Array) -> tuple[Array, Array]:
    """Forces (k, 3), and moments about the normal through the CoP (k, 3), in world axes."""
    forces, torsions = np.empty((len(soles), 3)), np.empty((len(soles), 3))
    for index, (pose, w) in enumerate(zip(soles, wrenches, strict=True)):
        forces[index] = pose.rotation @ w[:3]
        x, y = (-w[4] / w[2], w[3] / w[2]) if w[2] > LOADED_N else (0.0, 0.0)
        torsions[index] = pose.rotation[:, 2] * (w[5] - (x * w[1] - y * w[0]))
    return forces, torsions
