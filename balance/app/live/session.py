"""A session: an experiment that is pushed by hand while it runs, and can be repeated exactly.

A push or a change of gains becomes an item of the experiment's configuration with the time at which
the next control period begins.  Before that time such an item has no effect, so the configuration
at the end, simulated from the start, goes through the very same states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from balance.config import ExperimentConfig, GainChangeConfig, GainsConfig, PushConfig
from balance.config.sections import push_config
from balance.control import Controller, make_controller
from balance.control.parts.gain_schedule import GainSchedule
from balance.errors import ConfigError
from balance.experiment import LYING_S, Experiment
from balance.recordings.log import Log
from balance.recordings.metrics import ankle_limit
from balance.recordings.verdict import HOLD_S
from balance.robots import Robot
from balance.simulation.pushes import make_pushes

MAX_SESSION_S = 300.0
BLEND_S = 0.25
REHEARSAL_S, REHEARSED = 0.8, 1.0  # length, and size of its pushes over the ankle limit


def session_config(config: ExperimentConfig) -> ExperimentConfig:
    """``config`` without pushes, and long enough to play with."""
    law = config.controller.model_copy(update={"gain_changes": ()})
    return config.model_copy(
        update={
            "duration_s": MAX_SESSION_S,
            "stop_after_fall_s": LYING_S,
            "pushes": (),
            "controller": law,
            "reference": None,
            "provenance": None,
        }
    )


def check_one_stance(config: ExperimentConfig) -> None:
    """Refuse a sequence of stances, which nobody can push on and change the gains of yet."""
    if config.phases:
        raise ConfigError(
            "an experiment with phases is no session: see it with 'balance run' and 'balance "
            "replay', or give the live page a config with one stance"
        )


class Session:
    """One experiment from its start at rest; ``config`` always repeats what happened so far."""

    def __init__(self, config: ExperimentConfig, robot_folders: Sequence[Path] = ()) -> None:
        check_one_stance(config)
        self.config = session_config(config)
        self._gains: GainSchedule
        self.experiment = Experiment(self.config, robot_folders, make_law=self._make_law)
        self._pending: GainsConfig | dict[str, float] | None = None
        self._settled_at = 0.0

    def _make_law(self, config: ExperimentConfig, robot: Robot) -> Controller:
        """The law as the experiment would make it, under gains that can be changed."""
        self._gains = GainSchedule(config, robot, make_controller)
        return self._gains

    def advance(self, log: Log) -> bool:
        """Simulate one control period into ``log``; whether the session is over."""
        now = self._now(log)
        if self._pending is not None and now >= self._settled_at:
            self._begin_change(now)
        return self.experiment.advance(log) or log.rows >= self.config.n_periods

    def push(self, item: PushConfig, log: Log) -> None:
        """Push from the next control period on."""
        item = item.model_copy(update={"time_s": self._now(log)})
        alone = self.config.model_copy(update={"pushes": (item,)})
        self.experiment.pushes += make_pushes(alone, self.experiment.robot)
        self.config = self.config.model_copy(update={"pushes": (*self.config.pushes, item)})

    def change_gains(self, gains: GainsConfig) -> None:
        """Use other gains from the next control period on, or once the last change is complete."""
        self._pending = gains

    def change_keys(self, keys: Mapping[str, float]) -> None:
        """Use other values of the law's own keys, likewise; ones that it refuses are an error."""
        waiting = self._pending if isinstance(self._pending, dict) else {}
        wanted = {**waiting, **keys}
        self._gains.check(GainChangeConfig(time_s=0.0, set=wanted))
        self._pending = wanted

    def _now(self, log: Log) -> float:
        # The product that marks the beginning of a simulation step, to the last bit: otherwise a
        # push might begin a rounding error before it, and the repetition would feel it.
        return log.rows * self.config.n_substeps * self.config.plant.step_s

    def _begin_change(self, now: float) -> None:
        assert self._pending is not None
        if isinstance(self._pending, dict):
            change = GainChangeConfig(time_s=now, blend_s=BLEND_S, set=self._pending)
        else:
            change = GainChangeConfig(time_s=now, blend_s=BLEND_S, gains=self._pending)
        self._pending = None
        # One period more than the blend, so that no rounding makes two of them overlap.
        self._settled_at = now + BLEND_S + self.config.control_period_s
        self._gains.add(change)
        law = self.config.controller
        law = law.model_copy(update={"gain_changes": (*law.gain_changes, change)})
        self.config = self.config.model_copy(update={"controller": law})


def rehearse(config: ExperimentConfig, robot_folders: Sequence[Path] = ()) -> None:
    """Go through two hard pushes, and forget them.

    What a law first needs then is loaded or compiled, which takes longer than a control period.
    What goes wrong is for the session itself to tell.
    """
    with suppress(Exception):
        session = Session(config, robot_folders)
        robot, periods = session.experiment.robot, round(REHEARSAL_S / config.control_period_s)
        log = Log(session.config.model_copy(update={"duration_s": REHEARSAL_S}), robot)
        for begin, side in ((0, (0.0, 1.0, 0.0)), (periods // 2, (1.0, 0.0, 0.0))):
            impulse = REHEARSED * ankle_limit(robot, np.array(side))
            session.push(_half_sine(impulse, side), log)
            while log.rows < begin + periods // 2 and not session.advance(log):
                pass


def _half_sine(impulse: float, side: tuple[float, float, float]) -> PushConfig:
    return push_config(
        type="half_sine", impulse_Ns=impulse, duration_s=0.02, direction=side, time_s=0.0
    )


def repeatable(config: ExperimentConfig, rows: int) -> ExperimentConfig:
    """The configuration of a session's first ``rows`` control periods.

    What was done by hand after the end is left out.  A push is let run out, with the time in which
    it can be judged; what the file itself plans stays, and gets the time that the schema asks for.
    """
    period, law = config.control_period_s, config.controller
    before = (rows - 0.5) * period  # rounding aside
    pushes = tuple(item for item in config.pushes if item.time_s < before)
    changes = tuple(change for change in law.gain_changes if change.time_s < before)
    ends = [rows * period, HOLD_S]
    judged = HOLD_S + period  # rounding aside
    ends += [item.time_s + getattr(item, "duration_s", 0.0) + judged for item in pushes]
    # Without its moves the ground would be another one: MuJoCo knows no plane that can move.
    ends += [move.start_s + period for move in (config.ground.motion if config.ground else ())]
    ends += [config.sensors.delay_s + period] if config.sensors else []
    law = law.model_copy(update={"gain_changes": changes})
    return config.model_copy(update={"duration_s": max(ends), "pushes": pushes, "controller": law})
