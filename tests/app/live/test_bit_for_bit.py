"""Whatever the config says, a session and the run that repeats it are the same to the last bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_samples import Scratch

import balance
from balance.app.live.panel_settings import PanelSettings
from balance.app.live.saving import recording_of, save_config
from balance.app.live.session import Session, repeatable
from balance.config import LAWS, GainsConfig
from balance.config.paths import data_folder
from balance.config.schema import load_yaml_mapping
from balance.config.sections import push_config
from balance.control.parts.output import ControlStatus
from balance.errors import ConfigError

SIGNALS = (
    "time", "q", "v", "torques", "wrenches", "contact_wrenches", "push_force", "status", "shortfall"
)  # fmt: skip
PUSH = push_config(
    type="half_sine", direction=(0.3, 1.0, 0.0), time_s=0.0, impulse_Ns=3.0, duration_s=0.02
)
HARD_PUSH = PUSH.model_copy(update={"impulse_Ns": 300.0})
SOFT = GainsConfig.model_validate(
    {name: {"frequency_hz": 0.8, "damping_ratio": 0.6} for name in ("com", "rotation")}
)


def shipped() -> list[str]:
    """The experiments that come with the package; studies are many of them."""
    files = sorted(data_folder("configs").glob("*.yaml"))
    return [path.stem for path in files if "experiment" not in load_yaml_mapping(path)]


# What no shipped config has, or has only later than a short session lasts.
SECTIONS: dict[str, dict[str, Any]] = {
    "sensors": {"sensors": {"preset": "default", "delay_s": 0.0035}},
    "late sensors": {"sensors": {"delay_s": 0.4}},
    "estimator": {"sensors": {"preset": "default"}, "state": "estimated"},
    "dropout": {"faults": [{"type": "sensor_dropout", "time_s": 0.03, "duration_s": 0.02}]},
    "dropout behind sensors": {
        "faults": [{"type": "sensor_dropout", "time_s": 0.03, "duration_s": 0.02}],
        "sensors": {"preset": "default"},
        "state": "estimated",
        "seed": 3,
    },
    "broken joints and ground": {
        "faults": [
            {"type": "weak_joint", "joint": "left_knee", "torque_Nm": 60.0, "time_s": 0.03},
            {"type": "locked_joint", "joint": "right_knee", "time_s": 0.04},
            {"type": "slippery", "surface": "left sole", "friction": 0.2, "time_s": 0.05},
        ]
    },
    "actuators": {"actuators": {"lag_s": 0.003, "dropped_share": 0.2}, "seed": 5},
    "mismatch": {"mismatch": {"mass_scale": 1.07}},
    "moving ground": {
        "ground.motion": [
            {"type": "swing", "start_s": 0.02, "frequency_hz": 5.0, "translation_m": [0.01, 0, 0]}
        ]
    },
    "setpoints": {
        "controller.setpoints": [{"time_s": 0.02, "duration_s": 0.1, "com_m": [0.01, 0.01, -0.02]}]
    },
    "steps within a period": {"plant.step_s": 0.0005},
    "rounded periods": {"control_period_s": 0.003, "plant.step_s": 0.001},
    "soft ground": {"plant.contact": "soft"},
    "welded": {"plant.contact": "welded"},
    "mujoco": {"plant.engine": "mujoco"},
    "moving ground in mujoco": {
        "plant.engine": "mujoco",
        "ground.motion": [
            {"type": "ramp", "start_s": 0.3, "duration_s": 0.2, "translation_m": [0.02, 0, 0]}
        ],
    },
} | {law: {"controller": {"law": law}} for law in LAWS.ready()}


def driven(config: balance.ExperimentConfig) -> Scratch:
    """A session of 80 periods with two pushes and other gains, the last push still under way."""
    scratch = Scratch(Session(config))
    scratch.advance(10)
    scratch.session.change_gains(SOFT)
    scratch.advance(12)
    scratch.push(PUSH)
    scratch.advance(45)
    scratch.push(PUSH)
    return scratch.advance(13)


def check_repeated(scratch: Scratch, folder: Path) -> balance.Recording:
    """The session's config, saved as the page does, read and run, gives the session's log."""
    path = save_config(scratch.snapshot(), folder, "session")
    again, log = balance.run(balance.load_config(path)), scratch.log
    assert again.time.size >= log.rows
    for name in SIGNALS:
        mine, theirs = getattr(log, name)[: log.rows], getattr(again, name)[: log.rows]
        assert np.array_equal(mine, theirs), name
    assert again.conflict == scratch.session.experiment.conflict
    assert np.abs(log.push_force[: log.rows]).max() > 0.0  # N
    return again


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_config_is_repeated(name: str, tmp_path: Path) -> None:
    config = balance.load_config(name)
    if config.phases:
        with pytest.raises(ConfigError, match="an experiment with phases is no session"):
            driven(config)
        return
    check_repeated(driven(config), tmp_path)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_of_a_config_is_repeated(section: str, tmp_path: Path) -> None:
    check_repeated(driven(balance.load_config("toro_push", SECTIONS[section])), tmp_path)


@pytest.mark.parametrize("law", LAWS.ready())
def test_a_session_under_another_law_is_repeated(law: str, tmp_path: Path) -> None:
    settings = PanelSettings(balance.load_config("toro_damped", SECTIONS["dropout"]))
    settings.choose("law", law)
    check_repeated(driven(settings.config()), tmp_path)


@pytest.mark.parametrize("section", ["dropout", "dropout behind sensors"])
def test_a_session_is_blind_for_as_long_as_the_file_says(section: str) -> None:
    log = driven(balance.load_config("toro_push", SECTIONS[section])).log
    blind = (log.status[: log.rows] & int(ControlStatus.BAD_STATE)) != 0
    assert list(np.flatnonzero(blind)) == list(range(30, 50))  # rows of 1 ms


@pytest.mark.parametrize("changes", [0, 1])
def test_a_conflict_is_told_whether_or_not_gains_change(changes: int, tmp_path: Path) -> None:
    scratch = Scratch(Session(balance.load_config("toro_push", SECTIONS["whole_body_qp"])))
    if changes:
        scratch.session.change_gains(SOFT)
    scratch.advance(5)
    scratch.push(HARD_PUSH)
    scratch.advance(40)
    again = check_repeated(scratch, tmp_path)
    assert "cannot be kept together" in again.conflict
    assert len(again.config.controller.gain_changes) == changes
    assert recording_of(scratch.snapshot()).conflict == again.conflict


def test_a_saved_run_of_an_estimated_state_has_the_session_s_rows() -> None:
    scratch = driven(balance.load_config("toro_push", SECTIONS["estimator"]))
    saved = recording_of(scratch.snapshot())
    assert saved.time.size == scratch.log.rows
    assert np.array_equal(saved.q, scratch.log.q[: scratch.log.rows])
    assert saved.estimation is not None and len(saved.estimation) == scratch.log.rows


def test_a_session_saved_before_the_ground_moves_is_an_experiment(tmp_path: Path) -> None:
    """The schema asks that all moves begin within the run: it is made long enough."""
    scratch = Scratch(Session(balance.load_config("toro_shaking")))
    scratch.advance(5)
    path = save_config(scratch.snapshot(), tmp_path, "early")
    config = balance.load_config(path)
    assert config.ground == balance.load_config("toro_shaking").ground
    assert repeatable(scratch.session.config, 5).duration_s == pytest.approx(3.001)
