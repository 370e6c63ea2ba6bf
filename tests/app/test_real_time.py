"""Runs by the clock: what they keep, what a late answer does, and whose fault it was."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from balance.app.cli import app
from balance.app.real_time import RealTimeRun
from balance.config import load_config
from balance.control import make_controller
from balance.experiment import Experiment

PERIOD = 0.002
CONFIG = {
    "robot": "toro",
    "duration_s": 0.4,
    "control_period_s": PERIOD,
    "plant": {"step_s": PERIOD},
    "controller": {"law": "momentum"},
    "pushes": [
        {"type": "impulse", "impulse_Ns": 5.0, "direction": [0.0, 1.0, 0.0], "time_s": 0.02}
    ],
}


class Watch:
    """A clock that only passes when it is told to; a look at it takes a microsecond."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        self.time += 1e-6
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def paced(
    slow: Callable[[int, Watch], None] = lambda row, watch: None,
    worked: Callable[[Watch], float] = lambda watch: watch.time,
) -> tuple[Any, RealTimeRun]:
    """A run by a watch; ``slow`` is called in every control step with its number.

    ``worked`` says for how long the law had a core, all the time if not given.
    """
    watch = Watch()

    class Slow:
        def __init__(self, inside: Any) -> None:
            self.inside = inside

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inside, name)

        def step(self, q: Any, v: Any, t: float) -> Any:
            output = self.inside.step(q, v, t)
            slow(round(t / PERIOD), watch)
            return output

    experiment = Experiment(
        load_config(CONFIG), make_law=lambda config, robot: Slow(make_controller(config, robot))
    )
    run = RealTimeRun(experiment, watch.now, watch.sleep, lambda: worked(watch))
    return run.run(), run


def test_a_run_without_misses_is_the_run_without_a_clock() -> None:
    recording, run = paced()
    free = Experiment(load_config(CONFIG)).run()
    np.testing.assert_array_equal(recording.q, free.q)
    np.testing.assert_array_equal(recording.torques, free.torques)
    facts = run.timing.facts()
    assert facts["deadline_misses"] == 0
    assert facts["periods"] == len(recording.time)
    assert sum(facts["wake_up"]["counts"]) == sum(facts["step"]["counts"]) == len(recording.time)


def test_a_late_answer_is_not_used_and_the_last_torques_stay() -> None:
    """An answer after 3.5 periods: four ticks get theirs too late, the fifth is in time again."""

    def slow(row: int, watch: Watch) -> None:
        watch.time += 3.5 * PERIOD if row == 30 else 0.0

    recording, run = paced(slow)
    held = recording.torques[29]
    for row in (30, 31, 32):
        np.testing.assert_array_equal(recording.torques[row], held)
    assert np.abs(recording.torques[33] - held).max() > 1e-3
    assert run.timing.misses == {"the step itself": 1, "behind": 2}
    free = Experiment(load_config(CONFIG)).run()
    np.testing.assert_array_equal(recording.q[:31], free.q[:31])
    assert np.abs(recording.q[32] - free.q[32]).max() > 0.0


def test_a_search_for_garbage_is_told_as_the_cause() -> None:
    def slow(row: int, watch: Watch) -> None:
        if row == 10:
            gc.collect()
            watch.time += 1.5 * PERIOD

    _, run = paced(slow)
    assert run.timing.misses["garbage"] == 1


def test_time_that_others_had_is_the_schedulers() -> None:
    def slow(row: int, watch: Watch) -> None:
        watch.time += 1.5 * PERIOD if row == 10 else 0.0

    _, run = paced(slow, worked=lambda watch: 0.0)
    assert run.timing.misses == {"scheduler": 1}


def test_a_run_that_is_far_behind_lets_the_time_go() -> None:
    def slow(row: int, watch: Watch) -> None:
        watch.time += 0.5 if row == 10 else 0.0

    _, run = paced(slow)
    assert run.timing.lost_s == pytest.approx(0.5, abs=0.01)
    assert run.timing.misses.total() == 1


def test_the_command_writes_what_the_clock_saw(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["run", "toro_side", "--real-time", "--no-figures", "--out", str(out)]
    keys = {"duration_s": 0.3, "control_period_s": 0.01, "plant.step_s": 0.01, "pushes": "[]"}
    for key, value in keys.items():
        words += ["--set", f"{key}={value}"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "deadline misses in 30 periods" in result.output
    facts = json.loads((out / "real_time.json").read_text())
    assert facts["periods"] == 30
    assert sum(facts["misses_by_cause"].values()) == facts["deadline_misses"]
