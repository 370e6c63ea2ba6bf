"""The table of signals drives log, recording, file, size and docs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from balance import experiment
from balance.config import load_config
from balance.experiment import run
from balance.recordings import results, signals
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording, save_recording
from balance.recordings.signals import SIGNALS, Origin, Signal, signals_table
from balance.recordings.size import recording_bytes
from balance.robots import load_robot

PAGE = Path(__file__).parents[2] / "docs" / "recordings.md"


@pytest.mark.parametrize("name", ["toro", "solo12"])
def test_the_columns_of_a_signal_are_as_many_as_its_row_has_numbers(name: str) -> None:
    robot = load_robot(name)
    every = [column for signal in SIGNALS for column in signal.columns(robot)]
    assert len(set(every)) == len(every)
    for signal in SIGNALS:
        assert len(signal.columns(robot)) == signal.row_size(robot), signal.name


def test_every_array_of_a_recording_is_in_the_table() -> None:
    arrays = {field.name for field in fields(Recording) if "Array" in str(field.type)}
    assert arrays == {signal.name for signal in SIGNALS if signal.origin is not Origin.SIGNALS}


@dataclass(frozen=True, kw_only=True, eq=False)
class _WithPower(Recording):
    power: Any = None


def test_a_new_signal_is_one_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Mechanical power of the joints, from the loop to the file and back."""
    entry = Signal(
        "power of the joints", (), lambda robot: {"power": "W"}, Origin.LOOP,
        take=lambda t, q, v, output: output.torques @ v[6:], name="power",
    )  # fmt: skip
    config, robot = load_config("toro_push", {"duration_s": 0.4, "pushes": []}), load_robot("toro")
    before = recording_bytes(config, robot)
    monkeypatch.setattr(signals, "SIGNALS", (*SIGNALS, entry))
    monkeypatch.setattr(experiment, "Recording", _WithPower)
    monkeypatch.setattr(results, "Recording", _WithPower)
    recorded = run(config)
    expected = np.einsum("ij,ij->i", recorded.torques, recorded.v[:, 6:])
    np.testing.assert_allclose(recorded.power, expected, atol=1e-12)  # type: ignore[attr-defined]
    folder = save_recording(recorded, tmp_path / "result")
    field = pq.read_schema(folder / "log.parquet").field("power")
    assert field.metadata == {b"unit": b"W"}
    assert load_recording(folder).power.tobytes() == recorded.power.tobytes()  # type: ignore[attr-defined]
    assert recording_bytes(config, robot) == before + 8 * config.n_periods
    assert "| `power` | 1 | W | power of the joints | the loop | `power` |" in signals_table(robot)


def test_the_docs_have_the_table_of_signals() -> None:
    assert signals_table(load_robot("toro")) in PAGE.read_text(encoding="utf-8")
