"""Six indicators side by side: the same report from the same answers, whoever ran them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from balance.studies.protocols import side_by_side
from balance.studies.protocols.side_by_side import SIX, run_side_by_side, table
from balance.studies.workers import INDICATOR, Result, Task

LAWS = ("momentum", "capture")
STRENGTH = {"momentum": 1.0, "capture": 1.3}


def answer(task: Task) -> dict[str, Any]:
    """A run that falls above a size that differs by law and by kind of motion."""
    motion, law = task.config["pendulum"]["motion"], task.config["controller"]["law"]
    key, limit = {
        "fall": ("energy_J", 10.0),
        "sine_force": ("amplitude_N", 90.0),
        "sine_angle": ("amplitude_deg", 2.0),
    }.get(motion["type"], ("", 0.0))
    strength = STRENGTH[law]
    ramp = motion["type"].startswith("ramp")
    good = not ramp and motion[key] <= strength * limit
    size = motion.get(key, 0.0)
    figures = {
        "impulse_Ns": 2.0 * size, "return_J": 0.1 * size, "friction_J": 0.0, "pad_J": 0.0,
        "steady_force_N": 80.0 * strength, "way_m": 0.05 * strength, "force_amplitude_N": size,
        "way_amplitude_m": 0.01 * size, "stiffness_N_m": 1.0, "damping_Ns_m": 1.0,
    }  # fmt: skip
    outcome = "recovered" if good else "fell"
    return {"outcome": outcome, **{f"{INDICATOR}{name}": x for name, x in figures.items()}}


class InPlace:
    """A runner without workers."""

    def __init__(self, study: Any, folder: Any, client: Any, report: Any) -> None:
        self.study, self.folder = study, folder

    def run(self, first: Task) -> None:
        task: Task | None = first
        while task is not None:
            row = self.study.row(task, Result(answer(task)))
            self.folder.append(row)
            self.study.take(row)
            task = self.study.next_task()


class NoWorkers:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_the_report_is_identical_when_it_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "Runner", InPlace)
    monkeypatch.setattr(side_by_side, "workers", lambda *_: NoWorkers())
    values = run_side_by_side("toro", LAWS, "pinocchio", tmp_path / "a")
    again = run_side_by_side("toro", LAWS, "pinocchio", tmp_path / "b")
    assert values == again
    for name in ("side_by_side.md", "side_by_side.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    expected = [20.0, 90.0, 20.0, 80.0, 50.0, 90.0]
    assert values["momentum"] == pytest.approx(expected, rel=1e-4)
    assert values["capture"][0] == 24.0  # 12 J is the last rung below 13
    head, rows = table(values)
    assert len(head) == 1 + len(SIX) == 7
    assert [row[0] for row in rows] == list(LAWS)
    # A second call finds all runs finished, and starts no workers.
    monkeypatch.setattr(side_by_side, "workers", None)
    assert run_side_by_side("toro", LAWS, "pinocchio", tmp_path / "a") == values
