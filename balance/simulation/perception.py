"""What the law sees of the true state: through sensors and an estimate, or for a while nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.config.faults import SensorDropoutConfig
from balance.config.sensors import EstimatorConfig, SensorsConfig
from balance.robots import Robot
from balance.simulation.estimation import BaseEstimator
from balance.simulation.estimation.errors import base_errors, plain_stds
from balance.simulation.plants.interface import Plant
from balance.simulation.sensors import Reading, Sensors, imu_placement

Array = NDArray[np.float64]

CHUNK_ROWS = 1024  # control periods whose errors are worked out at once


class Perception:
    """From the true state to what the law is given.

    Without sensors and estimate that is the true state itself.  With them, joint angles and
    velocities come from the sensors, and the base's pose and velocity from the estimate or, with
    ``state: true``, from the truth, as old as the rest.  During a dropout nothing is seen: NaN.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        plant: Plant,
        robot: Robot,
        simulated: Robot,
        seeds: np.random.SeedSequence,
    ) -> None:
        """``robot`` is the model that the law uses, ``simulated`` that of the plant."""
        dropouts = [fault for fault in config.faults if isinstance(fault, SensorDropoutConfig)]
        self._blind = [(one.time_s, one.time_s + one.duration_s) for one in dropouts]
        self._sensors: Sensors | None = None
        self._plant = plant
        self.estimator: BaseEstimator | None = None
        self._states: list[Array] = []
        self._spreads: list[Array] = []
        self._judged: list[Array] = []
        self._reading: Reading | None = None
        if config.sensors is None and config.state != "estimated":
            return
        sensors, period = config.sensors or SensorsConfig(), config.control_period_s
        self._sensors = Sensors(sensors, plant, simulated, period, seeds)
        if config.state == "estimated":
            placement = imu_placement(robot, sensors.imu.body)
            assumed = config.estimator or EstimatorConfig()
            self.estimator = BaseEstimator(robot, assumed, sensors, placement, period)

    @property
    def wrenches(self) -> Array:
        """Wrenches of the contacts (k, 6) as they were last measured, noisy and old if it is so."""
        return self._plant.contact_wrenches if self._reading is None else self._reading.wrenches

    def see(
        self, q: Array, v: Array, t: float, bearing: Array | None = None
    ) -> tuple[Array, Array]:
        """Configuration and velocity as the law sees them at time ``t`` in s.

        Contacts with ``bearing`` (k,) zero are meant to be off the ground.
        """
        if self._sensors is not None:
            q, v = self._measured(self._sensors, q, v, bearing)
        if self._blind and any(begin - 1e-9 <= t < end - 1e-9 for begin, end in self._blind):
            return np.full_like(q, np.nan), np.full_like(v, np.nan)
        return q, v

    def _measured(
        self, sensors: Sensors, q: Array, v: Array, bearing: Array | None
    ) -> tuple[Array, Array]:
        reading = self._reading = sensors.read(q, v)
        pose, velocity = reading.base_pose, reading.base_velocity
        if self.estimator is not None:
            pose, velocity = self.estimator.update(
                reading.joints, reading.gyro, reading.accel, reading.wrenches, bearing
            )
            self._states.append(np.concatenate([pose, velocity, q[:7], v[:6]]))
            self._spreads.append(self.estimator.spread())
            if len(self._states) == CHUNK_ROWS:
                self._judge()
        seen_q = np.concatenate([pose, reading.joints])
        return seen_q, np.concatenate([velocity, reading.joint_velocities])

    def estimation(self, rows: int) -> Array | None:
        """Errors and standard deviations of the estimate in the first ``rows`` periods (rows, 18).

        Position m, rotation rad and velocity m/s, first the errors, then the filter's own standard
        deviations; world axes.  None without an estimate.
        """
        if self.estimator is None:
            return None
        self._judge()
        return np.concatenate([np.zeros((0, 18)), *self._judged])[:rows]

    def forget(self) -> None:
        """Drop the errors of the estimate so far, of a run that nobody records."""
        self._states, self._spreads, self._judged = [], [], []

    def _judge(self) -> None:
        """Turn the latest states into errors, which take less room."""
        if self._states:
            states = np.array(self._states)
            errors = base_errors(states[:, :13], states[:, 13:])
            stds = plain_stds(np.array(self._spreads))
            self._judged.append(np.concatenate([errors, stds], axis=1))
            self._states, self._spreads = [], []
