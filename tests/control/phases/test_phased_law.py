"""Runs through sequences of stances: shift the weight, lift a foot, put it back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.control.phases.phased_law import BLEND_S, STEEPEST
from balance.errors import ConfigError
from balance.experiment import Experiment
from balance.recordings.judging import judge
from balance.recordings.recording import Recording
from balance.recordings.verdict import Cause, EndKind, Outcome
from balance.robots.objects import WorldObject
from balance.simulation.plants import make_plant

COARSE = {"control_period_s": 0.004, "plant.step_s": 0.002}
REST_N = 10.0
RUNS = [
    ("pinocchio", "whole_body_qp", {}),
    ("mujoco", "whole_body_qp", {"controller.form": "quaternion"}),
    ("pinocchio", "hierarchical", {}),
]


@cache
def lifted(number: int) -> Recording:
    engine, law, more = RUNS[number]
    keys = {"plant.engine": engine, "controller.law": law, "duration_s": 6.5, **more}
    return Experiment(load_config("toro_lift_foot", COARSE | keys)).run()


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_a_foot_is_lifted_and_put_back(number: int) -> None:
    recording = lifted(number)
    assert judge(recording).outcome is Outcome.RECOVERED, judge(recording).text
    assert recording.phase is not None and recording.bearing is not None
    assert sorted(set(recording.phase.tolist())) == [0, 1, 2, 3, 4]
    off = recording.bearing[:, 1] == 0.0
    assert recording.sole_lift[off, 1].max() > 0.07
    assert (recording.bearing[:, 0] == 1.0).all()


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_contacts_bear_what_the_law_commands_at_rest_in_every_phase(number: int) -> None:
    """In the last tenth of a second of the phases that end at rest: all but the touch-down."""
    recording = lifted(number)
    assert recording.phase is not None
    for phase in (0, 2, 4):
        rows = np.flatnonzero(recording.phase == phase)[-25:]
        error = recording.wrenches[rows, :, :3] - recording.contact_wrenches[rows, :, :3]
        assert np.abs(error).max() < REST_N


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_torques_do_not_jump_where_one_law_takes_over_from_another(number: int) -> None:
    recording = lifted(number)
    assert recording.bearing is not None
    steps = np.abs(np.diff(recording.torques, axis=0)) / recording.robot.effort_limits
    period = recording.config.control_period_s
    changes = np.flatnonzero((np.diff(recording.bearing, axis=0) != 0.0).any(axis=1))
    assert len(changes) >= 4
    for row in changes:
        after = steps[row : row + round(BLEND_S / period)]
        assert after.max() <= STEEPEST * period + 1e-9


def test_slip_is_measured_from_the_last_touch_down() -> None:
    recording = lifted(0)
    assert recording.bearing is not None
    flying = recording.bearing[:, 1] == 0.0
    assert (recording.sole_slip[flying, 1] == 0.0).all()
    assert recording.sole_slip.max() < 0.01


def test_a_phase_that_does_not_end_in_time_says_what_it_waited_for() -> None:
    """The right foot is told to bear a thousand newtons before it counts as down."""
    config = load_config(
        "toro_lift_foot",
        COARSE | {"phases.3.until": {"touchdown_N": 5000.0, "timeout_s": 1.5}, "duration_s": 8.0},
    )
    end = Experiment(config).run().end
    assert end.kind is EndKind.ABORTED and end.cause is Cause.TIMED_OUT
    assert "phase 'lower'" in end.text and "right sole has not touched down" in end.text


@pytest.mark.parametrize("height", [0.13, 0.17])
def test_a_foot_that_meets_its_box_late_or_early_still_gets_up_there(height: float) -> None:
    """The box is 2 cm lower or higher than the law thinks; it has its first foot on it."""
    config = load_config("toro_box", COARSE | {"duration_s": 6.5})
    experiment = Experiment(config)
    planned = experiment.robot.objects[0]
    place = pin.SE3(np.eye(3), np.array([*planned.pose.translation[:2], height]))
    true = WorldObject("box", place, planned.half_size, height)
    robot = replace(experiment.robot, objects=(true,))
    experiment.plant = make_plant(config.plant, robot)
    experiment.perception._plant = experiment.plant
    recording = experiment.run()
    assert recording.phase is not None and recording.phase[-1] >= 3
    rows = recording.phase == 3
    assert recording.contact_wrenches[rows, 1, 2][-1] > 300.0
    assert np.linalg.norm(recording.com_error[rows], axis=1).max() < 0.03
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, recording.q[-1])
    assert robot.soles[1].pose(data).translation[2] == pytest.approx(height, abs=2e-3)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"controller": {"law": "capture"}}, "controller.law = 'capture' stands on the contacts"),
        ({"plant.contact": "welded"}, "plant.contact = welded holds them"),
        ({"ground": {"tilt_deg": [1.0, 0.0]}}, "remove ground"),
        ({"controller.setpoints": [{"time_s": 0, "duration_s": 1}]}, "remove setpoints"),
    ],
)
def test_what_does_not_go_with_phases_is_refused(keys: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        Experiment(load_config("toro_lift_foot", keys))
