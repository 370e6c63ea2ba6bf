"""``balance export``: where it writes, what it says, and what it needs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from balance.app.cli import main
from balance.app.cli.export import To
from balance.config import load_config
from balance.experiment import run
from balance.recordings.export import FORMATS
from balance.recordings.results import save_recording


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = load_config("toro_push", {"duration_s": 0.5, "pushes.0.time_s": 0.1})
    return save_recording(run(config), tmp_path_factory.mktemp("cli") / "result")


def balance(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["balance", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_the_command_offers_the_formats_that_there_are() -> None:
    assert [to.value for to in To] == list(FORMATS)


def test_a_run_is_exported_into_its_folder_which_stays_a_result(
    result: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert balance(monkeypatch, "export", result, "--to", "npz") == 0
    assert f"{result / 'recording.npz'}: " in capsys.readouterr().out
    with np.load(result / "recording.npz") as found:
        assert found["q"].shape[0] == 500
    assert balance(monkeypatch, "export", result, "--to", "npz") == 2
    assert "--overwrite" in capsys.readouterr().err
    short = ["--set", "duration_s=0.35", "--set", "pushes.0.time_s=0.05", "--no-figures"]
    again = ["run", "toro_push", *short, "--out", result, "--overwrite"]
    assert balance(monkeypatch, *again) == 0


def test_a_missing_extra_is_named_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "rerun" else real(name)
    )
    assert balance(monkeypatch, "export", tmp_path / "nowhere", "--to", "rerun") == 2
    assert "[rerun]'" in capsys.readouterr().err
