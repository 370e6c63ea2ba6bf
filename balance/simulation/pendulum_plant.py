"""A plant with a pendulum beside it: both are stepped together, in whichever engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.pendulum import PendulumConfig
from balance.errors import ConfigError, known_names
from balance.robots import Robot
from balance.simulation.pendulum_body import PendulumBody, Point
from balance.simulation.plants.interface import BodyImpulse, Plant
from balance.simulation.plants.wrapper import PlantWrapper
from balance.simulation.pushes import effective_mass

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PendulumHistory:
    """What a pendulum did, one row for each simulation step; energies at the end, J.

    ``time`` (s) is when a step begins; ``angle`` (rad) and ``way`` (m), of the robot's point along
    the push, are those at its beginning; ``force`` (N) on the robot is the mean over it.
    ``work_J`` is what the robot was given, ``return_J`` the pendulum's energy at rest after a hit.
    """

    config: PendulumConfig
    time: Array
    angle: Array
    rate: Array
    way: Array
    force: Array
    friction_J: float
    pad_loss_J: float
    motor_J: float
    work_J: float
    return_J: float | None
    left_J: float
    spring_J: float


class PendulumPlant(PlantWrapper):
    """A plant that a pendulum touches; it is used like the plant itself.

    The pad's force acts at the robot's point, which moves with its body, and is level: the pad has
    no friction.
    """

    def __init__(self, plant: Plant, config: PendulumConfig, robot: Robot) -> None:
        super().__init__(plant)
        model = robot.model
        body = robot.push_body if config.body is None else config.body
        bodies = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
        if body not in bodies:
            raise ConfigError(
                f"pendulum.body = '{body}': robot '{robot.name}' has no such body"
                f"{known_names(body, bodies)}"
            )
        self._model, self._data = model, model.createData()
        frame = model.frames[model.getFrameId(body, pin.FrameType.BODY)]
        self._joint = int(frame.parentJoint)
        self._place = frame.placement.act(np.array(config.point_m))
        self._direction = np.array(config.direction) / np.linalg.norm(config.direction)
        self._body, self._point_m = body, np.array(config.point_m)
        felt = effective_mass(robot, robot.q_nominal, body, self._point_m, self._direction)
        self._inverse_mass = 1.0 / felt
        self.pendulum = PendulumBody(config, plant.dt)
        self.impulse = np.zeros(3)
        """Of the last step, on the robot, in world axes, N s."""
        self._start()

    def _start(self) -> None:
        self._rows: list[tuple[float, ...]] = []
        self._work, self._drift = 0.0, 0.0
        way, self._speed = self._at(self.plant.q, self.plant.v)
        self._origin = way
        self._way = 0.0

    def _at(self, q: Array, v: Array) -> tuple[float, float]:
        """Place and speed of the robot's point along the push."""
        data = self._data
        pin.forwardKinematics(self._model, data, q, v)
        pose, motion = data.oMi[self._joint], data.v[self._joint]
        local = motion.linear + np.cross(motion.angular, self._place)
        return (
            float(self._direction.dot(pose.act(self._place))),
            float(self._direction.dot(pose.rotation.dot(local))),
        )

    def reset(self, q: Array, v: Array) -> None:
        """Start again at time zero from a state, the pendulum too."""
        super().reset(q, v)
        self.pendulum.reset()
        self._start()

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance robot and pendulum by one time step."""
        body, before, time = self.pendulum, self._speed, self.plant.time
        angle, rate = body.angle, body.rate
        # Engines move by the speed at the end of a step; half a step back, the way is that of the
        # mean speed, for which the pad's books are exact.
        point = Point(self._way - 0.5 * self.dt * before, before, self._drift, self._inverse_mass)
        size = body.step(time, point)
        self.impulse[:] = size * self._direction
        if size != 0.0:
            impulses = [*impulses, BodyImpulse(self._body, self._point_m, self.impulse.copy())]
        self.plant.step(torques, impulses)
        self._rows.append((time, angle, rate, self._way, size / self.dt))
        place, self._speed = self._at(self.plant.q, self.plant.v)
        self._way = place - self._origin
        self._work += 0.5 * size * (before + self._speed)
        self._drift = self._speed - before - self._inverse_mass * size

    def history(self) -> PendulumHistory:
        """What the pendulum did since the start."""
        time, angle, rate, way, force = np.array(self._rows, dtype=float).reshape(-1, 5).T
        body = self.pendulum
        return PendulumHistory(
            config=body.config,
            time=time,
            angle=angle,
            rate=rate,
            way=way,
            force=force,
            friction_J=body.friction_J,
            pad_loss_J=body.pad_loss_J,
            motor_J=body.motor_J,
            work_J=self._work,
            return_J=body.return_J,
            left_J=body.energy,
            spring_J=body.spring_J,
        )
