"""A session by hand is an experiment that can be repeated, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import balance
from balance.app.live.session import Session, rehearse, repeatable
from balance.config import ExperimentConfig, GainsConfig
from balance.config.sections import push_config
from balance.experiment import LYING_S
from balance.recordings.log import Log
from balance.recordings.results import config_text
from balance.recordings.verdict import HOLD_S

PUSH = push_config(
    type="half_sine", direction=(0.3, 1.0, 0.0), time_s=0.0, impulse_Ns=9.0, duration_s=0.05
)


def short(name: str, **overrides: object) -> ExperimentConfig:
    return balance.load_config(name, overrides)


def advanced(session: Session, log: Log, rows: int) -> Log:
    for _ in range(rows):
        session.advance(log)
    return log


def repeated(session: Session, log: Log, folder: Path) -> balance.Recording:
    """The session's config, written, read and run."""
    path = folder / "session.yaml"
    path.write_text(config_text(repeatable(session.config, log.rows)), encoding="utf-8")
    return balance.run(balance.load_config(path))


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("toro_push", {}),
        ("toro_push", {"plant.step_s": 0.0005}),
        ("toro_push", {"control_period_s": 0.003, "controller.law": "ott2011"}),
        ("toro_push", {"sensors": {"preset": "default"}, "state": "estimated"}),
    ],
)
def test_its_config_repeats_pushes_and_gains_exactly(
    name: str, overrides: dict[str, object], tmp_path: Path
) -> None:
    session = Session(short(name, **overrides))
    log = Log(session.config.model_copy(update={"duration_s": 1.0}), session.experiment.robot)
    advanced(session, log, 37)
    session.push(PUSH, log)
    session.push(balance.load_config("toro_push").pushes[0], log)
    advanced(session, log, 41)
    session.change_gains(GainsConfig(K_P=(5000, 2500, 4000), K_D=(7, 4, 1), K_R=400, D=15))
    advanced(session, log, 30)
    session.change_gains(GainsConfig(K_P=3000, K_D=4, K_R=(300, 300, 100), D=10))
    advanced(session, log, 30)
    recording = repeated(session, log, tmp_path)
    n = log.rows
    assert len(session.config.pushes) == 2
    assert len(session.config.controller.gain_changes) == 1  # the second waits for the first
    assert np.abs(recording.com_error).max() > 1e-4  # m: the pushes did something
    for key in ("q", "v", "torques", "wrenches", "contact_wrenches", "push_force"):
        assert np.array_equal(getattr(recording, key)[:n], getattr(log, key)[:n]), key


def test_what_is_under_way_at_the_end_is_let_run_out_and_can_be_judged() -> None:
    session = Session(short("toro_push"))
    log = Log(session.config.model_copy(update={"duration_s": 0.1}), session.experiment.robot)
    advanced(session, log, 20)
    session.push(PUSH, log)
    advanced(session, log, 10)
    config = repeatable(session.config, log.rows)
    assert config.duration_s == pytest.approx(0.02 + 0.05 + HOLD_S + 0.001)
    assert config.stop_after_fall_s == LYING_S


def test_what_begins_after_the_end_is_left_out() -> None:
    """A push that came while the session was being saved is none of its rows'."""
    session = Session(short("toro_push"))
    log = Log(session.config.model_copy(update={"duration_s": 0.1}), session.experiment.robot)
    advanced(session, log, 20)
    session.push(PUSH, log)
    session.change_gains(GainsConfig(K_P=3000, K_D=4, K_R=300, D=10))
    advanced(session, log, 1)
    at_push, after = (repeatable(session.config, rows) for rows in (20, 21))
    assert at_push.duration_s == HOLD_S
    assert not at_push.pushes and not at_push.controller.gain_changes
    assert len(after.pushes) == len(after.controller.gain_changes) == 1


def test_a_push_on_an_unknown_body_changes_nothing() -> None:
    session = Session(short("toro_push"))
    log = Log(session.config.model_copy(update={"duration_s": 0.1}), session.experiment.robot)
    before = session.config
    with pytest.raises(balance.errors.ConfigError, match="no such body"):
        session.push(PUSH.model_copy(update={"body": "tail"}), log)
    assert session.config is before
    assert session.experiment.pushes == []


def test_a_rehearsal_leaves_no_trace_in_the_session_that_follows() -> None:
    def session_after(rehearsed: bool) -> Log:
        config = short("toro_capture")
        if rehearsed:
            rehearse(config)
        session = Session(config)
        log = Log(session.config.model_copy(update={"duration_s": 0.1}), session.experiment.robot)
        session.push(PUSH, log)
        return advanced(session, log, 100)

    plain, after = session_after(False), session_after(True)
    np.testing.assert_array_equal(after.q[:100], plain.q[:100])
    np.testing.assert_array_equal(after.torques[:100], plain.torques[:100])


def test_a_rehearsal_goes_through_two_pushes_and_keeps_errors_to_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pushed: list[tuple[int, tuple[float, ...]]] = []
    push = Session.push

    def watched(self: Session, item: Any, log: Log) -> None:
        pushed.append((log.rows, item.direction))
        push(self, item, log)

    monkeypatch.setattr(Session, "push", watched)
    rehearse(short("toro_push"))
    assert pushed == [(0, (0.0, 1.0, 0.0)), (400, (1.0, 0.0, 0.0))]

    def broken(self: Session, log: Log) -> bool:
        raise ZeroDivisionError

    monkeypatch.setattr(Session, "advance", broken)
    rehearse(short("toro_push"))
