"""How long a run must last to be judged, and when its verdict cannot change any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import ExperimentConfig
from balance.config.faults import SensorDropoutConfig
from balance.config.ground import RampConfig
from balance.control.parts.setpoints import Path as SetpointSource
from balance.errors import ConfigError
from balance.recordings.verdict import (
    AT_STOP_RAD,
    HOLD_S,
    LONGEST_WAIT_S,
    MAX_COM_ERROR_M,
    MAX_ROTATION_RAD,
)
from balance.robots import Robot

Array = NDArray[np.float64]

QUIET_S = 1.0  # for which a robot must be quiet before a run ends early
LOOK_S = 0.05  # between two looks at it
QUIET_SPEED = 0.05  # m/s of the CoM and the base, rad/s of the base and the joints
SHARE = 0.5  # of the bounds of a verdict that must do


@dataclass(frozen=True)
class UntilSettled:
    """Let a run go on until its verdict cannot change, for at least ``at_least_s``.

    At most it lasts until :func:`longest_run_s`, whatever the configured duration.
    """

    at_least_s: float = 0.0


def last_push_end_s(config: ExperimentConfig) -> float:
    """When the last push is over, s; 0 without one."""
    ends = (push.time_s + getattr(push, "duration_s", 0.0) for push in config.pushes)
    return max(ends, default=0.0)


def check_time_to_judge(config: ExperimentConfig) -> None:
    """Refuse a run that ends before anybody could say whether the robot stands still."""
    end, last = config.n_periods * config.control_period_s, last_push_end_s(config)
    if min(end, config.duration_s) - last < HOLD_S - 1e-9:
        after = f"{max(config.duration_s - last, 0.0):g} s after the last push"
        when = after if config.pushes else "before there is anything to see"
        raise ConfigError(
            f"duration_s = {config.duration_s:g}: the run ends {when}; a verdict needs {HOLD_S:g} "
            f"s of standing, so make duration_s at least {last + HOLD_S:g}"
        )


def last_event_s(config: ExperimentConfig) -> float:
    """When the last thing that is planned to happen to the robot is over, s."""
    return max(last_push_end_s(config), *_other_events(config))


def _other_events(config: ExperimentConfig) -> Iterator[float]:
    yield 0.0
    if config.pendulum is not None:
        yield config.pendulum.end_s
    for move in config.controller.setpoints:
        yield move.time_s + move.duration_s
    for change in config.controller.gain_changes:
        yield change.time_s + change.blend_s
    for fault in config.faults:
        yield fault.time_s + (fault.duration_s if isinstance(fault, SensorDropoutConfig) else 0.0)
    for motion in () if config.ground is None else config.ground.motion:
        if isinstance(motion, RampConfig):
            yield motion.start_s + motion.duration_s
        else:
            yield motion.start_s + motion.cycles / motion.frequency_hz


def longest_run_s(config: ExperimentConfig, until: UntilSettled) -> float:
    """How long a run lasts at most that goes on until its verdict is settled, s."""
    return max(until.at_least_s, last_event_s(config) + LONGEST_WAIT_S)


class Quiet:
    """Watches a robot come to rest.

    It is at rest for good when for a second nothing moved faster than ``QUIET_SPEED``, the second
    half of that second was no faster than the first, errors are within half their bounds, and at
    the speed that it has, neither an error nor a joint would reach its bound before the run's
    longest end.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        robot: Robot,
        path: SetpointSource,
        until: UntilSettled,
    ) -> None:
        self._path = path
        self._model, self._data = robot.model, robot.model.createData()
        self._period = config.control_period_s
        self._from = max(until.at_least_s, last_event_s(config) + QUIET_S)
        self._end = config.n_periods * self._period
        self._every = max(1, round(LOOK_S / self._period))
        self._window = max(2, round(QUIET_S / self._period))
        # A joint that rests on a stop from the beginning may stay there.
        nominal, model = robot.q_nominal[7:], robot.model
        lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
        self._lower = np.where(nominal <= lower + AT_STOP_RAD, -np.inf, lower + AT_STOP_RAD)
        self._upper = np.where(nominal >= upper - AT_STOP_RAD, np.inf, upper - AT_STOP_RAD)

    def seen(self, rows: int, q: Array, v: Array) -> bool:
        """Whether the last of the recorded ``rows`` of states ``q``, ``v`` end a quiet second."""
        now = rows * self._period
        if rows % self._every or now < self._from or rows < self._window:
            return False
        recent = np.abs(v[rows - self._window : rows])
        half = self._window // 2
        if recent.max() > QUIET_SPEED or recent[half:].max() > recent[:half].max():
            return False
        return self._stays(q[rows - 1], v[rows - 1], recent[half:].max(axis=0), now)

    def _stays(self, q: Array, v: Array, speed: Array, now: float) -> bool:
        """Whether errors and joints keep off their bounds until the end at such speeds (nv,)."""
        left = self._end - now
        desired = self._path.at(now)
        com = pin.centerOfMass(self._model, self._data, q, v)
        com_way = left * float(np.linalg.norm(self._data.vcom[0]))
        com_error = float(np.linalg.norm(com - desired.com))
        rotation = pin.Quaternion(q[3:7]).matrix()
        rotation_error = float(np.linalg.norm(pin.log3(desired.rotation.T @ rotation)))
        way = left * speed
        return bool(
            com_error < SHARE * MAX_COM_ERROR_M
            and rotation_error < SHARE * MAX_ROTATION_RAD
            and com_error + com_way < MAX_COM_ERROR_M
            and rotation_error + float(np.linalg.norm(way[3:6])) < MAX_ROTATION_RAD
            and (q[7:] - way[6:] > self._lower).all()
            and (q[7:] + way[6:] < self._upper).all()
        )
