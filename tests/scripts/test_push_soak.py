"""The soak's own arithmetic: a drift is seen, chance is none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from lib.law_soak import CONFIG, at_azimuth, law_keys
from lib.push_soak import EVERY_S, LENGTH_S, MOST_ERRORS, drift, push_soak, share

import balance

N, NQ = 1200, 34  # pushes in an hour; coordinates of the TORO-like robot


def sway(seed: int) -> np.ndarray:
    """Means over each push of a robot that does not drift: every sway outlasts its push."""
    noise = np.random.default_rng(seed).standard_normal((N + 1, NQ))
    return noise[1:] + 0.5 * noise[:-1]


def test_chance_is_no_drift() -> None:
    for seed in range(20):
        moved, error = drift(sway(seed))
        assert (np.abs(moved) < MOST_ERRORS * error).all()


@pytest.mark.parametrize("moving", [np.linspace(0.0, 3.0, N), 0.8 * (np.arange(N) >= N // 2)])
def test_a_drift_and_a_jump_are_seen(moving: np.ndarray) -> None:
    postures = sway(0)
    postures[:, 5] += moving
    moved, error = drift(postures)
    assert np.flatnonzero(np.abs(moved) > MOST_ERRORS * error).tolist() == [5]


def test_a_push_delivers_its_impulse_within_its_length() -> None:
    edges = np.linspace(0.0, 3 * LENGTH_S, 61)
    parts = [share(a, b) for a, b in pairwise(edges)]
    assert sum(parts) == pytest.approx(1.0, abs=1e-12)
    assert max(parts[20:], key=abs) == 0.0


def test_the_same_seed_gives_the_same_states_and_another_does_not() -> None:
    first, again, other = (push_soak("toro_damped", EVERY_S, seed) for seed in (1, 1, 2))
    assert first.fell_at is None
    assert first.fingerprints == again.fingerprints != other.fingerprints


def test_a_law_is_pushed_below_its_limit_on_both_sides_of_an_azimuth() -> None:
    limits = [1.0, 0.4, 0.8, 0.6]
    assert at_azimuth(limits, 0.1) == 0.4
    assert at_azimuth(limits, 0.5 * np.pi + 0.1) == 0.4
    assert at_azimuth(limits, 2.0 * np.pi - 0.1) == 0.6


@pytest.mark.parametrize("law", ["momentum", "joint_pd"])
def test_a_law_is_soaked_through_sensors_and_estimate(law: str) -> None:
    config = balance.load_config(CONFIG, law_keys(law))
    assert config.state == "estimated" and config.sensors is not None
    assert config.plant.collisions == "all"
    assert config.controller.law == law
    found = push_soak(CONFIG, EVERY_S, 1, lambda angle: 0.3, law_keys(law))
    assert found.fell_at is None and 0.0 < found.pushes[0] < 0.3
