"""Touches of bodies: written into the rows of the log, and read from there as spans of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import balance
from balance.recordings.judging import judge
from balance.recordings.log import Log
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording, save_recording
from balance.recordings.signals import MOST_TOUCHES
from balance.recordings.touches import RATTLE_S, TouchRow, touch_spans, touched_pairs
from balance.recordings.verdict import Cause
from balance.robots import Robot
from balance.simulation.plants.interface import Touch
from balance.simulation.world import FLOOR

DT = 0.001


def touch(
    force: float, body: str = "left_hand", other: str = "left_shank", depth: float = 0.0
) -> Touch:
    return Touch(body, other, np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, force]), depth)


def run(touches: Mapping[int, Sequence[Touch]]) -> Recording:
    """A short run in whose steps these touches are felt."""
    experiment = balance.Experiment(balance.load_config("toro_push", {"duration_s": 0.8}))
    log = Log(experiment.config, experiment.robot)
    for row in range(max(touches) + 1):
        experiment._touches.add(touches.get(row, ()))
        experiment.advance(log)
    return experiment.recording(log, experiment.end, 1.0)


def test_a_span_adds_up_the_points_and_the_steps_of_a_pair() -> None:
    recording = run({5: [touch(3.0, depth=0.001), touch(4.0, depth=0.002)], 6: [touch(5.0)]})
    (span,) = touch_spans(recording)
    assert (span.body, span.other) == ("left_hand", "left_shank")
    assert (span.start_s, span.end_s) == pytest.approx((0.005, 0.007))
    assert span.impulse_Ns == pytest.approx(12.0 * DT)
    assert (span.largest_N, span.depth_m) == pytest.approx((7.0, 0.002))
    assert recording.touches[5, 0, 2:5] == pytest.approx([0.1, 0.2, 0.3])
    assert not recording.touches[4].any() and not recording.touches[7:].any()


@pytest.mark.parametrize(("pause", "count"), [(0.5 * RATTLE_S, 1), (2.0 * RATTLE_S, 2)])
def test_a_pair_that_parts_for_long_touches_twice(pause: float, count: int) -> None:
    recording = run({0: [touch(1.0)], round(pause / DT): [touch(1.0)]})
    assert len(touch_spans(recording)) == count
    (pair,) = touched_pairs(recording)
    assert pair["impulse_Ns"] == pytest.approx(2.0 * DT) and pair["start_s"] == 0.0


def test_the_strongest_touches_are_kept(toro: Robot) -> None:
    bodies = [frame.name for frame in toro.model.frames if frame.name.startswith("left_")]
    bodies = [name for name in bodies if toro.model.existBodyName(name)][: MOST_TOUCHES + 2]
    row, out = TouchRow(toro, None, 2), np.zeros((MOST_TOUCHES, 9))
    row.add([touch(float(size), name, FLOOR) for size, name in enumerate(bodies)])
    row.write(out)
    assert out[:, 7] == pytest.approx(0.5 * np.arange(len(bodies) - 1, 1, -1))  # of two steps
    assert (out[:, 1] == -1.0).all()
    row.write(out := np.zeros_like(out))
    assert not out.any()


def test_touches_are_kept_in_the_log(tmp_path: Path) -> None:
    recording = run({5: [touch(3.0), touch(1.0, "right_hand", FLOOR)]})
    again = load_recording(save_recording(recording, tmp_path / "run"))
    assert touch_spans(again) == touch_spans(recording)
    assert {span.other for span in touch_spans(again)} == {"left_shank", FLOOR}


@pytest.mark.parametrize(("body", "falls"), [("left_hand", True), ("left_foot", False)])
def test_what_carries_no_sole_may_not_touch_the_floor(body: str, falls: bool) -> None:
    verdict = judge(run({10: [touch(1.0, body, FLOOR)]}))
    assert (verdict.cause is Cause.TOUCH) == falls
    if falls:
        assert verdict.text == "the body 'left_hand' touched the ground at 0.01 s"
