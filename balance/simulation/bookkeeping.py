"""A plant whose momentum and energy are counted in every step, by other means than its own.

With a = (v+ - v) / dt, Pinocchio's recursive Newton-Euler algorithm says which generalised force a
step must have had.  Against it are held the torques, the joint friction, the measured contact
wrenches and the pushes.  What is left over is the error of the books: its first six entries are an
impulse on the whole robot, that is momentum from nowhere; its product with the mean velocity is
energy from nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.checks import frame_id
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.interface import BodyImpulse, Plant
from balance.simulation.plants.wrapper import PlantWrapper

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Largest error of a step, relative to what acted in it; rounding leaves some 1e-12."""


class BookkeepingPlant(PlantWrapper):
    """A plant that is stopped by a FloatingPointError where its books do not balance.

    Joints beyond their range are left out: the end stops do not tell their torque.
    """

    def __init__(self, plant: Plant, robot: Robot, ground: GroundMotion | None = None) -> None:
        super().__init__(plant)
        self.robot, self._ground = robot, ground
        self._model, self._data = robot.model, robot.model.createData()
        weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
        self._scale = weight * plant.dt
        self.momentum_error, self.energy_error = 0.0, 0.0
        """Largest error of a step so far: N s, and J."""

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step and check its books."""
        time, q, v = self.plant.time, self.plant.q.copy(), self.plant.v.copy()
        damping = self.plant.joint_damping.copy()
        self.plant.step(torques, impulses)
        v_next = self.plant.v
        needed = self.dt * pin.rnea(self._model, self._data, q, v, (v_next - v) / self.dt)
        pin.computeJointJacobians(self._model, self._data, q)
        pin.updateFramePlacements(self._model, self._data)
        acted = self._contacts(time) + sum(map(self._push, impulses), np.zeros(self._model.nv))
        drives = np.clip(torques, *self.plant.torque_range) - damping * v_next[6:]
        acted[6:] += self.dt * drives
        self._check(needed - acted, np.abs(acted).max(), q, 0.5 * (v + v_next), time)

    def _check(self, error: Array, acted: float, q: Array, mean_v: Array, time: float) -> None:
        lower, upper = self._model.lowerPositionLimit[7:], self._model.upperPositionLimit[7:]
        error[6:][(q[7:] < lower) | (q[7:] > upper)] = 0.0
        momentum, energy = float(np.abs(error[:6]).max()), float(abs(error @ mean_v))
        self.momentum_error = max(self.momentum_error, momentum)
        self.energy_error = max(self.energy_error, energy)
        allowed = TOLERANCE * (self._scale + acted)
        speed = float(np.abs(mean_v).max())
        for name, size, most, unit in (
            ("momentum", momentum, allowed, "N s"),
            ("energy", energy, allowed * speed, "J"),
            ("the joints' momentum", float(np.abs(error).max()), allowed, "N m s"),
        ):
            if not size <= most:
                raise FloatingPointError(
                    f"the books do not balance in the step from {time:.6g} s: {name} is off by "
                    f"{size:.3g} {unit}, allowed are {most:.3g}"
                )

    def _contacts(self, time: float) -> Array:
        """Generalised impulse (nv,) of the measured contact wrenches."""
        total = np.zeros(self._model.nv)
        for sole, wrench in zip(self.robot.soles, self.plant.contact_wrenches, strict=True):
            in_sole = wrench if sole.has_area else self._in_sole(sole, wrench, time)
            total += self._jacobian(sole.frame_id, sole.placement, pin.LOCAL).T @ in_sole
        return self.dt * total

    def _in_sole(self, sole: ContactSurface, wrench: Array, time: float) -> Array:
        """A wrench that is measured in axes that stay with the plane, in those of the surface."""
        R_WP = sole.plane.rotation
        if self._ground is not None and sole.name in self._ground.surfaces:
            R_WP = self._ground.pose(time).rotation @ R_WP
        R_WS = sole.pose(self._data).rotation
        return np.asarray(wrench.reshape(2, 3) @ sole.axes(R_WS, R_WP).T @ R_WS).ravel()

    def _push(self, impulse: BodyImpulse) -> Array:
        """Generalised impulse (nv,) of a push."""
        frame = frame_id(self._model, impulse.body)
        at = pin.SE3(np.eye(3), impulse.point)
        axes = pin.LOCAL if impulse.in_body_axes else pin.LOCAL_WORLD_ALIGNED
        return np.asarray(impulse.vector @ self._jacobian(frame, at, axes)[:3])

    def _jacobian(self, frame: int, placement: pin.SE3, axes: pin.ReferenceFrame) -> Array:
        """Jacobian (6, nv) of a frame that is fixed to another one."""
        parent = self._model.frames[frame]
        return np.asarray(
            pin.getFrameJacobian(
                self._model, self._data, parent.parentJoint, parent.placement * placement, axes
            )
        )
