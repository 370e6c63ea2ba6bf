"""What an episode is worth: to stand, near the setpoint, upright, with little torque."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive
from balance.control.policy import PolicyController
from balance.experiment import Experiment
from balance.recordings.log import Log


class RewardConfig(Strict):
    """Weights of the reward."""

    standing: NonNegative = 1.0
    """For every second on its feet [1/s]."""
    com: NonNegative = 1.0
    """Against a CoM off its setpoint by `com_m`, for every second; goes with the square [1/s]."""
    com_m: Positive = 0.05
    """Distance of the CoM that costs `com`."""
    rotation: NonNegative = 0.5
    """Against a base turned by `rotation_rad`, for every second; goes with the square [1/s]."""
    rotation_rad: Positive = 0.2
    """Rotation of the base that costs `rotation`."""
    effort: NonNegative = 0.1
    """Against all joints at their torque limit, for every second; goes with the square [1/s]."""
    action: NonNegative = 0.0
    """Against actions that change by one, for every second; goes with the square [1/s]."""
    fall: NonNegative = 5.0
    """Against a fall, once [-]."""


class Reward:
    """The reward of each step of an episode: so much for every second, by its last row."""

    def __init__(
        self, weights: RewardConfig, experiment: Experiment, law: PolicyController
    ) -> None:
        self._weights, self._experiment, self._law = weights, experiment, law
        robot = experiment.robot
        self._model, self._data = robot.model, robot.model.createData()
        self._limits = robot.effort_limits
        self._seconds = law.decimation * experiment.config.control_period_s
        self._action = np.zeros(len(law.joints))

    def __call__(self, log: Log, fell: bool) -> float:
        """The reward of the period that ends with the log's last row."""
        one, row = self._weights, log.rows - 1
        plant, wanted = self._experiment.plant, self._experiment.path.at(float(log.time[row]))
        if not np.isfinite(plant.q).all():
            return -one.fall
        away = pin.centerOfMass(self._model, self._data, plant.q) - wanted.com
        turned = pin.log3(wanted.rotation.T @ pin.Quaternion(plant.q[3:7]).matrix())
        shares = log.torques[row] / self._limits
        change = self._law.observation.last_action - self._action
        self._action = self._law.observation.last_action
        rate = (
            one.standing
            - one.com * float(away.dot(away)) / one.com_m**2
            - one.rotation * float(turned.dot(turned)) / one.rotation_rad**2
            - one.effort * float(np.mean(shares**2))
            - one.action * float(np.mean(change**2))
        )
        return rate * self._seconds - (one.fall if fell else 0.0)
