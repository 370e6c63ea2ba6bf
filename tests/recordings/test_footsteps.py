"""Where feet stood and were to land, of a step that is made up."""

from __future__ import annotations

import numpy as np
import pytest
from stepped_runs import LEFT, MOVED_M, PLANNED, stepped

import balance
from balance.recordings.footsteps import com_path, footsteps, strategy_spans, strategy_words


def test_feet_stand_where_they_were_put_and_know_their_step() -> None:
    recording = stepped()
    first_left, right, left = footsteps(recording)
    assert [foot.step for foot in (first_left, right, left)] == [0, 0, 1]
    assert [foot.sole for foot in (first_left, right, left)] == [LEFT, 1, LEFT]
    moved = left.pose.translation - first_left.pose.translation
    np.testing.assert_allclose(moved, [MOVED_M, 0.0, 0.0], atol=1e-12)
    assert first_left.planned is None and not len(first_left.plans)


def test_the_plan_of_a_step_is_the_first_one_and_its_path_goes_to_the_last() -> None:
    left = footsteps(stepped())[-1]
    assert left.planned is not None
    np.testing.assert_allclose(left.planned.translation, PLANNED[:3], atol=1e-12)
    yaw = np.arctan2(left.planned.rotation[1, 0], left.planned.rotation[0, 0])
    assert yaw == pytest.approx(PLANNED[3])
    np.testing.assert_allclose(left.plans[-1], [PLANNED[0] + 0.05, PLANNED[1]], atol=1e-12)


def test_strategies_follow_one_another_without_gaps() -> None:
    spans = strategy_spans(stepped())
    expected = [("ankles", 0.0), ("hips", 0.010), ("1 step", 0.020), ("ankles", 0.080)]
    assert [words for words, _, _ in spans] == [words for words, _ in expected]
    np.testing.assert_allclose([begin for _, begin, _ in spans], [t for _, t in expected])
    assert [end for _, _, end in spans[:-1]] == [begin for _, begin, _ in spans[1:]]
    assert spans[-1][2] == pytest.approx(0.1)
    assert [strategy_words(2, n) for n in (0, 1, 2, 7)] == [
        "1 step",
        "1 step",
        "2 steps",
        "7 steps",
    ]


def test_the_path_of_the_com_moves_with_the_robot() -> None:
    path = com_path(stepped())
    assert path.shape == (10, 2)
    assert path[-1, 0] - path[0, 0] == pytest.approx(MOVED_M, abs=1e-9)


def test_a_law_that_does_not_step_has_no_footsteps() -> None:
    recording = balance.run("toro_push", overrides={"duration_s": 0.3, "pushes": []})
    assert footsteps(recording) == () and strategy_spans(recording) == ()
