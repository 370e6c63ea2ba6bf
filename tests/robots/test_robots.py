"""Robots that can be balanced are ready to stand; others are refused in one clear sentence."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml

from balance.errors import BalanceError, ConfigError, FileError, FrameError, RobotError
from balance.robots import Robot, load_robot, robot_files

DATA = Path(__file__).parent / "data"
TORO = Path(__file__).parents[2] / "robots" / "toro"
LEVEL = 1e-6  # m, rad
WRISTS = {"left_wrist": 0.3, "right_wrist": 0.3}


def test_shipped_robots_are_found_by_name() -> None:
    assert {"toro", "talos", "icub", "g1"} <= set(robot_files())


def test_nominal_posture_stands_level_with_the_com_over_the_soles(any_robot: Robot) -> None:
    data = any_robot.model.createData()
    pin.framesForwardKinematics(any_robot.model, data, any_robot.q_nominal)
    poses = [sole.pose(data) for sole in any_robot.soles]
    for pose in poses:
        np.testing.assert_allclose(pose.rotation[:, 2], [0.0, 0.0, 1.0], atol=LEVEL)
        np.testing.assert_allclose(pose.translation[2], 0.0, atol=LEVEL)
    centre = np.mean([pose.translation for pose in poses], axis=0)
    np.testing.assert_allclose(any_robot.com()[:2], centre[:2], atol=1e-3)
    np.testing.assert_allclose(centre[:2], 0.0, atol=LEVEL)


def test_model_floats_and_has_a_usable_mass_matrix(any_robot: Robot) -> None:
    model = any_robot.model
    assert model.joints[1].shortname() == "JointModelFreeFlyer"
    assert model.nq == model.nv + 1 == len(any_robot.joint_names) + 7
    upper = pin.crba(model, model.createData(), any_robot.q_nominal)
    M = np.triu(upper) + np.triu(upper, 1).T
    assert np.linalg.eigvalsh(M)[0] > 0.0
    assert any_robot.mass == pytest.approx(M[0, 0], rel=1e-12)


def test_postures_lie_within_the_joint_limits(any_robot: Robot) -> None:
    q, model = any_robot.q_nominal[7:], any_robot.model
    assert (q >= model.lowerPositionLimit[7:]).all()
    assert (q <= model.upperPositionLimit[7:]).all()
    assert (any_robot.effort_limits > 0.0).all()


def test_soles_point_forwards(any_robot: Robot) -> None:
    """Toes along +x of the world, left before right, so that pushes mean the same on each robot."""
    data = any_robot.model.createData()
    pin.framesForwardKinematics(any_robot.model, data, any_robot.q_nominal)
    left, right = (sole.pose(data) for sole in any_robot.soles)
    assert [sole.name for sole in any_robot.soles] == ["left sole", "right sole"]
    assert left.translation[1] > 0.0 > right.translation[1]
    for pose in (left, right):
        np.testing.assert_allclose(pose.rotation[:, 0], [1.0, 0.0, 0.0], atol=0.05)


@pytest.mark.parametrize(
    ("name", "mass", "height"), [("toro", 77.5, 1.7), ("talos", 90.3, 1.75), ("g1", 33.3, 1.32)]
)
def test_size_is_that_of_the_real_robot(name: str, mass: float, height: float) -> None:
    robot = load_robot(name)
    assert robot.mass == pytest.approx(mass, abs=0.1)
    assert robot.height() == pytest.approx(height, abs=0.05)


def test_locked_joints_are_gone_and_keep_their_mass(tmp_path: Path) -> None:
    whole = load_robot("toro")
    locked = load_robot(write(tmp_path, {"lock": WRISTS}))
    assert set(whole.joint_names) - set(locked.joint_names) == set(WRISTS)
    assert locked.mass == pytest.approx(whole.mass, rel=1e-12)


def test_continuous_joint_can_be_locked(tmp_path: Path) -> None:
    turn = replaced('name="left_wrist" type="revolute"', 'name="left_wrist" type="continuous"')
    robot = load_robot(write(tmp_path, {"lock": WRISTS}, turn))
    same = load_robot(write(tmp_path, {"lock": WRISTS}))
    np.testing.assert_allclose(robot.com(), same.com(), atol=1e-9)


def test_own_folder_comes_before_the_shipped_robots(tmp_path: Path) -> None:
    write(tmp_path, {"description": "mine"}, name="toro.yaml")
    write(tmp_path / "other", {"description": "other"}, name="robot.yaml")
    assert load_robot("toro", [tmp_path]).description == "mine"
    assert load_robot("other", [tmp_path]).description == "other"
    assert load_robot("talos", [tmp_path]).name == "talos"


Change = Callable[[str], str]


def replaced(old: str, new: str, after: str = "") -> Change:
    """A change of the URDF's text: the first ``old`` (a pattern) after the text ``after``."""

    def change(text: str) -> str:
        begin = text.index(after)
        found, count = re.subn(old, new, text[begin:], count=1)
        assert count == 1
        return text[:begin] + found

    return change


