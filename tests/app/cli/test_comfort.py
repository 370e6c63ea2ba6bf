"""Lists, completion, narrow terminals, termination, and studies that end with their answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from balance.app import cli, terminal
from balance.app.cli import app, main
from balance.app.cli.options import first_line, shipped_configs
from balance.config import load_config
from balance.config.paths import data_folder
from balance.config.studies import SweepConfig, load_study
from balance.experiment import Experiment
from balance.recordings.results import load_recording
from balance.recordings.verdict import Cause
from balance.robots import robot_files
from balance.studies.sweep import Sweep


def output(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_list_names_every_shipped_file_with_its_command_and_first_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(terminal, "console", Console(width=200))
    text = output("list")
    folder = data_folder("configs")
    shipped = [*folder.glob("*.yaml"), *folder.glob("studies/*.yaml")]
    assert len(shipped) > 30
    for path in shipped:
        line = next(one for one in text.splitlines() if one.split()[2:3] == [path.stem])
        assert first_line(path)[:40] in line
    assert "balance tune tune_toro" in text and "balance compare compare_toro" in text
    assert output("list", "quadruped").count("balance ") == 2


def test_a_first_line_ends_with_its_sentence(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("# A push of 3.5 N s, see\n# Garofalo2015: from the side.  More.\n#\n# Other\n")
    assert first_line(file) == "A push of 3.5 N s, see Garofalo2015"


@pytest.mark.parametrize(
    ("words", "offered"), [("run toro_s", "toro_side"), ("tune tu", "tune_toro"), ("exp", "export")]
)
def test_the_shell_completes_commands_and_shipped_names(words: str, offered: str) -> None:
    line = f"balance {words}"
    told = {
        "_BALANCE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'balance';"
               "from balance.app.cli import app; app(prog_name='balance')"]  # fmt: skip
    done = subprocess.run(command, env=os.environ | told, capture_output=True, text=True)
    assert offered in done.stdout.split()


def test_what_is_offered_says_what_it_shows() -> None:
    assert ("toro_quiet", "No push at all") in shipped_configs("toro_q")


def test_robots_are_readable_in_sixty_columns() -> None:
    narrow = Console(width=60, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    narrow.print(terminal.robot_table([], 60))
    lines = narrow.export_text().splitlines()
    assert max(map(len, lines)) <= 60
    for name in robot_files():
        assert any(f" {name} " in line for line in lines), name


def test_the_width_is_that_of_columns_where_no_terminal_says_it() -> None:
    code = "from balance.app.terminal import console; print(console.width)"
    for columns, wide in (("60", "60"), ("", "110")):
        told = os.environ | {"COLUMNS": columns}
        done = subprocess.run(
            [sys.executable, "-c", code], env=told, capture_output=True, text=True
        )
        assert done.stdout.strip() == wide


@pytest.fixture
def signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_terminated_run_keeps_what_was_simulated_and_warns_of_nothing(
    signals: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    advance = Experiment.advance

    def terminated(self: Experiment, log: Any) -> bool:
        if log.rows == 200:
            os.kill(os.getpid(), signal.SIGTERM)
        return advance(self, log)

    monkeypatch.setattr(Experiment, "advance", terminated)
    arguments = ["balance", "run", "toro_push", "--no-figures", "--out", str(tmp_path / "a")]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    recording = load_recording(tmp_path / "a")
    assert recording.end.cause is Cause.INTERRUPTED and recording.time.size in (200, 201)
    assert capfd.readouterr().err == ""


def test_an_interrupt_within_a_compiled_function_loses_nothing_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    advance = Experiment.advance

    def interrupted(self: Experiment, log: Any) -> bool:
        if log.rows == 200:  # what CPython raises for a result that comes with an exception
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        return advance(self, log)

    monkeypatch.setattr(Experiment, "advance", interrupted)
    recording = Experiment(load_config("toro_push")).run()
    assert recording.end.cause is Cause.INTERRUPTED and recording.time.size == 200

    def broken(self: Experiment, log: Any) -> bool:
        raise SystemError("another")

    monkeypatch.setattr(Experiment, "advance", broken)
    with pytest.raises(SystemError, match="another"):
        Experiment(load_config("toro_push")).run()


def test_compiling_is_told_once() -> None:
    pytest.importorskip("numba")
    code = """
from balance.app.terminal import tell_compiling
tell_compiling()
tell_compiling()
import numba
double = numba.njit(lambda x: 2 * x)
double(1), double(1.0), double(2.0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{terminal.COMPILING}\n"


def test_a_library_that_the_system_lacks_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a small container image, where Pinocchio's wheel finds no OpenMP."""

    def lacking(*_: object, **__: object) -> None:
        text = "libgomp.so.1: cannot open shared object file: No such file or directory"
        raise ImportError(text, name="pinocchio.pinocchio_pywrap_default")

    monkeypatch.setattr(cli, "app", lacking)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert capsys.readouterr().err == (
        "balance: pinocchio needs the library libgomp.so.1, which this system lacks; "
        "on Debian, as a rule: apt install libgomp1\n"
    )


def test_a_sweep_shows_the_head_of_its_table(sweep_file: Path) -> None:
    config = load_study(SweepConfig, sweep_file, {"metric": "peak_com_error_m"}, False)
    study = Sweep(config, "friction", str(sweep_file), [])
    for cell in range(3):
        study.take({"cell": cell, "outcome": "recovered", "peak_com_error_m": 0.001 * cell})
    head, rows = study.head(4)
    assert head == ["plant.friction", "pushes.0.impulse_Ns", "outcome", "CoM, largest error [mm]"]
    assert rows[2] == ["0.2", "4", "recovered", "2.0"]
    assert rows[3][:2] == ["0.4", "1"] and rows[3][3] == ""
