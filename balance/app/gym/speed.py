"""How fast the environment is against the plain loop of the same policy."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from balance.analysis.bench.report import Figure
from balance.app.gym.push import PushEnvironment
from balance.config import ExperimentConfig
from balance.control.policy import PolicyController
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.robots import Robot

EXPERIMENT = "toro_push"
LEAST_SHARE = 0.9
SEED = 1


def gym_figures(seconds: float, rounds: int) -> Iterator[Figure]:
    """Speed of an episode over that of the run it is, both from the file on; best of rounds.

    They are timed in turn, by CPU time: a busy machine slows them alike.
    """
    environment = PushEnvironment(EXPERIMENT, {"duration_s": seconds, "reference": None})
    times = {"environment": np.inf, "loop": np.inf}
    for _ in range(rounds):
        began = time.process_time()
        _episode(environment)
        times["environment"] = min(times["environment"], time.process_time() - began)
        began = time.process_time()
        _plain(environment.experiment.config)
        times["loop"] = min(times["loop"], time.process_time() - began)
    speed = seconds / times["environment"]
    yield Figure("Gymnasium environment, pinocchio", speed, "x real time")
    share = times["loop"] / times["environment"]
    yield Figure(
        "Gymnasium environment over the plain loop", share, "1", LEAST_SHARE, at_least=True
    )


def _episode(environment: PushEnvironment) -> None:
    environment.reset(seed=SEED)
    action, over = np.zeros(environment.action_space.shape or (), np.float32), False
    while not over:
        _, _, terminated, truncated, _ = environment.step(action)
        over = terminated or truncated


def _plain(config: ExperimentConfig) -> None:
    def idle(config: ExperimentConfig, robot: Robot) -> PolicyController:
        zero = np.zeros(len(robot.joint_names))
        return PolicyController(config, robot, lambda observation: zero)

    experiment = Experiment(config, make_law=idle)
    log = Log(config, experiment.robot)
    while log.rows < config.n_periods and not experiment.advance(log):
        pass
