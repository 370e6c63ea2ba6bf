"""Gains that change during a run."""

from __future__ import annotations

import numpy as np
import pytest

import balance
from balance.config import ExperimentConfig
from balance.control import make_controller
from balance.errors import ConfigError
from balance.robots import Robot

SOFT = {"K_P": [3000, 1000, 2000], "K_D": [4, 4, 1], "K_R": [300, 200, 80], "D": [10, 10, 2]}


def changing(*changes: dict[str, object], **overrides: object) -> ExperimentConfig:
    return balance.load_config("toro_push", {"controller.gain_changes": list(changes), **overrides})


def swaying(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """A state away from the desired one, where gains matter."""
    q, v = robot.q_nominal.copy(), np.zeros(robot.model.nv)
    q[1] += 0.02
    v[1], v[3] = 0.1, 0.2
    return q, v


def test_before_and_after_a_change_the_law_is_the_plain_one(toro: Robot) -> None:
    q, v = swaying(toro)
    schedule = make_controller(changing({"time_s": 1.0, "blend_s": 0.2, "gains": SOFT}), toro)
    old = make_controller(balance.load_config("toro_push"), toro)
    new = make_controller(balance.load_config("toro_push", {"controller.gains": SOFT}), toro)
    assert np.array_equal(schedule.step(q, v, 0.5).torques, old.step(q, v, 0.5).torques)
    schedule.step(q, v, 1.0)
    schedule.step(q, v, 1.2)  # complete
    assert np.array_equal(schedule.step(q, v, 1.3).torques, new.step(q, v, 1.3).torques)


def test_a_change_begins_without_a_jump_and_reaches_the_new_torques(toro: Robot) -> None:
    q, v = swaying(toro)
    schedule = make_controller(changing({"time_s": 0.0, "blend_s": 0.2, "gains": SOFT}), toro)
    times = np.linspace(0.0, 0.2, 201)
    torques = np.array([schedule.step(q, v, float(t)).torques for t in times])
    whole = np.abs(torques[-1] - torques[0]).max()
    assert whole > 1.0  # N m: here the gains matter
    # A cubic is at most 1.5 times as steep as a straight line.
    assert np.abs(np.diff(torques, axis=0)).max() <= 1.5 * whole / 200 * (1 + 1e-9)
    old = make_controller(balance.load_config("toro_push"), toro)
    assert np.array_equal(torques[0], old.step(q, v, 0.0).torques)


def test_changes_that_overlap_are_refused() -> None:
    change = {"time_s": 1.0, "blend_s": 0.5, "gains": SOFT}
    with pytest.raises(ConfigError, match=r"before the one at 1\.0 is complete, at 1\.5 s"):
        changing(change, {**change, "time_s": 1.4})
