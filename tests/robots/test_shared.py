"""Robots that the experiments of one process share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np

import balance
from balance.experiment import Experiment
from balance.robots.robot import robot_path
from balance.robots.shared import shared_robot
from balance.robots.stance import robot_of

SHORT = {"duration_s": 0.3, "pushes": [], "reference": None}


def test_experiments_share_a_robot_and_users_do_not() -> None:
    config = balance.load_config("toro_push", SHORT)
    assert Experiment(config).robot is Experiment(config).robot
    assert balance.load_robot("toro") is not balance.load_robot("toro")


def test_stances_of_a_robot_are_shared_each_for_itself() -> None:
    plain, slope = (balance.load_config(name) for name in ("toro_push", "toro_slope"))
    assert robot_of(slope) is robot_of(slope)
    assert robot_of(slope) is not robot_of(plain)
    fresh = balance.load_robot("toro")
    np.testing.assert_array_equal(robot_of(plain).q_nominal, fresh.q_nominal)


def test_a_robot_that_somebody_changed_is_read_anew() -> None:
    changed = shared_robot("toro", ())
    changed.model.inertias[3].mass += 1.0
    again = shared_robot("toro", ())
    assert again.model == balance.load_robot("toro").model
    again.q_nominal[9] += 0.1
    np.testing.assert_array_equal(
        shared_robot("toro", ()).q_nominal, balance.load_robot("toro").q_nominal
    )


def test_a_file_that_changed_is_read_anew(tmp_path: Path) -> None:
    shutil.copytree(robot_path("toro").parent, tmp_path / "toro")
    file = tmp_path / "toro" / "robot.yaml"
    before = shared_robot("toro", [tmp_path])
    assert shared_robot("toro", [tmp_path]) is before
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("description: ", "description: Another. ", 1), encoding="utf-8")
    after = shared_robot("toro", [tmp_path])
    assert after.description != before.description
    os.utime(after.urdf, (0, 0))
    assert shared_robot("toro", [tmp_path]) is not after


def test_a_run_does_not_depend_on_what_ran_before_it() -> None:
    """The robot of an experiment is as it was when other experiments have used it."""
    config = balance.load_config("toro_push", {"duration_s": 1.0, "reference": None})
    first = balance.run(config)
    for name in ("toro_weak_knee", "toro_imperfect", "toro_capture"):
        balance.run(balance.load_config(name, SHORT | {"faults": []}))
    np.testing.assert_array_equal(balance.run(config).q, first.q)
