"""Runs through stances in which not all is as it was told, and what a run may not build."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.control.parts.safety_frame import BalancingLaw
from balance.control.parts.support import Support
from balance.control.qp.wrenches import WrenchDistribution
from balance.experiment import Experiment
from balance.recordings.judging import judge
from balance.recordings.verdict import Outcome
from balance.robots.objects import WorldObject
from balance.simulation.plants import make_plant

COARSE = {"control_period_s": 0.004, "plant.step_s": 0.002}


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
@pytest.mark.parametrize("height", [0.14, 0.16])
def test_a_box_that_is_a_centimetre_off_is_climbed_all_the_same(height: float, engine: str) -> None:
    """The law is told 15 cm: both feet meet it late, or early, and it stands on it at the end."""
    config = load_config("toro_box", COARSE | {"plant.engine": engine, "duration_s": 13.0})
    experiment = Experiment(config)
    planned = experiment.robot.objects[0]
    place = pin.SE3(np.eye(3), np.array([*planned.pose.translation[:2], height]))
    true = WorldObject("box", place, planned.half_size, height)
    robot = replace(experiment.robot, objects=(true,))
    experiment.plant = make_plant(config.plant, robot)
    experiment.perception._plant = experiment.plant
    recording = experiment.run()
    assert judge(recording).outcome is Outcome.RECOVERED, judge(recording).text
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, recording.q[-1])
    for sole in robot.soles:
        assert sole.pose(data).translation[2] == pytest.approx(height, abs=2e-3)


@pytest.mark.parametrize("law", ["whole_body_qp", "hierarchical", "momentum"])
def test_nothing_is_built_anew_after_the_start(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Laws, what they know of their contacts, and their programs are made before the run."""
    keys = {"controller": {"law": law}, "duration_s": 6.0}
    experiment = Experiment(load_config("toro_lift_foot", COARSE | keys))
    made: list[str] = []

    def told(kind: type) -> None:
        plain = kind.__init__

        def init(self: Any, *args: Any, **more: Any) -> None:
            made.append(kind.__name__)
            plain(self, *args, **more)

        monkeypatch.setattr(kind, "__init__", init)

    for kind in (BalancingLaw, Support, WrenchDistribution):
        told(kind)
    recording = experiment.run()
    assert recording.phase is not None and recording.phase[-1] == 4
    assert made == []
    Experiment(load_config("toro_lift_foot", COARSE | keys))
    assert {"BalancingLaw", "Support", "WrenchDistribution"} <= set(made)


@pytest.mark.parametrize("name", ["toro_lift_foot", "toro_three_steps"])
def test_a_motion_ends_well_seen_through_sensors_and_an_estimate(name: str) -> None:
    duration = {"toro_lift_foot": 6.5, "toro_three_steps": 15.0}[name]
    keys = {"state": "estimated", "sensors": {"preset": "default"}, "duration_s": duration}
    recording = Experiment(load_config(name, COARSE | keys)).run()
    assert judge(recording).outcome is Outcome.RECOVERED, judge(recording).text
    assert recording.summary()["estimate_max_position_m"] < 0.005
