"""Soles on changing planes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin

from balance.recordings.stance_rows import spans, stance_rows
from balance.robots import load_robot
from balance.robots.sequence import PlannedPhase

TOP = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.2]))


def phase(soles: tuple[Any, ...]) -> PlannedPhase:
    robot = replace(load_robot("toro"), soles=soles)
    return PlannedPhase("x", robot, {}, {}, (), (), None, {})


def test_a_sole_is_over_what_it_leaves_while_it_is_unloaded_then_over_its_goal() -> None:
    """It leaves the floor in the second of three phases, and is on a box of 20 cm in the third."""
    left, right = load_robot("toro").soles
    on_box = replace(right, plane=TOP)
    phases = [phase((left, right)), phase((left,)), phase((left, on_box))]
    robot = replace(load_robot("toro"), soles=(left, right))
    numbers = np.array([0, 0, 1, 1, 1, 2])
    bearing = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 0.5], [1.0, 0.0], [1.0, 0.0], [1.0, 0.5]])
    rows = stance_rows(robot, phases, numbers, bearing)
    points = np.full((6, 5, 3), 0.3)
    assert np.allclose(rows.on_planes(1, points)[:, 0, 2], [0.3, 0.3, 0.3, 0.1, 0.1, 0.1])
    assert np.allclose(rows.on_planes(0, points)[:, 0, 2], 0.3)
    assert rows.spans(1) == [(0, 3), (5, 6)]
    assert np.allclose(rows.part(slice(3, 6)).on_planes(1, points[3:])[:, 0, 2], 0.1)


def test_spans_are_runs_of_rows_that_are_true() -> None:
    assert spans(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert spans(np.zeros(3, dtype=bool)) == []
