"""A URDF whose numbers do not mean a robot is refused by file and link, whatever the engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml

from balance.config.paths import data_folder
from balance.errors import RobotError
from balance.robots import load_robot
from balance.robots.urdf_checks import triangle_excess

TORO = data_folder("robots") / "toro"
HAND = 'link name="left_hand"'
MIMIC = '<mimic joint="left_elbow" multiplier="0.5" offset="0.1" />'


def written(folder: Path, change: Callable[[str], str], **keys: object) -> Path:
    """The TORO-like robot in a folder of its own, with another URDF."""
    tree = yaml.safe_load((TORO / "robot.yaml").read_text()) | keys
    text = (TORO / "toro.urdf").read_text()
    changed = change(text)
    assert changed != text
    (folder / "toro.urdf").write_text(changed)
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(tree))
    return path


def hand(pattern: str, text: str) -> Callable[[str], str]:
    """Puts ``text`` where ``pattern`` first matches in the left hand's link."""

    def change(urdf: str) -> str:
        start = urdf.index(HAND)
        return urdf[:start] + re.sub(pattern, text, urdf[start:], count=1)

    return change


def refused(path: Path, *told: str) -> None:
    with pytest.raises(RobotError) as caught:
        load_robot(path)
    for part in (str(path.with_name("toro.urdf")), *told):
        assert part in str(caught.value)


@pytest.mark.parametrize("text", ["5,62", "nan", "inf", "1e999", " 5.62", "5.62 kg", "", "٣"])
def test_a_mass_that_is_no_number_is_refused_by_file_and_link(tmp_path: Path, text: str) -> None:
    """The parser leaves the whole inertial out and goes on: the robot would weigh less."""
    change = hand('<mass value="[^"]*"', f'<mass value="{text}"')
    refused(written(tmp_path, change), "link 'left_hand'", f'<mass value="{text}">', "number")


@pytest.mark.parametrize(
    ("pattern", "text", "told"),
    [
        ('ixx="[^"]*"', 'ixx="nan"', '<inertia ixx="nan">'),
        ('iyz="[^"]*"', 'iyz="0,1"', '<inertia iyz="0,1">'),
        ('izz="[^"]*"', "", "without <inertia izz=...>"),
        ('<mass value="[^"]*" />', "", "without <mass value=...>"),
        ('<origin xyz="[^"]*"', '<origin xyz="0 nan 0"', '<origin xyz="0 nan 0">'),
        ('<origin xyz="[^"]*"', '<origin xyz="0 0"', '<origin xyz="0 0">'),
        ('<mass value="[^"]*"', '<mass value="-0.5"', "-0.5 kg"),
        ('ixx="[^"]*"', 'ixx="0.5"', "principal moment exceeds the sum"),
        ('ixx="[^"]*"', 'ixx="-0.001"', "principal moment exceeds the sum"),
    ],
)
def test_an_inertial_that_nothing_has_is_refused_by_file_and_link(
    tmp_path: Path, pattern: str, text: str, told: str
) -> None:
    refused(written(tmp_path, hand(pattern, text)), "'left_hand'", told)


def test_what_the_parser_calls_an_error_is_one(tmp_path: Path) -> None:
    """It drops a shape that it cannot read, and loads the rest."""
    path = written(tmp_path, hand('<box size="[^"]*"', '<box size="0,1 1 1"'))
    refused(path, "cannot be loaded", "0,1")


def test_a_joint_without_an_axis_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, lambda text: re.sub('<axis xyz="[^"]*"', '<axis xyz="0 0 0"', text))
    refused(path, "axis of length zero")


def follower(text: str) -> str:
    """The left wrist follows the left elbow."""
    start = text.index('<joint name="left_wrist"')
    end = text.index("</joint>", start)
    return text[:end] + MIMIC + text[end:]


@pytest.mark.parametrize(
    "lock", [{}, {"left_wrist": 0.0}, {"left_elbow": 0.6}, {"left_elbow": 0.6, "left_wrist": 0.0}]
)
def test_a_joint_that_follows_another_is_refused_unless_both_are_locked(
    tmp_path: Path, lock: dict[str, float]
) -> None:
    path = written(tmp_path, follower, lock=lock, posture={"left_knee": 0.8, "right_knee": 0.8})
    refused(path, "joint 'left_wrist' mimics 'left_elbow'", "0.5 times it plus 0.1", "'lock'")


def test_a_joint_locked_where_it_follows_its_locked_leader_is_taken(tmp_path: Path) -> None:
    lock = {"left_elbow": 0.6, "left_wrist": 0.5 * 0.6 + 0.1}
    tree = yaml.safe_load((TORO / "robot.yaml").read_text())
    posture = {name: angle for name, angle in tree["posture"].items() if name not in lock}
    robot = load_robot(written(tmp_path, follower, lock=lock, posture=posture, stand={}))
    assert robot.model.nv == load_robot("toro").model.nv - 2


def test_clouds_of_masses_never_break_the_triangle_inequality() -> None:
    """Nor do plates, on which it is an equality, when they are turned and rounded to 4 digits."""
    rng = np.random.default_rng(16)
    for _ in range(200):
        points = rng.normal(size=(4, 3)) * rng.uniform(0.01, 1.0, 3)
        if rng.random() < 0.5:
            points[:, 2] = 0.0
        R = pin.exp3(rng.normal(size=3))
        points = (points - points.mean(axis=0)) @ R.T
        inertia = np.eye(3) * (points**2).sum() - points.T @ points
        rounded = np.vectorize(lambda x: float(f"{x:.4g}"))(inertia)
        assert triangle_excess(rounded) == 0.0
        values, axes = np.linalg.eigh(inertia)
        values[2] = 1.05 * (values[0] + values[1])
        broken = axes @ np.diag(values) @ axes.T
        assert triangle_excess(broken) == pytest.approx(0.05 / 1.05 * values[2], rel=1e-9)


def test_a_plate_stands_in_both_engines(tmp_path: Path) -> None:
    """A + B = C up to rounding, which MuJoCo alone would refuse."""
    pytest.importorskip("mujoco")
    from balance.simulation.plants.mujoco_model import compiled, robot_spec

    moments = 'ixx="0.0011" ixy="0" ixz="0" iyy="0.0022" iyz="0" izz="0.003300001"'
    path = written(tmp_path, hand('ixx="[^/]*izz="[^"]*"', moments))
    robot = load_robot(path)
    model = compiled(robot_spec(robot), robot)
    inertia = sorted(model.body("left_wrist").inertia)
    np.testing.assert_allclose(inertia, [0.0011, 0.0022, 0.0033], rtol=1e-6)
