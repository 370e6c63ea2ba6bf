"""The commands that run a study: options, exit codes, and one sentence for mistakes."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from balance.app.cli import app, main
from balance.app.cli.studies import COMMANDS
from balance.recordings.results import load_recording
from balance.studies import cluster

QUICK = {"control_period_s": 0.004, "plant.step_s": 0.004}
"""For searches, whose runs go on until the robot stands still."""
NOBODY = "tcp://127.0.0.1:9"  # the discard port: nothing listens there


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Exit code of ``balance`` with these arguments."""
    monkeypatch.setattr(sys, "argv", ["balance", *arguments])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> str:
    """The sentence with which a command is refused."""
    assert command(monkeypatch, *arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("balance: ") and said.count("\n") == 1
    return said


def test_a_scheduler_that_does_not_answer_is_one_sentence(
    sweep_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.3)
    arguments = ("sweep", str(sweep_file), "--out", str(tmp_path / "out"), "--scheduler")
    said = refused(monkeypatch, capsys, *arguments, NOBODY)
    assert f"the scheduler {NOBODY} does not answer within 0.3 s" in said
    said = refused(monkeypatch, capsys, *arguments, "nowhere")
    assert "'nowhere' is no address of a Dask scheduler" in said
    said = refused(monkeypatch, capsys, *arguments, NOBODY, "--workers", "2")
    assert "--workers is for local workers" in said


def test_without_dask_the_sentence_has_the_pip_command(
    sweep_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = refused(monkeypatch, capsys, "sweep", str(sweep_file), "--out", str(tmp_path / "out"))
    assert "-m pip install" in said
    assert "[cluster]'" in said


def test_a_bad_axis_is_one_sentence_and_leaves_no_folder(
    sweep_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    arguments = ("sweep", str(sweep_file), "--out", str(out), "--set")
    said = refused(monkeypatch, capsys, *arguments, "axes.0.key=plant.grip")
    assert "cell 0 (plant.grip=0.2" in said and "unknown key 'plant.grip'" in said
    said = refused(monkeypatch, capsys, *arguments, "axes.0.stop=0.1")
    assert "from 0.2 to 0.1 by steps of 0.2 is empty" in said
    said = refused(monkeypatch, capsys, *arguments, "axes.1.values=[1, -2]")
    assert "cell 1 (plant.friction=0.2, pushes.0.impulse_Ns=-2)" in said
    assert not out.exists()


def test_a_folder_in_the_way_is_one_sentence(
    sweep_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    arguments = ("sweep", str(sweep_file), "--out", str(out))
    said = refused(monkeypatch, capsys, *arguments, "--no-resume")
    assert "leave --no-resume out" in said
    (out / "notes.txt").write_text("mine")
    assert "not a study of balance" in refused(monkeypatch, capsys, *arguments)
    assert "is not replaced" in refused(monkeypatch, capsys, *arguments, "--overwrite")


def test_studies_of_the_other_kind_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    studies = {"sweep": "friction", "envelope": "envelope_toro", "tune": "tune_toro"}
    for ours, study in studies.items():
        for other in {*studies, "compare"} - {ours}:
            said = refused(monkeypatch, capsys, other, study)
            assert said.endswith(
                f"{study}.yaml is for 'balance {ours}', not for 'balance {other}'\n"
            )
    assert "did you mean 'friction'" in refused(monkeypatch, capsys, "sweep", "frictoin")


def test_an_envelope_of_one_direction_runs_on_a_local_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    push = {"type": "impulse", "direction": [1, 0, 0], "time_s": 0.0, "impulse_Ns": 1.0}
    study = {
        "experiment": "toro_push",
        "set": {"duration_s": 0.3, "pushes": [push], **QUICK},
        "directions": {"azimuth_deg": [0.0]},
        "tolerance": 0.4,
        "largest": 1.0,
    }
    (tmp_path / "front.yaml").write_text(yaml.safe_dump(study))
    out = tmp_path / "out"
    arguments = ("envelope", str(tmp_path / "front.yaml"), "--out", str(out), "--pdf")
    assert command(monkeypatch, *arguments, "--workers", "1") == 0
    files = {"limits.parquet", "limits.csv", "runs.parquet", "summary.md", "figure.png"}
    assert files | {"figure.pdf", "study.json", "runs.log"} == {
        path.name for path in out.iterdir() if not path.name.startswith(".")
    }
    said = capsys.readouterr().out
    assert "Written to" in said
    head, line = said.splitlines()[-2:]  # it ends with the limits
    assert "recovered [N s]" in head and line.startswith("0°")
    log = (out / "runs.log").read_bytes()
    assert command(monkeypatch, *arguments) == 0  # nothing is left to run, no worker is started
    assert (out / "runs.log").read_bytes() == log


def test_a_comparison_writes_its_tables_figure_and_recordings(
    tmp_path: Path,
    short: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    limits = {"directions": {"azimuth_deg": [90.0]}, "tolerance": 0.4, "largest": 1.0}
    study = {
        "experiment": "toro_push",
        "set": short | QUICK,
        "laws": ["momentum", "virtual_model"],
        "limits": limits,
    }
    file, out = tmp_path / "two.yaml", tmp_path / "out"
    file.write_text(yaml.safe_dump(study))
    arguments = ("compare", str(file), "--out", str(out), "--workers", "1")
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


def test_bad_input_of_a_comparison_is_one_sentence_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    for arguments, told in (
        (("compare_tor",), "did you mean 'compare_toro'?"),
        (("toro_quiet",), "recovery limits need a push"),
        (("toro_push", "--set", "plant.fiction=1"), "did you mean 'friction'?"),
    ):
        assert told in refused(monkeypatch, capsys, "compare", *arguments, "--out", out)
    assert not Path(out).exists()


def test_the_four_commands_have_the_same_options_and_compare_one_more() -> None:
    names = {
        command.name: {
            option for one in command.params for option in (*one.opts, *one.secondary_opts)
        }
        for command in get_command(app).commands.values()
        if command.name in COMMANDS
    }
    assert set(names) == {"sweep", "envelope", "tune", "compare"}
    assert names["sweep"] == names["envelope"] == names["tune"]
    assert names["compare"] - names["sweep"] == {"--limits", "--no-limits"}
    assert names["sweep"] >= {
        "--out",
        "--set",
        "--robots",
        "--scheduler",
        "--workers",
        "--overwrite",
    }


def test_help_does_not_load_dask_or_pinocchio() -> None:
    code = (
        "import sys; from balance.app.cli import app; import balance.app.cli.studies\n"
        "print([m for m in ('dask', 'distributed', 'pinocchio', 'numpy') if m in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
