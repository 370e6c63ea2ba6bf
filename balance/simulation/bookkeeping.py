"""A plant whose momentum and energy are counted in every step, by other means than its own.

Two books are kept.  The momentum of the whole robot, linear and about its CoM, is computed from the
states before and after a step; it may only change by what gravity, pushes, contact wrenches and
touches gave.  And Pinocchio's recursive Newton-Euler algorithm says which generalised force the
step must have had; against it are held torques and joint friction as well.  What is left over there
is the error of the joints, and its product with the mean velocity is energy from nowhere.
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
from balance.simulation.plants.interface import BodyImpulse, Plant, Touch
from balance.simulation.plants.wrapper import PlantWrapper

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Largest error of a step, relative to what acted in it; rounding leaves some 1e-12."""
ROUNDING_M = 1e-15
"""Of the base's position; a step's velocity has that over its length."""


class BookkeepingPlant(PlantWrapper):
    """A plant that is stopped by a FloatingPointError where its books do not balance.

    Joints beyond their range are left out: the end stops do not tell their torque.  Without
    ``strict`` nothing stops it, and ``momentum_error`` tells how well an engine keeps momentum.
    """

    def __init__(
        self,
        plant: Plant,
        robot: Robot,
        ground: GroundMotion | None = None,
        strict: bool = True,
    ) -> None:
        super().__init__(plant)
        self.robot, self._ground, self._strict = robot, ground, strict
        self._model, self._data = robot.model, robot.model.createData()
        self._bodies = {frame.name for frame in robot.model.frames}
        self._weight = robot.mass * np.array(robot.model.gravity.linear)
        self._scale = float(np.linalg.norm(self._weight)) * plant.dt
        self._rounding = robot.mass * ROUNDING_M / plant.dt
        self.momentum_error, self.energy_error = 0.0, 0.0
        """Largest error of a step so far: N s, and J."""

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step and check its books."""
        time, q, v = self.plant.time, self.plant.q.copy(), self.plant.v.copy()
        damping, before = self.plant.joint_damping.copy(), self._momentum(q, v)
        self.plant.step(torques, impulses)
        gained = self._momentum(self.plant.q, self.plant.v) - before
        # The velocity that took the base from q to q+ is not the one that it has there.
        v_step = self.plant.v.copy()
        v_step[:6] = pin.difference(self._model, q, self.plant.q)[:6] / self.dt
        needed = self.dt * pin.rnea(self._model, self._data, q, v, (v_step - v) / self.dt)
        com = np.array(pin.centerOfMass(self._model, self._data, q))
        pin.computeJointJacobians(self._model, self._data, q)
        pin.updateFramePlacements(self._model, self._data)
        acted = self._contacts(time) + sum(map(self._push, impulses), np.zeros(self._model.nv))
        acted += sum(map(self._touch, self.plant.touches), np.zeros(self._model.nv))
        given = self._at(com, acted[:6])
        drives = np.clip(torques, *self.plant.torque_range) - damping * v_step[6:]
        acted[6:] += self.dt * drives
        error = needed - acted
        error[6:][self._beyond(q)] = 0.0
        self._check(
            float(np.abs(gained - given).max()),
            error,
            max(float(np.abs(acted).max()), float(np.abs(given).max())),
            0.5 * (v + v_step),
            time,
        )

    def _check(
        self, momentum: float, error: Array, acted: float, mean_v: Array, time: float
    ) -> None:
        energy = float(abs(error @ mean_v))
        self.momentum_error = max(self.momentum_error, momentum)
        self.energy_error = max(self.energy_error, energy)
        if not self._strict:
            return
        allowed = TOLERANCE * (self._scale + acted) + self._rounding
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

    def _beyond(self, q: Array) -> NDArray[np.bool_]:
        """Which joints are beyond their range."""
        lower, upper = self._model.lowerPositionLimit[7:], self._model.upperPositionLimit[7:]
        return np.asarray((q[7:] < lower) | (q[7:] > upper))

    def _momentum(self, q: Array, v: Array) -> Array:
        """Linear momentum and angular momentum about the CoM (6,), world axes."""
        return np.array(pin.computeCentroidalMomentum(self._model, self._data, q, v).vector)

    def _at(self, com: Array, on_base: Array) -> Array:
        """Gravity's impulse and one on the base (6,), in its axes, as impulse (6,) at the CoM."""
        X_GB = pin.SE3(np.eye(3), -com) * self._data.oMi[1]
        given = np.array(X_GB.act(pin.Force(on_base)).vector)
        given[:3] += self.dt * self._weight
        return given

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

    def _touch(self, touch: Touch) -> Array:
        """Generalised impulse (nv,) of a touch; between bodies it acts on both."""
        total = np.zeros(self._model.nv)
        for body, sign in ((touch.body, 1.0), (touch.other, -1.0)):
            if body in self._bodies:
                frame = frame_id(self._model, body)
                point = self._data.oMf[frame].actInv(touch.point)
                J = self._jacobian(frame, pin.SE3(np.eye(3), point), pin.LOCAL_WORLD_ALIGNED)
                total += sign * self.dt * (touch.force @ J[:3])
        return total

    def _jacobian(self, frame: int, placement: pin.SE3, axes: pin.ReferenceFrame) -> Array:
        """Jacobian (6, nv) of a frame that is fixed to another one."""
        parent = self._model.frames[frame]
        return np.asarray(
            pin.getFrameJacobian(
                self._model, self._data, parent.parentJoint, parent.placement * placement, axes
            )
        )
