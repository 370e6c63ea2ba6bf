"""Touches of bodies: spans of time, put together step by step and kept in the log."""

from __future__ import annotations

import numpy as np
import pytest

import balance
from balance.recordings.judging import judge
from balance.recordings.log import Log
from balance.recordings.touches import (
    RATTLE_S,
    TouchBook,
    TouchSpan,
    spans_from,
    spans_text,
    touched_pairs,
)
from balance.recordings.verdict import Cause
from balance.simulation.plants.interface import Touch
from balance.simulation.world import FLOOR

DT = 0.001


def touch(force: float, body: str = "hand", other: str = "thigh", depth: float = 0.0) -> Touch:
    return Touch(body, other, np.zeros(3), np.array([0.0, 0.0, force]), depth)


def test_a_span_adds_up_the_points_and_the_steps_of_a_pair() -> None:
    book = TouchBook(DT)
    book.add(0.1, [touch(3.0, depth=0.001), touch(4.0, depth=0.002)])
    book.add(0.101, [touch(5.0)])
    (span,) = book.spans()
    assert (span.body, span.other, span.start_s) == ("hand", "thigh", 0.1)
    assert span.end_s == pytest.approx(0.102)
    assert span.impulse_Ns == pytest.approx(12.0 * DT)
    assert (span.largest_N, span.depth_m) == (7.0, 0.002)


@pytest.mark.parametrize(("pause", "count"), [(0.5 * RATTLE_S, 1), (2.0 * RATTLE_S, 2)])
def test_a_pair_that_parts_for_long_touches_twice(pause: float, count: int) -> None:
    book = TouchBook(DT)
    for begin in (0.0, pause):
        book.add(begin, [touch(1.0)])
    assert len(book.spans()) == count
    (pair,) = touched_pairs(book.spans())
    assert pair["impulse_Ns"] == pytest.approx(2.0 * DT) and pair["start_s"] == 0.0


def test_spans_are_kept_in_the_log_bit_for_bit() -> None:
    spans = (TouchSpan("hand", "thigh", 0.1, 0.1 + 1 / 3, 1e-3, 7.0, 0.0),)
    assert spans_from(spans_text(spans)) == spans
    assert spans_from("") == ()


@pytest.mark.parametrize("text", ["{}", "[1]", '[["a", "b"]]', '[["a", "b", 0, 0, 0, 0, "x"]]'])
def test_a_damaged_list_of_touches_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        spans_from(text)


@pytest.mark.parametrize(("body", "falls"), [("left_hand", True), ("left_foot", False)])
def test_what_carries_no_sole_may_not_touch_the_floor(body: str, falls: bool) -> None:
    experiment = balance.Experiment(balance.load_config("toro_push", {"duration_s": 0.8}))
    log = Log(experiment.config, experiment.robot)
    for _ in range(20):
        experiment.advance(log)
    experiment._touches.add(0.01, [touch(1.0, body, FLOOR)])
    verdict = judge(experiment.recording(log, experiment.end, 1.0))
    assert (verdict.cause is Cause.TOUCH) == falls
    if falls:
        assert verdict.text == "the body 'left_hand' touched the ground at 0.01 s"
