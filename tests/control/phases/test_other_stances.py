"""Sitting, kneeling and standing on hands: held as planned, and no fall where it is meant."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from balance.config import load_config
from balance.experiment import Experiment
from balance.recordings.falls import lost_posture
from balance.recordings.judging import judge
from balance.recordings.recording import Recording
from balance.recordings.verdict import Cause, Outcome
from balance.robots.sequence import PlannedPhase

COARSE = {"control_period_s": 0.004, "plant.step_s": 0.002, "duration_s": 1.0}
REST_N = 10.0
FLOOR = {"on": "floor"}
ACROSS = {"on": "floor", "yaw_rad": 1.5707963}
STANCES: dict[str, dict[str, Any]] = {
    "sit": {
        "contacts": ["left sole", "right sole", "left thigh", "right thigh"],
        "places": {
            "left thigh": {"on": "chair", "to_m": [-0.13, 0.135, 0.53]},
            "right thigh": {"on": "chair", "to_m": [-0.13, -0.135, 0.53]},
        },
    },
    "kneel": {
        "contacts": ["left sole", "right toe", "right knee"],
        "places": {
            "left sole": FLOOR | {"to_m": [0.35, 0.113, 0.0]},
            "right toe": ACROSS | {"to_m": [-0.52, -0.09, 0.0]},
            "right knee": ACROSS | {"to_m": [-0.04, -0.112, 0.0]},
        },
    },
    "handstand": {
        "contacts": ["left flat hand", "right flat hand"],
        "places": {
            "left flat hand": FLOOR | {"to_m": [0.3, 0.35, 0.0]},
            "right flat hand": FLOOR | {"to_m": [0.3, -0.35, 0.0]},
        },
    },
}
MOTIONS = {"sit": "toro_sit_stand", "kneel": "toro_kneel", "handstand": "toro_handstand"}
CASES = [(stance, engine) for stance in STANCES for engine in ("pinocchio", "mujoco")]


@cache
def held(stance: str, engine: str) -> tuple[PlannedPhase, Recording]:
    """A second in the stance of a motion, from rest in its posture."""
    config = load_config(MOTIONS[stance])
    hints = config.phases[-1].model_dump(include={"posture", "base_rpy_rad"})
    phase = {"name": stance, **STANCES[stance], **(hints if stance == "handstand" else {})}
    keys = COARSE | {"plant.engine": engine, "phases": [phase]}
    experiment = Experiment(load_config(MOTIONS[stance], keys))
    return experiment.phases[0], experiment.run()


@pytest.mark.parametrize(("stance", "engine"), CASES)
def test_a_stance_that_is_meant_is_no_fall(stance: str, engine: str) -> None:
    verdict = judge(held(stance, engine)[1])
    assert verdict.outcome is Outcome.RECOVERED, verdict.text


@pytest.mark.parametrize(("stance", "engine"), CASES)
def test_contacts_bear_what_the_static_posture_has_them_bear(stance: str, engine: str) -> None:
    planned, recording = held(stance, engine)
    for number, sole in enumerate(recording.robot.soles):
        measured = recording.contact_wrenches[-25:, number, :3]
        assert np.abs(measured - planned.wrenches[sole.name][:3]).max() < REST_N, sole.name


@pytest.mark.parametrize(("stance", "contact"), [("sit", "left thigh"), ("kneel", "right knee")])
def test_the_same_touch_is_a_fault_in_a_phase_that_keeps_the_contact_off(
    stance: str, contact: str
) -> None:
    recording = held(stance, "mujoco")[1]
    number = [sole.name for sole in recording.robot.soles].index(contact)
    assert recording.bearing is not None
    bearing = recording.bearing.copy()
    bearing[:, number] = 0.0
    verdict = judge(replace(recording, bearing=bearing))
    assert verdict.outcome is Outcome.UPRIGHT and verdict.cause is Cause.TOUCH
    assert contact in (verdict.text or "")


def test_upside_down_is_a_fall_unless_the_posture_is_meant_to_be() -> None:
    planned, recording = held("handstand", "mujoco")
    q, height = recording.q[-1], float(planned.robot.q_nominal[2])
    lost = lost_posture(q, height)
    assert lost is not None and lost[0] is Cause.TILT
    assert lost_posture(q, height, np.array([0.0, 0.0, -1.0])) is None
