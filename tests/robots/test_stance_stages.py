"""A stance that cannot be says why: which place, contact, torque or body."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from balance.config import load_config
from balance.errors import ConfigError
from balance.robots import Robot, load_robot
from balance.robots.sequence import plan_phases

BOTH = ["left sole", "right sole"]
STAND = {"name": "stand", "contacts": BOTH, "until": {"time_s": 1.0}}
TABLE = {"centre_m": [0.55, -0.25, 1.0], "size_m": [0.5, 0.8]}


@pytest.fixture(scope="module")
def toro() -> Robot:
    return load_robot("toro")


def why(toro: Robot, *phases: dict[str, Any], **objects: Any) -> str:
    config = load_config(
        {
            "robot": "toro",
            "duration_s": 5.0,
            "controller": {"law": "whole_body_qp"},
            "phases": list(phases),
            "objects": objects,
        }
    )
    with pytest.raises(ConfigError) as error:
        plan_phases(config, toro)
    return str(error.value)


def moving(surface: str, contacts: list[str] = BOTH, **place: Any) -> dict[str, Any]:
    return {"name": "move", "contacts": contacts, "move": {surface: place}}


def test_an_unknown_surface_is_named_with_the_nearest(toro: Robot) -> None:
    said = why(toro, STAND, moving("right plam", on="floor"))
    assert said.startswith("phases.1 'move' of robot 'toro': 'right plam' is no surface")
    assert "did you mean 'right palm'?" in said


def test_an_unknown_joint_is_named(toro: Robot) -> None:
    assert "posture names a joint 'left_kne'" in why(toro, STAND | {"posture": {"left_kne": 1.0}})


def test_a_place_out_of_reach_says_by_how_much(toro: Robot) -> None:
    table = TABLE | {"centre_m": [2.6, -0.25, 1.0]}
    said = why(toro, STAND, moving("right palm", on="table", to_m=[2.5, -0.3, 1.0]), table=table)
    assert "'right palm' is 0." in said and "m out of reach" in said


def test_a_stance_that_no_wrench_holds_says_how_far_the_com_is_outside(toro: Robot) -> None:
    """Feet far apart: the CoM does not come over one of them while the other stays."""
    apart = {
        "name": "apart",
        "contacts": BOTH,
        "places": {
            "left sole": {"on": "floor", "to_m": [0.0, 0.4, 0.0], "yaw_rad": 0.0},
            "right sole": {"on": "floor", "to_m": [0.0, -0.4, 0.0], "yaw_rad": 0.0},
        },
        "until": {"loaded": 0.95, "timeout_s": 4.0},
    }
    said = why(toro, apart, moving("right sole", ["left sole"]))
    assert "no wrenches in the cones of left sole hold it: with the CoM at" in said
    assert "m outside of what they can bear" in said


def test_torques_that_are_missing_are_told_by_joint(toro: Robot) -> None:
    model = toro.model.copy()
    model.upperEffortLimit = 0.02 * model.upperEffortLimit
    one_leg = {"name": "squat", "contacts": ["left sole"]}
    said = why(replace(toro, model=model), one_leg)
    assert re.search(r"left_\w+ needs \d+ N m of its \d+", said)


def test_a_plane_through_the_robot_is_told_with_the_body_in_it(toro: Robot) -> None:
    board = {"centre_m": [0.0, 0.0, 0.9], "size_m": [1.5, 1.5], "depth_m": 0.3}
    said = why(toro, STAND, board=board)
    assert "is in the board by" in said


def test_a_surface_over_an_edge_says_how_far(toro: Robot) -> None:
    box = {"centre_m": [0.4, 0.0, 0.1], "size_m": [0.2, 0.5], "depth_m": 0.1}
    step = moving("right sole", ["left sole"], on="box", to_m=[0.35, -0.1, 0.1])
    said = why(toro, STAND, step, box=box)
    assert "reaches 0.045 m over the edge of 'box'" in said


def test_a_foot_that_is_left_lying_is_refused(toro: Robot) -> None:
    said = why(toro, STAND, {"name": "one leg", "contacts": ["left sole"]})
    assert "'right sole' lies on the floor and neither bears nor moves" in said


def test_a_surface_that_nobody_put_anywhere_cannot_bear(toro: Robot) -> None:
    said = why(toro, STAND, {"name": "lean", "contacts": [*BOTH, "right palm"]})
    assert "'right palm' is to bear, but no earlier phase puts it on anything" in said
    first = why(toro, STAND | {"contacts": [*BOTH, "right palm"]})
    assert "nothing says where 'right palm' lies as the run starts" in first


def test_load_that_nothing_takes_over_is_refused(toro: Robot) -> None:
    shift = STAND | {"until": {"loaded": 0.9, "timeout_s": 3.0}}
    after = {"name": "hop", "contacts": ["left toe"], "move": {"right sole": {}}}
    assert "the next phase 'hop' keeps none of its contacts" in why(toro, shift, after)
