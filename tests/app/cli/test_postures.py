"""``balance plot`` draws the postures of an experiment, and ``balance check`` tells of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from balance.app.cli import app
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


def test_check_has_a_line_for_every_phase(file: Path) -> None:
    result = CliRunner().invoke(app, ["check", str(file)])
    assert result.exit_code == 0, result.output
    head, *lines = result.output.strip().split("\n")
    assert head.endswith(", 2 phases:")
    assert [line.split(":")[0].strip() for line in lines] == ["stand", "reach"]
    assert all("CoM (" in line and "% (" in line and "from a stop" in line for line in lines)


def test_check_finds_what_is_impossible_before_the_run(tmp_path: Path) -> None:
    far = {**TREE["phases"][1], "move": {"right palm": {"to_m": [3.0, -0.3, 1.1]}}}
    path = tmp_path / "far.yaml"
    path.write_text(yaml.safe_dump({**TREE, "phases": [TREE["phases"][0], far]}))
    result = CliRunner().invoke(app, ["check", str(path)])
    assert isinstance(result.exception, BalanceError)
    assert "phases.1 'reach'" in str(result.exception)
    assert "m out of reach" in str(result.exception)


def test_a_result_has_the_postures_and_plot_draws_them_again(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = CliRunner().invoke(
        app, ["run", str(file), "--out", str(out), "--set", "duration_s=0.26"]
    )
    assert result.exit_code == 0, result.output
    drawn = out / "postures.png"
    before = drawn.read_bytes()
    drawn.unlink()
    assert CliRunner().invoke(app, ["plot", str(out)]).exit_code == 0
    assert drawn.read_bytes() == before
