"""A robot whose description has it on the ground with something else is refused, not dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pinocchio as pin
import pytest
import yaml

from balance.config.paths import data_folder
from balance.config.stance import StanceConfig
from balance.errors import ConfigError, RobotError
from balance.robots import Robot, load_robot
from balance.robots.clearance import TOUCH_HEIGHT_M, lowest_body, touching_from_the_start
from balance.robots.stance import take_stance

TORO = data_folder("robots") / "toro"


def written(folder: Path, soles: dict[str, Any], **keys: Any) -> Path:
    tree = yaml.safe_load((TORO / "robot.yaml").read_text()) | {"soles": soles} | keys
    tree["urdf"] = str(TORO / "toro.urdf")
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(tree))
    return path


def refused(path: Path, body: str) -> None:
    with pytest.raises(RobotError) as caught:
        load_robot(path)
    for part in (str(path), f"the body '{body}'", "at 0 s", "'soles'", "'centre'"):
        assert part in str(caught.value)


def test_soles_at_the_ankles_are_refused_when_the_robot_is_loaded(tmp_path: Path) -> None:
    """The frame of the foot is at its ankle; without 'centre' so is the sole."""
    sole = {"length": 0.19, "width": 0.095}
    soles = {side: sole | {"frame": f"{side}_foot"} for side in ("left", "right")}
    refused(written(tmp_path, soles), "left_ankle_cross")


@pytest.mark.parametrize("stand", [{}, None])
def test_a_missing_sole_is_refused_when_the_robot_is_loaded(
    tmp_path: Path, stand: dict[str, Any] | None
) -> None:
    left = yaml.safe_load((TORO / "robot.yaml").read_text())["soles"]["left"]
    refused(written(tmp_path, {"left": left}, stand=stand), "right_sole")


def test_a_stance_that_leaves_a_foot_on_the_ground_is_refused(toro: Robot) -> None:
    stance = StanceConfig.model_validate({"contacts": ["left sole"]})
    with pytest.raises(ConfigError, match=r"'right_sole'.*stance\.contacts.*stance\.posture"):
        take_stance(toro, stance)


def test_every_robot_stands_on_its_soles_alone(any_robot: Robot) -> None:
    q = any_robot.q_nominal
    assert touching_from_the_start(any_robot.model, any_robot.soles, q) is None


def test_the_lowest_body_is_the_one_that_was_lowered(toro: Robot) -> None:
    """Lying on its back, the robot's lowest joint is found among all of them by name."""
    q = toro.q_nominal.copy()
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, -1.5, 0.0)).coeffs()
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, q)
    name = lowest_body(toro.model, toro.soles, q)
    lowest = data.oMf[toro.model.getFrameId(name)].translation[2]
    carriers = {toro.model.frames[sole.frame_id].parentJoint for sole in toro.soles}
    others = set(range(1, toro.model.njoints)) - carriers
    assert lowest == min(data.oMi[joint].translation[2] for joint in others)
    q[2] += TOUCH_HEIGHT_M - 1e-4 - lowest
    assert name in str(touching_from_the_start(toro.model, toro.soles, q))