def write(
    folder: Path, keys: dict[str, Any], change: Change | None = None, name: str = "robot.yaml"
) -> Path:
    """The TORO-like robot with other values of some (dotted) keys and a changed URDF."""
    folder.mkdir(exist_ok=True)
    tree = yaml.safe_load((TORO / "robot.yaml").read_text())
    for key, value in keys.items():
        here, parts = tree, key.split(".")
        for part in parts[:-1]:
            here = here.setdefault(part, {})
        if value is None:
            del here[parts[-1]]
        else:
            here[parts[-1]] = value
    urdf = (TORO / "toro.urdf").read_text()
    (folder / "toro.urdf").write_text(urdf if change is None else change(urdf))
    path = folder / name
    path.write_text(yaml.safe_dump(tree))
    return path


def refuse(path: Path | str, kind: type[BalanceError], told: list[str]) -> None:
    with pytest.raises(kind) as caught:
        load_robot(path)
    message = str(caught.value)
    assert "\n" not in message
    for part in [str(path), *told]:
        assert part in message


NAN = float("nan")


@pytest.mark.parametrize(
    ("key", "value", "kind", "told"),
    [
        ("colour", "red", ConfigError, ["unknown key 'colour'", "valid:", "push_body"]),
        ("soles.left.lenght", 0.1, ConfigError, ["'soles.left.lenght'", "did you mean 'length'?"]),
        ("soles", None, ConfigError, ["key 'soles' is missing (the surfaces that it stands on"]),
        ("name", 3, ConfigError, ["'name' = 3", "text"]),
        ("urdf", "nix.urdf", FileError, ["nix.urdf does not exist", "relative to the YAML"]),
        ("urdf", {"example_robot_data": "talso"}, RobotError, ["talso", "mean 'talos'?"]),
        ("base_body", "hipp", FrameError, ["'base_body' = 'hipp'", "did you mean 'hip'?"]),
        ("push_body", "hipp", FrameError, ["'push_body' = 'hipp'", "did you mean 'hip'?"]),
        ("soles", {}, ConfigError, ["'soles' = {}", "at least 1"]),
        ("soles.left.frame", "left_sol", FrameError, ["'soles.left.frame'", "'left_sole'"]),
        ("soles.left.length", -0.1, ConfigError, ["'soles.left.length' = -0.1", "greater than 0"]),
        ("soles.left.length", NAN, ConfigError, ["'soles.left.length' = nan", "finite"]),
        ("soles.left.width", True, ConfigError, ["'soles.left.width' = True", "a number"]),
        ("soles.left.centre", [0, 0], ConfigError, ["'soles.left.centre' = [0, 0]", "number 3"]),
        ("soles.left.width", None, ConfigError, ["'soles.left'", "no shape", "or points"]),
        ("soles.left.points", [[0, 0]], ConfigError, ["'soles.left'", "a rectangle or points"]),
        ("surfaces.left knuckle.points", [[0]], ConfigError, ["points.0' = [0]", "number 2"]),
        ("posture.left_kne", 1.0, ConfigError, ["'posture'", "'left_kne'", "'left_knee'"]),
        ("posture.left_knee", 5.0, ConfigError, ["'posture.left_knee' = 5 rad", "0 to 1.83"]),
        ("lock.left_wris", 0.0, ConfigError, ["'lock'", "'left_wris'", "mean 'left_wrist'?"]),
        ("stand.held", ["left_kne"], FrameError, ["'left_kne'", "did you mean 'left_knee'?"]),
        ("stand.com_offset", [1.0, 0.0], RobotError, ["no standing posture", "0.4"]),
        ("stand.base_height", 3.0, RobotError, ["no standing posture", "base_height"]),
    ],
)
def test_mistake_in_the_file_is_told_with_its_key(
    tmp_path: Path, key: str, value: Any, kind: type[BalanceError], told: list[str]
) -> None:
    refuse(write(tmp_path, {key: value}), kind, told)


