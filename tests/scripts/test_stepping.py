"""Measures and plan of what is measured of steps."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from lib.measured_runs import Runs
from lib.stepping_measures import after_hits, gap, least_gap, leg_joints
from lib.stepping_plan import PARTS, SHARE, cell_of, clean_limit, disturbed, side, target
from stepped_runs import stepped

from balance.robots import Robot, load_robot


def standing(robot: Robot) -> pin.Data:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    return data


SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("moved", "expected"),
    [((1.5, 0.2), 0.5), ((1.3, 1.4), 0.5), ((0.5, 0.5), 0.0), ((-1.25, 0.0), 0.25)],
)
def test_the_gap_of_two_squares(moved: tuple[float, float], expected: float) -> None:
    other = SQUARE + np.array(moved)
    assert gap(SQUARE, other) == pytest.approx(expected)
    assert gap(other[::-1], SQUARE) == pytest.approx(expected)  # either way round


def test_a_corner_may_be_nearest_to_an_edge() -> None:
    turned = (SQUARE - 0.5) @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2.0)
    assert gap(SQUARE, turned + np.array([2.0, 0.5])) == pytest.approx(1.0 - np.sqrt(0.5))


def test_the_gap_of_a_standing_robot_is_that_between_its_soles() -> None:
    recording = stepped()
    left, right = recording.robot.soles
    apart = np.subtract(*(sole.wrench_pose(standing(recording.robot)).translation[1]
                          for sole in (left, right)))  # fmt: skip
    expected = apart - left.half_width - right.half_width
    assert least_gap(recording) == pytest.approx(expected, abs=1e-6)


def test_ankles_are_what_is_below_the_knees() -> None:
    robot = load_robot("toro")
    upper, lower = leg_joints(robot)
    names = np.array(robot.joint_names)
    assert all("ankle" in name for name in names[lower]) and len(lower) == 4
    assert all("hip" in name or "knee" in name for name in names[upper]) and len(upper) == 8


def test_joint_speeds_count_from_some_time_after_the_hit() -> None:
    assert after_hits(stepped()).all()  # nobody pushed


def test_directions_and_figures_to_reach() -> None:
    assert [side(a) for a in (0, 350, 20, 45, 75, 105, 255, 120, 165, 180)] == [
        "forwards", "forwards", "forwards", "oblique", "sideways", "sideways", "sideways",
        "oblique", "backwards", "backwards",
    ]  # fmt: skip
    assert target("toro", 180.0) == 2.6 and target("g1", 90.0) == 1.3
    assert target("romeo", 0.0) is None


def test_the_clean_limit_between_two_directions_is_the_smaller_one(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    assert clean_limit(runs, 10.0) is None and not list(disturbed(runs))
    for azimuth, limit in ((0.0, 2.2), (15.0, 2.0), (30.0, 1.8)):
        for size, outcome in ((limit, "recovered"), (round(limit + 0.05, 2), "fell")):
            case = cell_of("toro", azimuth, fraction=size)
            runs.add(asdict(case) | {"outcome": outcome, "cause": None})
    assert clean_limit(runs, 10.0) == 2.0 == clean_limit(runs, -10.0)
    assert clean_limit(runs, 0.0) == 2.2 and clean_limit(runs, 40.0) is None
    cell, search = next(iter(disturbed(runs)))
    assert next(search()) == pytest.approx(SHARE * 2.2)
    assert cell.world == "sensors, delay, mass"


def test_parts_ask_for_the_directions_of_their_robot_and_engine(tmp_path: Path) -> None:
    cells = [cell for cell, _ in PARTS["toro_mujoco"](Runs(tmp_path))]
    assert {cell.engine for cell in cells} == {"mujoco"} and len(cells) == 7
    assert all(cell.law == "stepping" and cell.robot == "toro" for cell in cells)
