"""Models of robot_descriptions: from its cache, or a sentence that says how to get them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from balance.errors import MissingExtraError, RobotError
from balance.robots import Robot, load_robot

pytest.importorskip("robot_descriptions", reason="pip install 'pin-balance[descriptions]'")


def robot_yaml(folder: Path, name: str, toro: Robot) -> Path:
    tree = yaml.safe_load((toro.urdf.parent / "robot.yaml").read_text())
    tree["urdf"] = {"robot_descriptions": name}
    path = folder / "described.yaml"
    path.write_text(yaml.safe_dump(tree))
    return path


def test_a_description_in_the_cache_is_loaded(
    tmp_path: Path, toro: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its module says where it is; this one stands for that of a real one, which git brings."""
    described = ModuleType("robot_descriptions.atlas_v4_description")
    folder = toro.urdf.parent
    described.__dict__.update(
        REPOSITORY_PATH=str(folder), PACKAGE_PATH=str(folder), URDF_PATH=str(toro.urdf)
    )
    monkeypatch.setitem(sys.modules, described.__name__, described)
    robot = load_robot(robot_yaml(tmp_path, "atlas_v4_description", toro))
    assert robot.urdf == toro.urdf and robot.mass == toro.mass


def test_without_it_the_sentence_says_how_to_get_it(
    tmp_path: Path, toro: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    with pytest.raises(RobotError) as caught:
        load_robot(robot_yaml(tmp_path, "draco3_description", toro))
    told = str(caught.value)
    assert "is not in its cache" in told and "\n" not in told
    assert told.endswith("python -m robot_descriptions pull draco3_description")
    assert not (tmp_path / "cache").exists()  # nor is an empty repository left behind


def test_an_unknown_description_is_refused_with_the_nearest(tmp_path: Path, toro: Robot) -> None:
    with pytest.raises(RobotError, match=r"no robot 'g1_descripton' \(did you mean 'g1_desc"):
        load_robot(robot_yaml(tmp_path, "g1_descripton", toro))


def test_without_the_package_its_extra_is_named(
    tmp_path: Path, toro: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "robot_descriptions._descriptions", None)
    path = robot_yaml(tmp_path, "g1_description", toro)
    with pytest.raises(MissingExtraError, match=r"\[descriptions\]"):
        load_robot(path)
