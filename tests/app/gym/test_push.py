"""The environment is Gymnasium's, seeded, and runs the loop of an experiment and no other."""

from __future__ import annotations

import tomllib
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

from balance.app.gym import NAME, register_environments
from balance.app.gym.push import LAW, PushEnvironment
from balance.config import load_config
from balance.control.policy import PolicyController
from balance.errors import BalanceError
from balance.experiment import Experiment

QUICK = {"duration_s": 0.4, "control_period_s": 0.002, "plant.step_s": 0.002, "reference": None}
PUSH = {
    "type": "half_sine",
    "impulse_Ns": {"uniform": [2.0, 12.0]},
    "direction": [0, 1, 0],
    "time_s": 0.02,
    "duration_s": 0.05,
}
DRAWN = QUICK | {"pushes": [PUSH], "mismatch": {"mass_scale": {"uniform": [0.9, 1.1]}}}


def environment(config: Any = "toro_push", **keys: Any) -> PushEnvironment:
    return PushEnvironment(config, DRAWN, **keys)


def episode(one: PushEnvironment, seed: int | None) -> tuple[NDArray[np.float32], float]:
    """What is seen in an episode of actions that follow from the seed, and its worth."""
    rng = np.random.default_rng(5)
    seen, _ = one.reset(seed=seed)
    every, total, over = [seen], 0.0, False
    while not over:
        seen, reward, terminated, truncated, _ = one.step(
            0.1 * rng.standard_normal(one.action_space.shape).astype(np.float32)
        )
        every.append(seen)
        total, over = total + reward, terminated or truncated
    return np.array(every), total


@pytest.mark.parametrize("config", ["toro_push", "g1_push", "toro_imperfect"])
def test_the_checker_of_gymnasium_is_content(config: str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=UserWarning)
        warnings.filterwarnings("ignore", message=".*infinity.*")  # a speed has no bound
        check_env(environment(config), skip_render_check=True)


def test_an_episode_is_repeated_by_its_seed_and_differs_by_another() -> None:
    one, other = environment(), environment()
    seen, worth = episode(one, 3)
    again, worth_again = episode(other, 3)
    np.testing.assert_array_equal(seen, again)
    assert worth == worth_again
    assert not np.array_equal(seen, episode(other, None)[0])
    np.testing.assert_array_equal(episode(one, 3)[0], seen)


def test_every_episode_draws_its_push_and_imperfections() -> None:
    one = environment()
    drawn = []
    for _ in range(3):
        one.reset()
        config = one.experiment.config
        assert config.mismatch is not None
        drawn.append((config.pushes[0].impulse_Ns, config.mismatch.mass_scale))
    assert len({push for push, _ in drawn}) == len({mass for _, mass in drawn}) == 3
    assert all(2.0 <= push <= 12.0 and 0.9 <= mass <= 1.1 for push, mass in drawn)


def test_an_episode_is_the_run_of_the_same_policy_as_a_law() -> None:
    """Bit for bit, so that what is learnt here is what runs there."""
    one = environment("toro_imperfect")

    def act(seen: Any) -> Any:
        return 0.2 * np.tanh(np.asarray(seen, np.float32)[:27])

    seen, _ = one.reset(seed=1)
    over = False
    while not over:
        seen, _, terminated, truncated, _ = one.step(act(seen))
        over = terminated or truncated
    config = one.experiment.config
    law = Experiment(config, make_law=lambda c, r: PolicyController(c, r, act)).run()
    recording = one.recording()
    np.testing.assert_array_equal(recording.q, law.q)
    np.testing.assert_array_equal(recording.torques, law.torques)
    assert recording.summary()["outcome"] == law.summary()["outcome"]