def test_soles_that_are_not_level_are_refused(tmp_path: Path) -> None:
    keys = {"stand": None, "posture.left_ankle_pitch": -0.3}
    told = ["left sole is not level", "tilted by 0.1 rad", "'posture'", "'stand: {}'"]
    refuse(write(tmp_path, keys), RobotError, told)


MASS = r'<mass value="[^"]*"'
INERTIA = r'ixx="[^"]*" ixy="0" ixz="0" iyy="[^"]*" iyz="0" izz="[^"]*"'
WRIST = 'name="left_wrist" type="revolute"'


def massless_hand(text: str) -> str:
    text = replaced(MASS, '<mass value="0"', 'link name="left_hand"')(text)
    zero = 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"'
    return replaced(INERTIA, zero, 'link name="left_hand"')(text)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: "not a URDF", ["toro.urdf is not valid XML", "line 1"]),
        (lambda text: "", ["toro.urdf is not valid XML"]),
        (lambda text: "<robot name='nothing'/>", ["no <robot> with a <link>"]),
        (lambda text: text.replace("</robot>", ""), ["not valid XML"]),
        (massless_hand, ["mass matrix is singular", "'left_wrist'", "'lock'"]),
        (
            replaced(MASS, '<mass value="-0.5"', 'link name="left_hand"'),
            ["'left_hand'", "-0.5 kg", "must not be negative"],
        ),
        (
            replaced('effort="40"', 'effort="0"', 'joint name="left_wrist"'),
            ["'left_wrist'", "effort limit of 0 N m", "positive"],
        ),
        (replaced(WRIST, WRIST.replace("revolute", "continuous")), ["'left_wrist'", "revolute"]),
        (replaced(WRIST, WRIST.replace("revolute", "planar")), ["'left_wrist'", "'lock'"]),
    ],
)
def test_model_that_balancing_cannot_use_is_refused(
    tmp_path: Path, change: Change, told: list[str]
) -> None:
    refuse(write(tmp_path, {}, change), RobotError, ["robot 'toro'", *told])


def test_romeo_with_its_fingers_free_is_refused() -> None:
    """They follow the hand, which is not modelled, and weigh nothing."""
    told = ["robot 'romeo'", "'LFinger12' mimics 'LHand'", "'lock'"]
    refuse(DATA / "romeo.yaml", RobotError, told)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    refuse(tmp_path / "nothing.yaml", FileError, ["does not exist"])
    folder = tmp_path / "folder.yaml"
    folder.mkdir()
    refuse(folder, FileError, ["is a folder"])
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(bytes(range(256)))
    refuse(binary, FileError, ["not text in UTF-8"])
    path = write(tmp_path, {})
    (tmp_path / "toro.urdf").write_bytes(bytes(range(256)))
    refuse(path, RobotError, ["not valid XML"])


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    refuse("torro", RobotError, ["did you mean 'toro'?", "talos", "path of a YAML file"])
    with pytest.raises(FileError, match=r"robot folder .*nothing does not exist"):
        load_robot("toro", [Path("nothing")])


def test_a_file_with_a_urdf_and_soles_is_enough(tmp_path: Path) -> None:
    """The base is the root of the URDF, pushes hit it, and free joints have the usual impedance."""
    path = shutil.copytree(TORO, tmp_path / "mine") / "robot.yaml"
    spec = yaml.safe_load(path.read_text())
    for key in ("base_body", "push_body", "impedance", "description"):
        spec.pop(key, None)
    path.write_text(yaml.safe_dump(spec))
    robot = load_robot(path)
    assert robot.base_body == robot.push_body == "hip"
    assert (robot.impedance.frequency_hz, robot.impedance.damping_ratio) == (2.0, 0.7)


def test_a_joint_that_cannot_be_at_zero_rests_near_the_stop_next_to_it(tmp_path: Path) -> None:
    path, joint = shutil.copytree(TORO, tmp_path / "mine") / "robot.yaml", "neck_pitch"
    urdf = path.parent / "toro.urdf"
    head, name, rest = urdf.read_text().partition(f'<joint name="{joint}"')
    urdf.write_text(head + name + re.sub('lower="[^"]*"', 'lower="0.1"', rest, count=1))
    robot = load_robot(path)
    place = robot.model.joints[robot.model.getJointId(joint)].idx_q
    stop, other = robot.model.lowerPositionLimit[place], robot.model.upperPositionLimit[place]
    assert stop == 0.1
    assert robot.q_nominal[place] == pytest.approx(stop + 0.01 * (other - stop), abs=1e-3)
