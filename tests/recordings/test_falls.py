"""Falls: what counts as one, and what it is said to have begun with."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import balance
from balance.recordings.falls import find_fall, lost_posture
from balance.recordings.judging import judge
from balance.recordings.results import load_recording, save_recording
from balance.recordings.verdict import Cause, EndKind, RunEnd, aborted
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

HEIGHT = 0.9


def lying(angle: float) -> np.ndarray:
    q = np.zeros(7)
    q[2] = HEIGHT
    q[3:7] = np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2)
    return q


@pytest.mark.parametrize(("degrees", "fallen"), [(0, False), (59, False), (61, True), (180, True)])
def test_posture_is_lost_beyond_sixty_degrees_of_tilt(degrees: float, fallen: bool) -> None:
    lost = lost_posture(lying(np.radians(degrees)), HEIGHT)
    assert (lost is not None) == fallen
    assert lost is None or lost[0] == "tilt"


def test_posture_is_lost_below_sixty_percent_of_the_height() -> None:
    q = lying(0.0)
    q[2] = 0.61 * HEIGHT
    assert lost_posture(q, HEIGHT) is None
    q[2] = 0.59 * HEIGHT
    lost = lost_posture(q, HEIGHT)
    assert lost is not None and lost[0] == "height"


def run(**overrides: object) -> balance.Recording:
    base = {"duration_s": 2.0, "pushes.0.time_s": 0.05}
    return balance.run(balance.load_config("toro_side", base | overrides))


def test_a_strong_push_makes_the_robot_leave_its_support() -> None:
    fall = find_fall(run(**{"pushes.0.energy_J": 150}))
    assert fall is not None and fall.cause == "left support"
    assert fall.text.startswith("the CoM left the support at ") and ", then the base" in fall.text


def test_on_ice_a_fall_begins_with_a_slip() -> None:
    # Most of the weight is on wet ice, which a law that counts on friction does not know.
    fall = find_fall(run(**{"plant.friction": 0.02, "pushes.0.energy_J": 20}))
    assert fall is not None and fall.cause == "slip"
    assert "sole slipped by 20 mm" in fall.text


def test_legs_without_torque_give_way_downwards() -> None:
    """The CoM sinks over the soles: no slip, no way out of the support, no tilt."""
    recording = run(pushes=[])
    q = recording.q.copy()
    q[:, 2] -= 0.5 * np.linspace(0.0, q[0, 2], len(q)) / q[0, 2] * q[0, 2]
    object.__setattr__(recording, "q", q)
    sank = RunEnd(EndKind.FELL, 2.0, Cause.HEIGHT, "the base sank below 60 % of its height")
    object.__setattr__(recording, "end", sank)
    fall = find_fall(recording)
    assert fall is not None and fall.cause == "height" and fall.time_s == 2.0


def _breaks_at(plain_step: Callable[..., None], count: int) -> Callable[..., None]:
    """A simulation step that leaves the world of numbers after ``count`` times."""

    def step(self: PinocchioPlant, *arguments: object) -> None:
        plain_step(self, *arguments)
        if round(self.time / self.dt) == count:
            self.v = self.v * np.nan

    return step


def test_divergence_ends_a_run_as_aborted_and_its_last_states_can_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(PinocchioPlant, "step", _breaks_at(PinocchioPlant.step, 251))
    recording = run(pushes=[])
    assert recording.end == aborted(
        Cause.DIVERGED, "the simulation diverged in the period from 0.25 s", 0.25
    )
    folder = save_recording(recording, tmp_path / "run")
    again = load_recording(folder)
    assert len(again.time) == 251 and np.isfinite(again.q[-200:]).all()
    assert (again.q == recording.q).all() and (again.torques == recording.torques).all()
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["outcome"] == "aborted" and "diverged" in summary["cause"]
    assert judge(again).outcome == "aborted"


def test_a_study_keeps_the_last_200_states_of_an_aborted_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from balance.studies.workers import Task, execute

    monkeypatch.setattr(PinocchioPlant, "step", _breaks_at(PinocchioPlant.step, 251))
    config = balance.load_config("toro_side", {"duration_s": 0.4, "pushes": []})
    result = execute(Task("0", config.model_dump(mode="json", exclude_none=True), "cell", 60.0))
    assert result.columns["outcome"] == "aborted" and result.recording is not None
    with zipfile.ZipFile(io.BytesIO(result.recording)) as archive:
        archive.extractall(tmp_path)
    assert len(load_recording(tmp_path).time) == 200
