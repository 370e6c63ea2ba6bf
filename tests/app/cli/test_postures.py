"""``balance plot`` draws the postures of an experiment, and ``balance check`` tells of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from balance.app.cli import app
from balance.app.cli.check import _phases_told
from balance.config import load_config
from balance.errors import BalanceError

TREE: dict[str, Any] = {
    "robot": "toro",
    "duration_s": 4.0,
    "controller": {"law": "whole_body_qp"},
    "phases": [
        {"name": "stand", "contacts": ["left sole", "right sole"], "until": {"time_s": 1.0}},
        {
            "name": "reach",
            "contacts": ["left sole", "right sole"],
            "move": {"right palm": {"to_m": [0.4, -0.3, 1.1]}},
        },
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "reach.yaml"
    path.write_text(yaml.safe_dump(TREE, sort_keys=False))
    return path


def test_plot_writes_the_postures_of_an_experiment(file: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["plot", str(file), "--out", str(tmp_path / "drawn")])
    assert result.exit_code == 0, result.output
    assert [path.name for path in (tmp_path / "drawn").iterdir()] == ["postures.png"]


def test_plot_says_that_an_experiment_without_phases_has_none() -> None:
    result = CliRunner().invoke(app, ["plot", "toro_push"])
    assert isinstance(result.exception, BalanceError)
    assert "has no phases" in str(result.exception)


def test_plot_still_says_that_a_folder_is_missing(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["plot", str(tmp_path / "nowhere")])
    assert isinstance(result.exception, BalanceError)
    assert "nowhere" in str(result.exception)


def test_check_has_a_line_for_every_phase() -> None:
    told = _phases_told(load_config(TREE), [])
    head, *lines = told.split("\n")
    assert head == ", 2 phases:"
    assert [line.split(":")[0].strip() for line in lines] == ["stand", "reach"]
    assert all("CoM (" in line and "% (" in line and "from a stop" in line for line in lines)
    assert _phases_told(load_config("toro_push"), []) == ""
