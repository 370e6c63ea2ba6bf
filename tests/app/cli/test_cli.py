"""The command line: what it writes, what it refuses, and with which exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from balance.app.cli import main
from balance.recordings.results import load_recording
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

SHORT = ["--set", "duration_s=0.35", "--set", "pushes.0.time_s=0.05"]
RUN_FILES = {
    "config.yaml",
    "summary.json",
    "log.parquet",
    "com_momentum.png",
    "contacts.png",
    "torques.png",
}
SUMMARY_KEYS = {
    "outcome",
    "peak_com_error_m",
    "peak_rotation_rad",
    "peak_linear_momentum",
    "peak_angular_momentum",
    "settling_time_s",
    "impulse_Ns",
    "ankle_limit_fraction",
    "max_sole_lift_m",
    "max_sole_slip_m",
    "control_step_us",
    "realtime_factor",
}


def balance(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """Run the command in this process; returns its exit code."""
    monkeypatch.setattr(sys, "argv", ["balance", *map(str, arguments)])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_run_writes_the_promised_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert balance(monkeypatch, "run", "toro_push", *SHORT, "--out", tmp_path / "a", "--pdf") == 0
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert names == RUN_FILES | {"com_momentum.pdf", "contacts.pdf", "torques.pdf"}
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert set(summary) >= SUMMARY_KEYS
    assert set(summary["settling_time_s"]) == {"10", "5", "2"}
    shown = capsys.readouterr().out
    assert "Garofalo2015" in shown and "CoM, largest error [mm]" in shown


def test_a_result_repeats_itself_from_its_own_config(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert balance(monkeypatch, "run", "toro_push", *SHORT, "--no-figures", "--out", first) == 0
    provenance = yaml.safe_load((first / "config.yaml").read_text())["provenance"]
    assert {"balance", "pin", "numpy", "quadprog"} <= set(provenance)
    again = first / "config.yaml"
    assert balance(monkeypatch, "run", again, "--no-figures", "--out", second) == 0
    a, b = load_recording(first), load_recording(second)
    for name in ("q", "v", "torques", "wrenches", "contact_wrenches", "com_error"):
        assert (getattr(a, name) == getattr(b, name)).all(), name


def test_plot_draws_one_run_again_and_overlays_two(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        out = tmp_path / name
        assert balance(monkeypatch, "run", "toro_push", *SHORT, "--no-figures", "--out", out) == 0
    assert balance(monkeypatch, "plot", tmp_path / "a") == 0
    assert (tmp_path / "a" / "com_momentum.png").is_file()
    overlay = tmp_path / "overlay"
    assert balance(monkeypatch, "plot", tmp_path / "a", tmp_path / "b", "--out", overlay) == 0
    assert (overlay / "com_momentum.png").is_file()


def test_a_fall_is_a_result_not_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hard = ["--set", "pushes.0.energy_J=400", "--set", "pushes.0.time_s=0.05"]
    out = tmp_path / "fall"
    code = balance(
        monkeypatch,
        "run",
        "toro_push",
        *hard,
        "--set",
        "duration_s=3",
        "--no-figures",
        "--out",
        out,
    )
    summary = json.loads((out / "summary.json").read_text())
    assert code == 0
    assert summary["outcome"] == "fell" and summary["time_of_fall_s"] < 3.0 and summary["cause"]


def test_interrupt_keeps_what_was_simulated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain_step, calls = PinocchioPlant.step, []

    def step(self: PinocchioPlant, *arguments: object) -> None:
        calls.append(1)
        if len(calls) > 60:
            raise KeyboardInterrupt
        plain_step(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(PinocchioPlant, "step", step)
    out = tmp_path / "cut"
    assert balance(monkeypatch, "run", "toro_push", *SHORT, "--no-figures", "--out", out) == 1
    recording = load_recording(out)
    assert recording.time.size == 60
    assert recording.summary()["outcome"] == "aborted"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "no_such_config"], ["no_such_config", "toro_push"]),
        (["run", "missing.yaml"], ["missing.yaml", "does not exist"]),
        (["check", "toro_push", "--set", "robot=torro"], ["torro", "did you mean 'toro'"]),
        (["check", "toro_push", "--set", "pushes.0.body=hipp"], ["pushes.0.body", "hipp", "hip"]),
        (["check", "toro_push", "--set", "nonsense"], ["nonsense", "key.path=value"]),
        (["check", "toro_push", "--set", "plant.frictoin=1"], ["plant.frictoin", "friction"]),
        (["plot", "no_such_folder"], ["no_such_folder", "log.parquet"]),
        (["run"], ["CONFIG"]),
        (["no_such_command"], ["no_such_command"]),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert balance(monkeypatch, *arguments) == 2
    message = capsys.readouterr().err.strip()
    assert message.startswith("balance: ") and "\n" not in message
    for part in told:
        assert part in message
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    precious = tmp_path / "out" / "precious.txt"
    precious.parent.mkdir()
    precious.write_text("mine")
    for flags in ([], ["--overwrite"]):
        code = balance(monkeypatch, "run", "toro_push", *SHORT, "--out", precious.parent, *flags)
        assert code == 2
        assert str(precious.parent) in capsys.readouterr().err
        assert precious.read_text() == "mine"


def test_overwrite_replaces_a_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = tmp_path / "r"
    for seed in (0, 1):
        arguments = [*SHORT, "--set", f"seed={seed}", "--no-figures", "--overwrite", "--out", out]
        assert balance(monkeypatch, "run", "toro_push", *arguments) == 0
    assert load_recording(out).config.seed == 1
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_schema_is_json_that_names_the_laws(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert balance(monkeypatch, "schema") == 0
    schema = json.loads(capsys.readouterr().out)
    assert "controller" in schema["properties"]
    assert "gains" in schema["$defs"]["MomentumLawConfig"]["properties"]
    assert "energy_J" in schema["$defs"]["PendulumTypeConfig"]["properties"]


def test_robots_lists_every_robot(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert balance(monkeypatch, "robots") == 0
    shown = capsys.readouterr().out
    for name in ("toro", "talos", "icub", "g1", "77.5", "1.70", "0.945"):
        assert name in shown


@pytest.mark.parametrize("config", sorted(Path("configs").glob("*.yaml"), key=str))
def test_every_shipped_config_is_valid_and_says_what_it_shows(
    monkeypatch: pytest.MonkeyPatch, config: Path
) -> None:
    text = config.read_text()
    assert text.startswith("# ")
    assert balance(monkeypatch, "check", config) == 0


def test_theory_exits_with_1_when_an_identity_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    from balance.analysis import theory

    plain = theory.residual_table

    def spoiled(*arguments: object) -> list[theory.Row]:
        rows = plain(*arguments)  # type: ignore[arg-type]
        return [replace(rows[0], residual=1.0), *rows[1:]]

    assert balance(monkeypatch, "theory", "--states", 2) == 0
    monkeypatch.setattr(theory, "residual_table", spoiled)
    assert balance(monkeypatch, "theory", "--states", 2) == 1
    assert "1 of" in capsys.readouterr().out
