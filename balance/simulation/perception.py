"""A control law that sees the robot through its sensors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.config.sensors import Estimator
from balance.config.sensors import Sensors as SensorsConfig
from balance.control import Controller, ControlOutput
from balance.robots import Robot
from balance.simulation.estimation import BaseEstimator
from balance.simulation.estimation.errors import base_errors, plain_stds
from balance.simulation.plants.interface import Plant
from balance.simulation.sensors import Sensors, imu_placement

Array = NDArray[np.float64]

CHUNK_ROWS = 1024  # control periods whose errors are worked out at once


class PerceivingController:
    """Sensors, an estimate of the base if asked for, and a law; used like the law itself.

    Joint angles and velocities come from the sensors; with ``state: true`` the base's pose and
    velocity are the true ones, as old as the rest.
    """

    def __init__(
        self,
        law: Controller,
        plant: Plant,
        config: ExperimentConfig,
        robot: Robot,
        simulated: Robot,
        seeds: np.random.SeedSequence,
    ) -> None:
        """``robot`` is the model that the law uses, ``simulated`` that of the plant."""
        self.law, self.path = law, law.path
        sensors = config.sensors or SensorsConfig()
        period = config.control_period_s
        self._sensors = Sensors(sensors, plant, simulated, period, seeds)
        self.estimator: BaseEstimator | None = None
        if config.state == "estimated":
            placement = imu_placement(robot, sensors.imu.body)
            assumed = config.estimator or Estimator()
            self.estimator = BaseEstimator(robot, assumed, sensors, placement, period)
        self._states: list[Array] = []
        self._spreads: list[Array] = []
        self._judged: list[Array] = []

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the constraints that ``ControlOutput.active`` indexes."""
        return self.law.constraint_names

    def step(self, q: Array, v: Array, t: float) -> ControlOutput:
        """Torques of the law, given what the sensors say of the true state ``q``, ``v``."""
        reading = self._sensors.read(q, v)
        pose, velocity = reading.base_pose, reading.base_velocity
        if self.estimator is not None:
            pose, velocity = self.estimator.update(
                reading.joints, reading.gyro, reading.accel, reading.wrenches
            )
            self._states.append(np.concatenate([pose, velocity, q[:7], v[:6]]))
            self._spreads.append(self.estimator.spread())
            if len(self._states) == CHUNK_ROWS:
                self._judge()
        seen_q = np.concatenate([pose, reading.joints])
        return self.law.step(seen_q, np.concatenate([velocity, reading.joint_velocities]), t)

    def conflict(self) -> str:
        """Why the last step's QP had no solution, as the law says."""
        return self.law.conflict()

    @property
    def estimation(self) -> Array | None:
        """Errors and standard deviations of the estimate (n, 18), a row for each step.

        Position m, rotation rad and velocity m/s, first the errors, then the filter's own standard
        deviations; world axes.
        """
        if self.estimator is None:
            return None
        self._judge()
        return np.concatenate([np.zeros((0, 18)), *self._judged])

    def _judge(self) -> None:
        """Turn the latest states into errors, which take less room."""
        if self._states:
            states = np.array(self._states)
            errors = base_errors(states[:, :13], states[:, 13:])
            stds = plain_stds(np.array(self._spreads))
            self._judged.append(np.concatenate([errors, stds], axis=1))
            self._states, self._spreads = [], []