def test_a_fall_ends_an_episode() -> None:
    hard = DRAWN | {"pushes.0.impulse_Ns": 60.0, "duration_s": 2.0}
    one = PushEnvironment("toro_push", hard)
    one.reset(seed=0)
    zero, over, rewards = np.zeros(27, np.float32), False, []
    while not over:
        _, reward, over, truncated, info = one.step(zero)
        rewards.append(reward)
        assert not truncated
    assert info["end"].startswith("fell at")
    assert info["time_s"] < 2.0
    assert rewards[-1] < -4.0 < rewards[0]
    with pytest.raises(BalanceError, match="the episode has ended; call reset"):
        one.step(zero)


def test_standing_still_earns_its_seconds() -> None:
    quiet = DRAWN | {"pushes": [], "mismatch": None}
    one = PushEnvironment("toro_push", quiet, reward={"effort": 0.0})
    assert episode_at_rest(one) == pytest.approx(0.4, abs=1e-4)
    less = PushEnvironment("toro_push", quiet, reward={"effort": 0.0, "standing": 0.5})
    assert episode_at_rest(less) == pytest.approx(0.2, abs=1e-4)


def episode_at_rest(one: PushEnvironment) -> float:
    one.reset(seed=0)
    total, over = 0.0, False
    while not over:
        _, reward, _, over, _ = one.step(np.zeros(27, np.float32))
        total += reward
    return total


def test_a_policy_in_the_file_says_what_is_seen_and_moved() -> None:
    section = {
        "law": "policy",
        "network": "none",
        "joints": ["left_knee", "right_knee"],
        "observe": ["gravity", "last_action"],
        "period_s": 0.01,
        "act": {"clip": 3.0},
    }
    one = PushEnvironment("toro_push", DRAWN | {"controller": section})
    assert one.observation_space.shape == (5,)
    assert one.action_space == gymnasium.spaces.Box(-3.0, 3.0, (2,), np.float32)
    one.reset(seed=0)
    seen, *_ = one.step(np.array([0.1, -0.2], np.float32))
    np.testing.assert_array_equal(seen[3:], np.array([0.1, -0.2], np.float32))


def test_while_nothing_is_seen_the_last_sight_stays() -> None:
    blind = {"faults": [{"type": "sensor_dropout", "time_s": 0.1, "duration_s": 0.1}]}
    one = PushEnvironment("toro_push", DRAWN | blind)
    seen, _ = episode(one, 0)
    assert np.isfinite(seen).all()
    assert sum(np.array_equal(a, b) for a, b in pairwise(seen)) >= 4


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"config": "toro_psh"}, "no file or shipped config 'toro_psh'"),
        ({"render_mode": "human"}, "render_mode = 'human': the environment draws nothing"),
        ({"reward": {"stand": 1.0}}, "reward: unknown key 'stand'"),
        ({"config": load_config("toro_push")}, "a config that is loaded has its ranges drawn"),
    ],
)
def test_what_is_wrong_is_one_sentence(keys: dict[str, Any], told: str) -> None:
    with pytest.raises(BalanceError, match=told) as caught:
        PushEnvironment(**keys)
    assert "\n" not in str(caught.value)


def test_gymnasium_finds_it_by_its_name() -> None:
    register_environments()  # a second time is no matter
    made = gymnasium.make(NAME, config="toro_push", overrides=DRAWN)
    assert isinstance(made.unwrapped, PushEnvironment)
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    [(namespace, function)] = project["entry-points"]["gymnasium.envs"].items()
    assert NAME.startswith(f"{namespace}/")
    assert function == f"{register_environments.__module__}:{register_environments.__name__}"


def test_the_policy_in_place_of_another_law_holds_the_robot() -> None:
    """With no action at all: a beginner's policy has something to stand on."""
    keys = DRAWN | {"controller": LAW, "pushes.0.impulse_Ns": 8.0, "duration_s": 3.0}
    one = PushEnvironment("toro_push", keys)
    one.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, _ = one.step(np.zeros(27, np.float32))
        over = terminated or truncated
    assert one.recording().summary()["outcome"] == "recovered"
