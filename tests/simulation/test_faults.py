"""Faults in a run: what breaks is broken from its time on, and what is asked wrongly is refused."""

from __future__ import annotations

import numpy as np
import pytest

import balance
from balance.control import ControlStatus
from balance.errors import ConfigError
from balance.experiment import Experiment
from balance.recordings.demand import friction_use
from balance.recordings.recording import Recording

QUIET = {"duration_s": 0.25, "pushes": []}


def run(fault: dict[str, object], **overrides: object) -> Recording:
    config = balance.load_config("toro_push", {**QUIET, "faults": [fault], **overrides})
    return balance.run(config)


def test_during_a_dropout_the_law_is_blind_and_after_it_sees_again() -> None:
    recording = run({"type": "sensor_dropout", "time_s": 0.03, "duration_s": 0.02})
    blind = (recording.status & int(ControlStatus.BAD_STATE)) != 0
    expected = (recording.time > 0.0295) & (recording.time < 0.0495)
    np.testing.assert_array_equal(blind, expected)
    held = recording.torques[blind]
    assert (held == recording.torques[29]).all()


def test_a_locked_joint_does_not_move() -> None:
    push = [{"type": "half_sine", "direction": [1, 0, 0], "time_s": 0.0, "impulse_Ns": 10}]
    push[0]["duration_s"] = 0.02
    recording = run(
        {"type": "locked_joint", "joint": "left_knee", "time_s": 0.05}, pushes=push, duration_s=0.3
    )
    knee = 7 + recording.robot.joint_names.index("left_knee")
    before, after = recording.q[:51, knee], recording.q[51:, knee]
    assert np.ptp(after) < 1e-4 < np.ptp(before)


def test_a_weak_joint_gives_no_more_than_it_can() -> None:
    """The measured contact forces are those of a robot whose knee has the torque that is left."""
    sound, weak = (
        run({"type": "weak_joint", "joint": "left_knee", "torque_Nm": torque, "time_s": 0.05})
        for torque in (1000.0, 5.0)
    )
    np.testing.assert_array_equal(sound.q[:51], weak.q[:51])
    assert np.abs(sound.v[-1] - weak.v[-1]).max() > 0.1


def test_ground_turns_slippery_under_one_sole_alone() -> None:
    push = {"type": "half_sine", "direction": [0, 1, 0], "time_s": 0.0, "impulse_Ns": 12}
    push["duration_s"] = 0.1
    fault = {"type": "slippery", "surface": "left sole", "friction": 0.02, "time_s": 0.02}
    recording = run(fault, pushes=[push], duration_s=0.35)
    use = friction_use(recording)[25:] * recording.config.plant.friction
    assert np.nanmax(use[:, 0]) < 0.02 + 1e-6 < np.nanmax(use[:, 1])


def test_a_reset_mends_everything() -> None:
    fault = {"type": "slippery", "surface": "left sole", "friction": 0.02}
    locked = {"type": "locked_joint", "joint": "left_knee"}
    config = balance.load_config("toro_push", {**QUIET, "faults": [fault, locked]})
    plant = Experiment(config).plant
    torques = np.zeros(plant.robot.model.nv - 6) if hasattr(plant, "robot") else np.zeros(27)
    plant.step(torques)
    assert plant.joint_damping.max() > 1e5
    plant.reset(plant.q, plant.v)
    assert plant.joint_damping.max() == 1.0


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"type": "weak_joint", "joint": "knee", "torque_Nm": 1}, "no such joint"),
        ({"type": "locked_joint", "joint": "left_kne"}, "did you mean 'left_knee'"),
        ({"type": "slippery", "surface": "hand", "friction": 1}, "bears no load"),
        ({"type": "slippery", "surface": "left sole", "friction": -1}, "greater than 0"),
        ({"type": "sensor_dropout", "time_s": 0.1}, "duration_s' is missing"),
        ({"type": "explosion"}, "is unknown"),
    ],
)
def test_faults_that_make_no_sense_are_refused(fault: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Experiment(balance.load_config("toro_push", {**QUIET, "faults": [fault]}))
