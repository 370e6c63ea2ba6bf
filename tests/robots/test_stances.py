"""Stances that ship with the package: they stand where they should, and recover from their push."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.config.stance import StanceConfig
from balance.errors import ConfigError
from balance.experiment import run
from balance.recordings.metrics import judge
from balance.robots import Robot
from balance.robots.stance import robot_of, take_stance

STANCES = ("toro_single_support", "toro_table", "toro_wall", "toro_slope", "toro_points")


@pytest.mark.parametrize("name", STANCES)
def test_pushed_robot_recovers_in_every_kind_of_stance(name: str) -> None:
    """In MuJoCo, which is the faster one when surfaces slide; docs/contacts.md has both engines."""
    pytest.importorskip("mujoco")
    config = load_config(name, {"plant.engine": "mujoco", "duration_s": 3.5})
    assert judge(run(config)).outcome == "recovered"


@pytest.mark.parametrize(
    "soles",
    [
        {},
        {"left sole": {"point_m": [0, 0, 0.02]}, "right sole": {"point_m": [0, 0, 0.02]}},
    ],
    ids=["level ground", "planes of their own"],
)
def test_com_is_over_the_feet_wherever_a_hand_is(soles: dict[str, object]) -> None:
    """A palm on a table in front is no foot, whether or not the soles have planes of their own."""
    height = 1.05 + (0.02 if soles else 0.0)
    planes = {"right palm": {"point_m": [0.4, -0.3, height]}, **soles}
    robot = robot_of(load_config("toro_table", {"stance.planes": planes}))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    feet = [surface.pose(data).translation[:2] for surface in robot.soles[:2]]
    np.testing.assert_allclose(robot.com()[:2], np.mean(feet, axis=0), atol=1e-9)


def test_feet_stand_where_the_stance_moves_them_with_the_com_between(toro: Robot) -> None:
    moved = {"left sole": (0.02, 0.03), "right sole": (0.0, -0.01)}
    tree = {"contacts": ["left sole", "right sole"], "moved_m": moved, "held": ["left_knee"]}
    robot = take_stance(toro, StanceConfig.model_validate(tree))
    places = []
    for one in (toro, robot):
        data = one.model.createData()
        pin.framesForwardKinematics(one.model, data, one.q_nominal)
        places.append(np.array([sole.pose(data).translation for sole in one.soles]))
    shift = [[*moved["left sole"], 0.0], [*moved["right sole"], 0.0]]
    np.testing.assert_allclose(places[1] - places[0], shift, atol=1e-9)
    np.testing.assert_allclose(robot.com()[:2], places[1].mean(axis=0)[:2], atol=1e-9)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"moved_m": {"left palm": [0, 0]}}, "moved_m.left palm .* not among contacts"),
        (
            {"moved_m": {"left sole": [0, 0]}, "planes": {"left sole": {"point_m": [0, 0, 0.1]}}},
            "moved_m.left sole .* a plane of its own",
        ),
    ],
)
def test_only_feet_on_level_ground_are_moved(keys: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        load_config("toro_push", {"stance": {"contacts": ["left sole"], **keys}})
