"""A session as the page knows it: its end in words."""

from __future__ import annotations

from pathlib import Path

import pytest

import balance
from balance.app.live.messages import Started
from balance.app.live.running import Running
from balance.app.live.shared_log import ROWS, SharedLog
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.recordings.verdict import Cause, RunEnd, aborted


@pytest.fixture
def fallen(tmp_path: Path) -> Running:
    """A session that was pushed over."""
    push = {"type": "impulse", "direction": [0, 1, 0], "time_s": 0.01, "impulse_Ns": 150.0}
    config = balance.load_config(
        "toro_push", {"pushes": [push], "duration_s": 2.0, "stop_after_fall_s": 0.2}
    )
    experiment = Experiment(config)
    (tmp_path / "log").touch()
    shared = SharedLog(tmp_path / "log", config, experiment.robot, writable=True)
    log: Log = shared.log
    while not experiment.advance(log):
        pass
    shared.header[ROWS] = log.rows
    running = Running(Started(config, tmp_path / "log"))
    running.end = experiment.end
    return running


def test_a_fall_says_what_failed_and_what_was_at_its_limit(fallen: Running, tmp_path: Path) -> None:
    words = fallen.verdict()
    assert words.startswith("The robot fell at 0.")
    assert "the contacts could not give the wanted wrench for" in words
    assert "Reset begins anew" in words
    assert not (tmp_path / "log").exists()  # nothing is left behind
    figures = dict(fallen.figures())
    assert figures["last push"].startswith("150.0 N s")


def test_other_ends_have_their_words(fallen: Running) -> None:
    fallen.end = aborted(Cause.ERROR, "ZeroDivisionError: a law went wrong")
    assert fallen.verdict() == "Paused: ZeroDivisionError: a law went wrong. Reset begins anew."
    fallen.end = RunEnd()
    assert "recording is full" in fallen.verdict()
