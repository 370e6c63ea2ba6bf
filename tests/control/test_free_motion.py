"""What contacts leave free where they close a chain, and which forces a motion starts from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.control.parts.free_motion import FreeMotion
from balance.control.parts.whole_body import WholeBody
from balance.robots import Robot, load_robot
from balance.robots.sequence import PlannedPhase, plan_phases

ASKEW_RAD = 1e-4  # what an encoder does not see


@pytest.fixture(scope="module")
def sitting() -> PlannedPhase:
    config = load_config("toro_sit_stand")
    config = config.model_copy(update={"phases": config.phases[:3]})
    return plan_phases(config, load_robot("toro"))[2]


def free_motion(robot: Robot, q: np.ndarray, planned: np.ndarray | None = None) -> FreeMotion:
    body = WholeBody(robot, 0.0)
    equations = body.at(q, np.zeros(robot.model.nv)).equations()
    weight = np.linspace(1.0, 2.0, len(equations.J))
    return FreeMotion(equations, weight, planned=planned)


def askew(robot: Robot) -> np.ndarray:
    step = np.zeros(robot.model.nv)
    step[6:] = ASKEW_RAD * np.random.default_rng(1).standard_normal(robot.model.nv - 6)
    return pin.integrate(robot.model, robot.q_nominal, step)


def test_who_sits_can_bend_at_the_hips_though_their_axes_are_not_quite_in_line(
    sitting: PlannedPhase,
) -> None:
    robot = sitting.robot
    exact, near = free_motion(robot, robot.q_nominal), free_motion(robot, askew(robot))
    assert near.n_y == exact.n_y
    pitches = [6 + robot.joint_names.index(f"{side}_hip_pitch") for side in ("left", "right")]
    for free in (exact, near):
        both = np.linalg.lstsq(free.Z[pitches], np.ones(2), rcond=None)[0]
        assert np.abs(free.Z[pitches] @ both - 1.0).max() < 1e-3


def test_two_feet_on_the_ground_keep_all_of_their_conditions(sitting: PlannedPhase) -> None:
    robot = replace(sitting.robot, soles=sitting.robot.soles[:2])
    free = free_motion(robot, askew(robot))
    assert free.n_y == robot.model.nv - 12


def test_at_rest_in_a_planned_posture_the_forces_are_the_planned_ones(
    sitting: PlannedPhase,
) -> None:
    robot = sitting.robot
    body = WholeBody(robot, 0.0)
    wrenches = np.array([sitting.wrenches[sole.name] for sole in robot.soles])
    planned = body.rows.stacked(wrenches)
    free = free_motion(robot, robot.q_nominal, planned)
    weight = robot.mass * 9.81
    assert np.abs(free.f_0 - planned).max() < 1e-4 * weight
    assert np.abs(free_motion(robot, robot.q_nominal).f_0 - planned).max() > 0.05 * weight


def test_planned_forces_change_nothing_of_what_forces_together_do(sitting: PlannedPhase) -> None:
    robot, rng = sitting.robot, np.random.default_rng(2)
    J = WholeBody(robot, 0.0).at(robot.q_nominal, np.zeros(robot.model.nv)).equations().J
    plain = free_motion(robot, robot.q_nominal)
    other = free_motion(robot, robot.q_nominal, 100.0 * rng.standard_normal(len(J)))
    assert np.abs(J[:, :6].T @ (other.f_0 - plain.f_0)).max() < 1e-9
    assert np.abs(other.f_0 - plain.f_0).max() > 1.0
