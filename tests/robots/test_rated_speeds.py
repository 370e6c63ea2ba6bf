"""Every robot has a rated speed for every joint: its URDF's, or its own file's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from balance.errors import BalanceError, ConfigError, RobotError
from balance.robots import Robot, load_robot

TORO = Path(__file__).parents[2] / "robots" / "toro"
PLAUSIBLE = (0.3, 75.0)  # rad/s; solo12 has direct drives, the hip yaw of romeo a spindle


def changed(folder: Path, rated: Any = None, velocity: str | None = None) -> Path:
    """The TORO-like robot with other rated speeds, and another one of its neck in the URDF."""
    urdf = (TORO / "toro.urdf").read_text()
    if velocity is not None:
        assert 'velocity="4.71"' in urdf
        urdf = urdf.replace('velocity="4.71"', velocity, 1)
    (folder / "toro.urdf").write_text(urdf)
    spec = yaml.safe_load((TORO / "robot.yaml").read_text())
    if rated is not None:
        spec["rated_speed"] = rated
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(spec))
    return path


@pytest.mark.parametrize("name", ["toro", "talos", "icub", "g1", "romeo", "human", "solo12"])
def test_shipped_robots_have_speeds_that_a_drive_can_have_and_equal_ones_left_and_right(
    name: str,
) -> None:
    robot = load_robot(name)
    speeds = dict(zip(robot.joint_names, robot.rated_speeds, strict=True))
    assert min(speeds.values()) > PLAUSIBLE[0] and max(speeds.values()) < PLAUSIBLE[1]
    pairs = [("left", "right"), ("l_", "r_"), ("L", "R"), ("FL_", "FR_"), ("HL_", "HR_")]
    mirrored = [
        (joint, other)
        for joint in speeds
        for left, right in pairs
        if (other := joint.replace(left, right, 1)) != joint and other in speeds
    ]
    assert mirrored
    assert [pair for pair in mirrored if speeds[pair[0]] != speeds[pair[1]]] == []


def test_the_file_has_the_last_word(tmp_path: Path, toro: Robot) -> None:
    assert (load_robot(changed(tmp_path, 3.0)).rated_speeds == 3.0).all()
    one = load_robot(changed(tmp_path, {"left_knee": 9.0})).rated_speeds
    expected = toro.rated_speeds.copy()
    expected[toro.joint_names.index("left_knee")] = 9.0
    np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize(
    ("velocity", "told"),
    [
        ('velocity="0"', "a rated speed of 0 rad/s in the URDF"),
        ('velocity="1e999"', ""),
        ("", ""),
    ],
)
def test_a_joint_without_a_rated_speed_is_one_sentence(
    tmp_path: Path, velocity: str, told: str
) -> None:
    with pytest.raises(RobotError) as caught:
        load_robot(changed(tmp_path, velocity=velocity))
    assert told in str(caught.value) and "neck" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_file_can_mend_a_urdf_that_says_zero(tmp_path: Path) -> None:
    robot = load_robot(changed(tmp_path, {"neck_yaw": 2.0}, velocity='velocity="0"'))
    assert robot.rated_speeds[robot.joint_names.index("neck_yaw")] == 2.0


@pytest.mark.parametrize(
    ("rated", "told"),
    [
        (0, "rated_speed"),
        (-1.0, "rated_speed"),
        (float("inf"), "rated_speed"),
        ({"left_kne": 1.0}, "did you mean 'left_knee'?"),
        ({"left_knee": 0.0}, "left_knee"),
        ("fast", "rated_speed"),
    ],
)
def test_rated_speeds_that_make_no_sense_are_one_sentence(
    tmp_path: Path, rated: Any, told: str
) -> None:
    with pytest.raises(BalanceError) as caught:
        load_robot(changed(tmp_path, rated))
    assert isinstance(caught.value, ConfigError | RobotError)
    assert told in str(caught.value)
