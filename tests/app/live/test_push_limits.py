"""What the bar of a push compares it with."""

from __future__ import annotations

import time

import numpy as np
import pytest

import balance
from balance.app.live.push_limits import Limits, PushLimits
from balance.app.live.push_tab import bar_text

PATIENCE_S = 300.0  # against hanging; a busy machine takes its time


def test_the_limits_are_those_of_the_robot_in_the_direction_of_the_push() -> None:
    robot, finder = balance.load_robot("toro"), PushLimits()
    direction = np.array([0.0, 2.0, 0.0])
    end = time.monotonic() + PATIENCE_S
    while (limits := finder.at(robot, direction)).recovery is None:  # nobody waits for it
        assert time.monotonic() < end
        time.sleep(0.01)
    finder.close()
    expected = balance.recovery_limit(robot, (0.0, 1.0, 0.0)).impulse_Ns
    assert limits.recovery == pytest.approx(expected, rel=1e-6)
    assert limits.ankle == pytest.approx(balance.ankle_limit(robot, direction))


def test_the_bar_says_both_shares_or_the_one_that_is_known() -> None:
    assert bar_text(20.0, Limits(40.0, None)) == "50 % of the ankle limit, 40.0 N s"
    both = bar_text(20.0, Limits(40.0, 50.0))
    assert both.endswith("; 40 % of what any law could recover without a step, 50.0 N s")
    assert bar_text(20.0, Limits(40.0, 50.0, 80.0)) == f"{both}, or with a step, 80.0 N s"


def test_the_limit_with_a_step_is_found_when_it_is_asked_for() -> None:
    robot, finder = balance.load_robot("toro"), PushLimits()
    direction = np.array([1.0, 0.0, 0.0])
    assert finder.at(robot, direction).with_step is None
    end = time.monotonic() + PATIENCE_S
    while (limits := finder.at(robot, direction, steps=True)).with_step is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    finder.close()
    expected = balance.recovery_limit(robot, direction, steps=1).impulse_Ns
    assert limits.with_step == pytest.approx(expected, rel=1e-6)
