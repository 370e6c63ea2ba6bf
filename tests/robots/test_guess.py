"""A robot's file from its URDF alone, against the files that were written by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml

import balance
from balance.app.cli import main
from balance.errors import RobotError
from balance.robots import Robot, load_robot
from balance.robots.guess import Guess, guess_robot, robot_yaml
from balance.robots.guessed_soles import inner_rectangle

NAMES = ("toro", "talos", "icub", "g1", "romeo", "solo12")
CENTRE_TOLERANCE_M = 0.035  # soles by hand leave out rounded heels and toes
HEIGHT_TOLERANCE_M = 0.003


def written(name: str, folder: Path) -> tuple[Robot, Robot, Guess]:
    """The robot that ships, and the one that is guessed from its URDF."""
    ours = load_robot(name)
    guess = guess_robot(ours.urdf)
    tree = yaml.safe_load(robot_yaml(guess, str(ours.urdf)))
    if name != "toro":
        tree["urdf"] = {"example_robot_data": name}
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(tree))
    return ours, load_robot(path), guess


def soles_at_zero(robot: Robot) -> dict[str, pin.SE3]:
    """Poses of the soles in the base with all joints at zero."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    return {sole.name: sole.pose(data) for sole in robot.soles}


@pytest.mark.parametrize("name", NAMES)
def test_the_guessed_robot_stands_on_the_soles_that_were_measured_by_hand(
    name: str, tmp_path: Path
) -> None:
    ours, guessed, _ = written(name, tmp_path)
    wanted, found = soles_at_zero(ours), soles_at_zero(guessed)
    assert set(found) == set(wanted)  # left is left, also where the base looks backwards
    heights = [pose.translation[2] for pose in wanted.values()]
    point = name == "solo12"  # whose own file has the middle of the ball, 16 mm up
    for sole, pose in wanted.items():
        error = found[sole].translation - pose.translation
        assert np.abs(error[:2]).max() < CENTRE_TOLERANCE_M
        assert abs(error[2]) < (0.017 if point else HEIGHT_TOLERANCE_M)
        forwards = found[sole].rotation[:, 0] @ pose.rotation[:, 0]
        assert point or forwards > 0.999
    assert np.ptp(heights) < HEIGHT_TOLERANCE_M
    for mine, theirs in zip(guessed.soles, sorted(ours.soles, key=lambda s: s.name), strict=True):
        assert 0.6 < mine.half_length / theirs.half_length < 1.2
        assert 0.6 < mine.half_width / theirs.half_width < 1.25


def test_the_guessed_robot_takes_a_push(tmp_path: Path) -> None:
    written("talos", tmp_path)
    keys = {"robot": str(tmp_path / "talos.yaml"), "duration_s": 3.0, "control_period_s": 0.002}
    summary = balance.run("talos_push", overrides=keys).summary()
    assert summary["outcome"] == "recovered"


def test_what_cannot_be_controlled_is_locked_and_said() -> None:
    guess = guess_robot(load_robot("icub").urdf)
    assert "neck_yaw" in guess.keys["lock"]  # nothing beyond it has any mass
    assert any("locked at zero" in note for note in guess.notes)
    assert guess.keys["rated_speed"] == 10.0  # its URDF says 100 rad/s everywhere
    assert any("is a guess" in note for note in guess.notes)
    assert guess.keys["stand"] == {"yaw": pytest.approx(np.pi, abs=1e-5)}


def test_knees_bend_the_way_that_their_range_allows() -> None:
    assert guess_robot(load_robot("toro").urdf).keys["posture"]["left_knee"] > 0.0
    assert guess_robot(load_robot("icub").urdf).keys["posture"]["l_knee"] < 0.0


