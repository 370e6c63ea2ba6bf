"""The command ``balance compare``, on a worker of its own."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from balance.app.cli import main
from balance.recordings.results import load_recording


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Exit code of ``balance compare`` with these arguments."""
    monkeypatch.setattr(sys, "argv", ["balance", "compare", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_a_comparison_writes_its_tables_figure_and_recordings(
    tmp_path: Path,
    short: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    limits = {"directions": {"azimuth_deg": [90.0]}, "tolerance": 0.4, "largest": 1.0}
    study = {
        "experiment": "toro_push",
        "set": short,
        "laws": ["momentum", "virtual_model"],
        "limits": limits,
    }
    file, out = tmp_path / "two.yaml", tmp_path / "out"
    file.write_text(yaml.safe_dump(study))
    arguments = (str(file), "--out", str(out), "--workers", "1")
    assert command(monkeypatch, *arguments) == 0
    shown = capsys.readouterr().out
    for part in ("virtual_model", "CoM, largest error [mm]", "largest push to left", "p99"):
        assert part in shown
    files = {"compare.md", "compare.csv", "compare.png", "limits.csv", "runs.parquet"}
    assert files <= {path.name for path in out.iterdir()}
    rows = {row["name"]: row for row in csv.DictReader((out / "compare.csv").open())}
    for name, row in rows.items():
        summary = load_recording(out / "recordings" / name).summary()
        assert summary["law"] == row["law"] == name
        assert float(row["torque_effort_N2m2s"]) == pytest.approx(summary["torque_effort_N2m2s"])
    log = (out / "runs.log").read_bytes()
    assert command(monkeypatch, *arguments) == 0  # nothing is left to run, no worker is started
    assert (out / "runs.log").read_bytes() == log


def test_bad_input_is_one_sentence_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    for arguments, told in (
        (("compare_tor",), "did you mean 'compare_toro'?"),
        (("toro_quiet",), "recovery limits need a push"),
        (("toro_push", "--set", "plant.fiction=1"), "did you mean 'friction'?"),
    ):
        assert command(monkeypatch, *arguments, "--out", out) == 2
        said = capsys.readouterr().err
        assert said.startswith("balance: ") and said.count("\n") == 1 and told in said
    assert not Path(out).exists()
