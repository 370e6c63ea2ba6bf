"""How long a run must last to be judged, and at most until its verdict is settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from balance.config import ExperimentConfig
from balance.config.faults import SensorDropoutConfig
from balance.config.ground import RampConfig
from balance.errors import ConfigError
from balance.recordings.verdict import HOLD_S, LONGEST_WAIT_S


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
