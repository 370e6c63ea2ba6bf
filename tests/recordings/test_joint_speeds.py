"""Joints faster than rated: whose doing it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from balance.config import load_config
from balance.experiment import run
from balance.recordings.joint_speeds import AFTER_HIT_S
from balance.recordings.recording import Recording

PUSH = {"type": "half_sine", "direction": [0, 1, 0], "time_s": 0.1, "impulse_Ns": 1.0}
HIT = slice(105, 130)  # begins in the push, which ends at 0.12 s, and goes on for longer
END = 0.12


@pytest.fixture(scope="module")
def nudged() -> Recording:
    return run(
        load_config("toro_push", {"duration_s": 0.4, "pushes": [{**PUSH, "duration_s": 0.02}]})
    )


def moved(recording: Recording, *bursts: tuple[str, slice, float]) -> Recording:
    """Standing still but for joints that move for some rows at a multiple of their rated speed."""
    v = np.zeros_like(recording.v)
    for name, rows, ratio in bursts:
        joint = recording.robot.joint_names.index(name)
        v[rows, 6 + joint] = -ratio * recording.robot.rated_speeds[joint]
    return replace(recording, v=v)


def ratios(recording: Recording) -> tuple[float, float | None]:
    summary = recording.summary()
    split = summary["max_driven_speed_ratio"], summary["max_hit_speed_ratio"]
    assert summary["max_joint_speed_ratio"] == max(x for x in split if x is not None)
    return split


def test_an_excursion_that_a_push_began_is_the_hits_until_it_ends(nudged: Recording) -> None:
    assert ratios(moved(nudged, ("left_knee", HIT, 3.0))) == pytest.approx((0.0, 3.0))


def test_what_begins_later_or_before_is_driven(nudged: Recording) -> None:
    last = round((END + AFTER_HIT_S) / 1e-3)
    for first, by_hit in ((99, False), (100, False), (101, True), (last, True), (last + 1, False)):
        burst = moved(nudged, ("left_knee", slice(first, 200), 1.5))
        assert ratios(burst) == pytest.approx((0.0, 1.5) if by_hit else (1.5, None)), first


def test_a_joint_that_got_slow_in_between_is_driven_afterwards(nudged: Recording) -> None:
    knee = "left_knee"
    twice = moved(nudged, (knee, HIT, 3.0), (knee, slice(150, 200), 1.1))
    assert ratios(twice) == pytest.approx((1.1, 3.0))


def test_joints_are_told_apart(nudged: Recording) -> None:
    two = moved(nudged, ("left_knee", HIT, 3.0), ("right_knee", slice(90, 200), 1.4))
    assert ratios(two) == pytest.approx((1.4, 3.0))
    assert two.summary()["fastest_joint"] == "left_knee"


def test_speeds_up_to_the_rated_one_are_driven_in_a_push_too(nudged: Recording) -> None:
    assert ratios(moved(nudged, ("left_knee", HIT, 0.9))) == pytest.approx((0.9, None))