def test_the_rectangle_inside_a_hull_is_the_largest() -> None:
    angles = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)
    ellipse = np.stack([0.1 * np.cos(angles), 0.05 * np.sin(angles)], axis=1) + np.array(
        [[1.0, 2.0]]
    )
    centre, (length, width) = inner_rectangle(ellipse)
    assert centre == pytest.approx([1.0, 2.0], abs=1e-4)
    assert length * width == pytest.approx(2.0 * 0.1 * 0.05, rel=2e-3)  # 2 a b
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) @ np.diag([0.1, 0.04])
    centre, sides = inner_rectangle(corners)
    assert sides == pytest.approx((0.2, 0.08))
    _, sides = inner_rectangle(np.array([[0.0, 0.0], [0.1, 0.0]]))  # a line
    assert sides == (0.1, 0.0)


def test_the_command_writes_the_file_says_what_it_guessed_and_how_to_push(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    urdf = load_robot("toro").urdf
    file = tmp_path / "new.yaml"
    arguments = ["balance", "robots", "--new", str(urdf), "--out", str(file)]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    said = capsys.readouterr().out
    assert "left foot: 0.190 m x 0.095 m" in said and "It stands, 77.5 kg" in said
    assert f"balance run g1_push --set robot={file}" in said
    assert file.read_text().startswith("# A first guess from the URDF alone")
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2 and "--overwrite" in capsys.readouterr().err


def test_a_robot_on_two_points_is_not_told_to_be_pushed_from_the_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    robots = load_robot("solo12").urdf.parents[2]  # bolt, of the same makers, lies beside it
    urdf = robots / "bolt_description" / "robots" / "bolt.urdf"
    arguments = ["balance", "robots", "--new", str(urdf), "--out", str(tmp_path / "bolt.yaml")]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().out
    assert not end.value.code and "It has no width to stand on" in said
    assert "balance run" not in said


def test_a_urdf_without_shapes_or_drives_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "three_link.urdf"
    file.write_text(
        '<robot name="rod"><link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    with pytest.raises(RobotError, match="leaves 0 joints to balance with"):
        guess_robot(file)


def test_an_mjcf_file_is_guessed_as_its_urdf_is(tmp_path: Path) -> None:
    """Two legs of capsules with boxes as feet."""
    limits = 'range="-1 1" actuatorfrcrange="-100 100"'
    legs = "".join(
        f"""<body name="{side}_hip" pos="0 {y} -.2">
        <joint name="{side}_roll" axis="1 0 0" {limits}/>
        <geom type="sphere" size=".05" mass="2"/>
        <body name="{side}_thigh"><joint name="{side}_pitch" axis="0 1 0" {limits}/>
        <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".05" mass="4"/>
        <body name="{side}_shank" pos="0 0 -.4">
        <joint name="{side}_knee" axis="0 1 0" range="0 2" actuatorfrcrange="-100 100"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".04" mass="3"/>
        <body name="{side}_ankle" pos="0 0 -.4"><joint name="{side}_tilt" axis="0 1 0" {limits}/>
        <geom type="sphere" size=".03" mass=".5"/>
        <body name="{side}_foot"><joint name="{side}_lean" axis="1 0 0" {limits}/>
        <geom type="box" size=".1 .05 .02" pos=".03 0 -.04" mass="1"/>
        </body></body></body></body></body>"""
        for side, y in (("left", 0.1), ("right", -0.1))
    )
    (tmp_path / "walker.xml").write_text(
        f"""<mujoco model="walker"><compiler angle="radian"/><worldbody>
        <body name="torso" pos="0 0 1"><freejoint/>
        <geom type="box" size=".1 .15 .25" mass="20"/>{legs}</body></worldbody></mujoco>"""
    )
    guess = guess_robot(tmp_path / "walker.xml")
    path = tmp_path / "walker.yaml"
    path.write_text(robot_yaml(guess, "walker.xml"))
    assert yaml.safe_load(path.read_text())["mjcf"] == "walker.xml"
    robot = load_robot(path)
    assert robot.mass == pytest.approx(20.0 + 2 * 10.5)
    assert {sole.name for sole in robot.soles} == {"left sole", "right sole"}
    sizes = [(sole["length"], sole["width"]) for sole in guess.keys["soles"].values()]
    assert sizes == [(pytest.approx(0.2), pytest.approx(0.1))] * 2
