"""One run on a worker: whatever happens becomes a row."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import balance.experiment
from balance.config import load_config
from balance.experiment import run
from balance.recordings.results import load_recording
from balance.recordings.summary import flatten
from balance.studies.workers import TIMING, Task, execute


def task(short: dict[str, Any], **changes: Any) -> Task:
    config = load_config("toro_push", short)
    options: dict[str, Any] = {"timeout_s": 60.0, **changes}
    return Task("3", config.model_dump(mode="json", exclude_none=True), "cell 3", **options)


def test_a_row_has_all_metrics_of_the_run(short: dict[str, Any]) -> None:
    expected = flatten(run(load_config("toro_push", short)).summary())
    columns = dict(execute(task(short)).columns)
    assert columns.pop("error") is None
    assert {k: v for k, v in columns.items() if k not in TIMING} == {
        k: v for k, v in expected.items() if k not in TIMING
    }
    assert set(TIMING) <= set(columns)
    assert columns["wall_time_s"] > 0.0
    assert columns["cpu_time_s"] > 0.0  # of another clock: no order between the two is promised


def test_summaries_are_flattened_by_name_and_axis() -> None:
    nested = {
        "cause": None, "law": "momentum", "peak_com_error_axes_m": [1, 2, 3],
        "joints_at_stop_s": {"knee": 2.0, "hip": 1.0}, "pushes": [{"body": "hip"}],
        "settling_time_s": {"10": 1.0, "5": 2.0, "2": None}, "limited_by_s": {},
    }  # fmt: skip
    assert flatten(nested) == {
        "cause": None, "law": "momentum", "peak_com_error_axes_m_x": 1,
        "peak_com_error_axes_m_y": 2, "peak_com_error_axes_m_z": 3, "joint_at_stop": "knee",
        "joint_at_stop_s": 2.0, "settling_time_s_10": 1.0, "settling_time_s_5": 2.0,
        "settling_time_s_2": None, "limited_by": None,
    }  # fmt: skip


def test_a_run_that_takes_too_long_is_a_row_with_its_error(short: dict[str, Any]) -> None:
    columns = execute(task({**short, "duration_s": 5.0}, timeout_s=1e-3)).columns
    assert columns["outcome"] == "error"
    assert "longer than timeout_s = 0.001 s" in columns["error"]


def test_a_config_that_fails_on_the_worker_is_a_row_with_its_error(short: dict[str, Any]) -> None:
    columns = execute(task({**short, "robot": "asimo"})).columns
    assert columns["outcome"] == "error"
    assert "unknown robot 'asimo'" in columns["error"]


def test_a_crash_is_a_row_that_says_where(
    short: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(balance.experiment, "run", broken)
    columns = execute(task(short)).columns
    assert columns["outcome"] == "error"
    assert columns["error"].startswith("ZeroDivisionError at test_workers.py:")


def test_only_chosen_outcomes_travel_as_recordings(short: dict[str, Any], tmp_path: Path) -> None:
    outcome = execute(task(short)).columns["outcome"]
    assert execute(task(short)).recording is None
    assert execute(task(short, keep=("aborted",))).recording is None
    packed = execute(task(short, keep=(outcome,))).recording
    assert packed is not None
    zipfile.ZipFile(io.BytesIO(packed)).extractall(tmp_path / "run")
    recording = load_recording(tmp_path / "run")
    np.testing.assert_array_equal(recording.q, run(load_config("toro_push", short)).q)
