"""The recovery limit of robots."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import balance
from balance.analysis.limits.bounds import HalfPlanes, ankle_bounds, robot_bounds
from balance.analysis.limits.recovery import (
    STANDING,
    Push,
    limit_of,
    recovery_limit,
    standing_limit,
)
from balance.analysis.limits.table import limit_table, limits_to
from balance.control.stepping.sizes import SWING_LEAST
from balance.errors import BalanceError, InputError, RobotError
from balance.robots import Robot, load_robot
from balance.robots.stance import robot_of

FORWARDS, LEFT = np.array([1.0, 0.0]), np.array([0.0, 1.0])


def test_with_ankles_alone_it_is_the_ankle_limit(any_robot: Robot) -> None:
    bounds = ankle_bounds(any_robot)
    for degrees in (0.0, 40.0, 110.0):
        direction = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        ankle = balance.ankle_limit(any_robot, direction)
        found = limit_of(standing_limit(bounds, Push(direction)), bounds, ankle)
        assert found.impulse_Ns == pytest.approx(ankle, rel=1e-6)
        assert found.fraction == pytest.approx(1.0, rel=1e-6)
        assert found.binding == ("CoP",)


def test_finer_samples_change_it_little(toro: Robot) -> None:
    bounds = robot_bounds(toro, 0.8)
    found = []
    for finer in (0.5, 1.0, 2.0):
        samples = [s / finer for s in STANDING for _ in range(int(finer) or 1)]
        samples = samples if finer >= 1.0 else [2 * s for s in STANDING[::2]]
        found.append(standing_limit(bounds, Push(FORWARDS), samples).value)
    assert found[0] < found[1] < found[2] < 1.01 * found[1]  # 1 %
    assert found[2] - found[1] < 0.6 * (found[1] - found[0])


def test_hips_and_arms_lift_it_and_the_shares_of_its_bounds_add_up(toro: Robot) -> None:
    forwards, left = (recovery_limit(toro, direction) for direction in (FORWARDS, LEFT))
    # The capture law recovers 1.24 and 1.49 of the ankle limit fore and aft, 1.15 sideways.
    assert 1.5 < forwards.fraction < 1.8
    assert 1.2 < left.fraction < 1.5
    assert forwards.binding[0] == "CoP" and "lean range" in forwards.binding
    assert sum(forwards.shares.values()) == pytest.approx(1.0, abs=0.05)  # small ones are left out
    assert (forwards.steps, forwards.first_foot, forwards.swing_s) == (0, None, ())


def test_it_is_the_same_to_both_sides(toro: Robot) -> None:
    left, right = (recovery_limit(toro, direction).impulse_Ns for direction in (LEFT, -LEFT))
    assert left == pytest.approx(right, rel=0.01)  # the furthest lean is searched on each side


def test_a_push_above_the_com_is_harder_and_one_that_lasts_easier(toro: Robot) -> None:
    com = float(toro.com()[2])
    at_com = recovery_limit(toro, FORWARDS, height_m=com).impulse_Ns
    assert recovery_limit(toro, FORWARDS, height_m=1.3 * com).impulse_Ns < 0.9 * at_com
    assert recovery_limit(toro, FORWARDS, height_m=0.8 * com).impulse_Ns > at_com
    assert recovery_limit(toro, FORWARDS, height_m=com, duration_s=0.2).impulse_Ns > at_com


def test_less_friction_never_helps(toro: Robot) -> None:
    found = [recovery_limit(toro, FORWARDS, friction=mu).impulse_Ns for mu in (0.15, 0.8)]
    assert found[0] < 0.9 * found[1]


def test_a_step_multiplies_it_and_begins_on_the_side_of_the_push(toro: Robot) -> None:
    none, one = (recovery_limit(toro, LEFT, steps) for steps in (0, 1))
    assert one.impulse_Ns > 1.5 * none.impulse_Ns
    assert (one.steps, one.first_foot) == (1, "left sole")
    assert len(one.swing_s) == 1 and 0.1 < one.swing_s[0] < 0.6
    assert "foot speed" in one.binding


def test_steps_of_the_law_are_shorter_or_slower_than_the_fastest(toro: Robot) -> None:
    none, law, fastest = (
        recovery_limit(toro, LEFT, 0),
        recovery_limit(toro, LEFT, 1, gait="stepping"),
        recovery_limit(toro, LEFT, 1),
    )
    assert none.fraction < law.fraction < fastest.fraction
    assert law.swing_s[0] >= SWING_LEAST / np.sqrt(9.81 / toro.com()[2]) - 1e-12


@pytest.mark.parametrize("bound", ["lean", "momentum"])
def test_with_less_range_or_speed_it_is_smaller(toro: Robot, bound: str) -> None:
    bounds = robot_bounds(toro, 0.8)
    whole = getattr(bounds, bound)
    half = dataclasses.replace(bounds, **{bound: HalfPlanes(whole.normals, 0.5 * whole.most)})
    push = Push(FORWARDS)
    assert standing_limit(half, push).value < 0.95 * standing_limit(bounds, push).value


def test_it_is_the_same_when_it_is_read_back(toro: Robot) -> None:
    first = recovery_limit(toro, LEFT, 1)
    assert recovery_limit(load_robot("toro"), LEFT, 1) == first


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"direction": [0.0, 0.0, 1.0]}, "level part"),
        ({"direction": [1.0, np.nan]}, "two or three finite numbers"),
        ({"steps": 7}, "whole number from 0 to 6"),
        ({"steps": True}, "whole number"),
        ({"gait": "running"}, "valid: fastest, stepping"),
        ({"duration_s": -0.1}, "duration_s is -0.1"),
        ({"friction": 0.0}, "friction is 0"),
        ({"height_m": np.inf}, "height_m is inf"),
    ],
)
def test_a_wrong_question_is_refused_in_one_sentence(
    toro: Robot, changes: dict[str, object], words: str
) -> None:
    question = {"direction": [1.0, 0.0], **changes}
    with pytest.raises(InputError, match=words):
        recovery_limit(toro, **question)  # type: ignore[arg-type]


def test_robots_that_stand_otherwise_have_no_limit_here() -> None:
    robot = robot_of(balance.load_config("toro_table"))
    with pytest.raises(RobotError, match="stands otherwise"):
        recovery_limit(robot, FORWARDS)
    with pytest.raises(BalanceError, match="two feet"):
        recovery_limit(load_robot("solo12"), FORWARDS, 1)


def test_a_table_has_a_limit_for_each_number_of_steps(toro: Robot) -> None:
    found = limit_table(toro, limits_to(toro, [90.0, 0.0], 1))
    assert [one.azimuth_deg for one in found.directions] == [90.0, 0.0]
    assert [limit.steps for limit in found.directions[0].limits] == [0, 1]
    tree = found.as_dict()
    assert tree["friction"] == 0.8 and tree["height_m"] == pytest.approx(0.976, abs=1e-3)
    assert tree["directions"][0]["limits"][1]["impulse_Ns"] > 50.0
