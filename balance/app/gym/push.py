"""A robot that is pushed, as Gymnasium's environment: the loop of an experiment, a policy outside.

The YAML file is that of an experiment.  Whatever it draws from ranges, pushes and imperfections, is
drawn anew for every episode.  Observation and action are those of ``law: policy``: what is learned
here runs there, with the same keys and a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from balance.app.gym.reward import Reward, RewardConfig
from balance.config import ExperimentConfig, load_config
from balance.config.schema import validate
from balance.control.parts.fallback import NUMERICAL
from balance.control.policy import NO_NETWORK, PolicyController
from balance.errors import InputError
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.recordings.recording import Recording
from balance.recordings.verdict import Cause, EndKind, aborted
from balance.robots import Robot

Array = NDArray[np.float64]
Seen = NDArray[np.float32]

LAW: dict[str, Any] = {
    "law": "policy",
    "network": NO_NETWORK,
    "feedforward": True,
    "act": {"scale": 0.2, "clip": 1.0},
}
"""The controller in place of one that is no policy: offsets from the posture that it holds."""
MAX_SEED = 2**31


class PushEnvironment(gymnasium.Env[Seen, Seen]):
    """One episode is one experiment; one step is one period of the policy.

    An episode ends with a fall, and is cut off at ``duration_s``.  The reward is that of
    :class:`Reward`; ``info`` has the time, and at the end what became of the robot.
    """

    metadata = {"render_modes": []}  # noqa: RUF012  as Gymnasium has it

    def __init__(
        self,
        config: str | Path | Mapping[str, Any] = "toro_push",
        overrides: Mapping[str, Any] | None = None,
        reward: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """``config`` is what :func:`balance.load_config` takes, ``reward`` keys of RewardConfig."""
        if render_mode is not None:
            raise InputError(
                f"render_mode = '{render_mode}': the environment draws nothing; leave it out, and "
                "draw what recording() gives"
            )
        if isinstance(config, ExperimentConfig):
            raise InputError(
                "a config that is loaded has its ranges drawn already, once and for all; give the "
                "file's path, its name, or a mapping"
            )
        self._source = config
        self._changes = dict(overrides or {})
        first = load_config(config, self._changes)
        if first.controller.law != "policy":
            self._changes["controller"] = LAW
        self._weights = validate(RewardConfig, dict(reward or {}), "reward")
        self._action: Array = np.zeros(0)
        self._begin(first.seed)
        law = self.law
        size = (law.observation.size,)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, size, np.float32)
        most = law.largest_action
        self.action_space = gymnasium.spaces.Box(-most, most, (len(law.joints),), np.float32)

    def _begin(self, seed: int) -> None:
        config = load_config(self._source, {**self._changes, "seed": seed})
        self.experiment = Experiment(config, make_law=self._make_law)
        self._log = Log(config, self.experiment.robot)
        self._ended = False
        self._reward = Reward(self._weights, self.experiment, self.law)

    def _make_law(self, config: ExperimentConfig, robot: Robot) -> PolicyController:
        self.law = PolicyController(config, robot, lambda observation: self._action)
        self._action = np.zeros(len(self.law.joints))
        return self.law

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode; its draws follow from ``seed`` and the number of resets since."""
        super().reset(seed=seed)
        self._begin(int(self.np_random.integers(MAX_SEED)))
        self._observation = np.zeros(self.observation_space.shape or (), np.float32)
        return self._observe(), {"seed": self.experiment.config.seed}

    def _observe(self) -> Seen:
        """What the policy sees next; of a robot that sees nothing, what it saw last."""
        seen = self.experiment.look(self._log)
        if np.isfinite(seen[0]).all() and np.isfinite(seen[1]).all():
            now = self._log.rows * self.experiment.config.control_period_s
            self._observation = self.law.observe(*seen, now).astype(np.float32)
        return self._observation

    def step(self, action: Seen) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Simulate a period of the policy under an action."""
        if self._ended:
            raise InputError("the episode has ended; call reset()")
        self._action = np.array(action, dtype=float)
        experiment, log = self.experiment, self._log
        try:
            for _ in range(self.law.decimation):
                self._ended = experiment.advance(log) or experiment.end.kind is EndKind.FELL
                if self._ended or log.rows == experiment.config.n_periods:
                    break
        except NUMERICAL as error:
            experiment.end = aborted(Cause.ERROR, str(error))
            self._ended = True
        terminated, truncated = self._ended, log.rows == experiment.config.n_periods
        info: dict[str, Any] = {"time_s": log.rows * experiment.config.control_period_s}
        if terminated:
            info["end"] = str(experiment.end)
        self._ended = terminated or truncated
        reward = self._reward(log, terminated)
        if not self._ended:
            self._observe()
        return self._observation, reward, terminated, truncated and not terminated, info

    def recording(self) -> Recording:
        """The episode so far, as ``balance.run`` would give it: verdict, plots, export."""
        return self.experiment.recording(self._log, self.experiment.end, np.nan)
