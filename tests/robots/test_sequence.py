"""Phases in sequence: static postures, found for each."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.robots import Robot, load_robot
from balance.robots.sequence import PlannedPhase, plan_phases, union_robot

LIFT = {
    "robot": "toro",
    "duration_s": 12.0,
    "controller": {"law": "whole_body_qp"},
    "phases": [
        {"name": "stand", "contacts": ["left sole", "right sole"], "until": {"time_s": 0.5}},
        {
            "name": "shift",
            "contacts": ["left sole", "right sole"],
            "until": {"loaded": 0.95, "timeout_s": 4.0},
        },
        {
            "name": "lift",
            "contacts": ["left sole"],
            "move": {"right sole": {"by_m": [0.0, 0.0, 0.1]}},
            "until": {"time_s": 1.5},
        },
        {"name": "hold", "contacts": ["left sole"]},
    ],
}


@pytest.fixture(scope="module")
def toro() -> Robot:
    return load_robot("toro")


@pytest.fixture(scope="module")
def lift(toro: Robot) -> tuple[PlannedPhase, ...]:
    return plan_phases(load_config(LIFT), toro)


def test_surfaces_are_where_a_phase_has_them(lift: tuple[PlannedPhase, ...]) -> None:
    for phase in lift:
        model, data = phase.robot.model, phase.robot.model.createData()
        pin.framesForwardKinematics(model, data, phase.robot.q_nominal)
        assert [sole.name for sole in phase.robot.soles] == list(phase.placements)
        for sole in phase.robot.soles:
            assert sole.pose(data).isApprox(phase.placements[sole.name], 1e-9)


def test_the_com_is_over_the_foot_that_will_bear_before_the_other_leaves(
    lift: tuple[PlannedPhase, ...],
) -> None:
    shift = lift[1]
    assert shift.kept == ("left sole",)
    sole = shift.placements["left sole"].actInv(shift.robot.com())
    assert np.abs(sole[:2]).max() < 0.03  # m; the sole is 0.19 m x 0.095 m


def test_a_limb_that_moves_is_at_its_goal_in_the_posture_and_stays_there(
    lift: tuple[PlannedPhase, ...],
) -> None:
    (move,) = lift[2].moves
    assert move.surface == "right sole" and move.on is None
    assert np.allclose(move.goal.translation - move.start.translation, [0.0, 0.0, 0.1], atol=1e-9)
    sole = next(s for s in lift[3].robot.surfaces if s.name == "right sole")
    data = lift[3].robot.model.createData()
    pin.framesForwardKinematics(lift[3].robot.model, data, lift[3].robot.q_nominal)
    assert sole.pose(data).isApprox(move.goal, 1e-9)


def test_the_robot_of_all_phases_has_every_surface_that_bears(
    lift: tuple[PlannedPhase, ...],
) -> None:
    union = union_robot(lift)
    assert [sole.name for sole in union.soles] == ["left sole", "right sole"]
    assert np.array_equal(union.q_nominal, lift[0].robot.q_nominal)
