"""``balance protocol``: a run on real workers, the scoreboard's page, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from balance.app.cli import app
from balance.errors import BalanceError
from balance.studies.protocols.balance_v1 import HASH, all_cells
from balance.studies.protocols.scoreboard import FORMAT, checksum, write_entry

ONE_RUN = """
from balance.studies.protocols.interface import Condition

class Once:
    def __init__(self, config, robot):
        pass
    def conditions(self):
        return [Condition("here", (1.0, 2.0), runs=1, search=False)]
    def experiment(self, condition, level, run):
        push = {"type": "impulse", "direction": [0, 1, 0], "time_s": 0.0, "impulse_Ns": level}
        return {"pushes": [push], "control_period_s": 0.004}
    @staticmethod
    def measure(recording):
        return {"rows": len(recording.time)}
    def passed(self, rows):
        return all(row["outcome"] == "recovered" for row in rows)
    def report(self, findings):
        return [{"largest": one.margin and one.margin.value} for one in findings]
"""


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["protocol", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_a_protocol_runs_on_workers_and_goes_on(tmp_path: Path) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "out"
    file.write_text(ONE_RUN)
    arguments = (f"{file}:Once", "--law", "momentum", "--workers", "1", "--out", str(out))
    first = invoke(*arguments)
    assert "Loaded Once from" in first
    assert json.loads((out / "indicators.json").read_text()) == [{"law": "momentum", "largest": 2}]
    log = (out / "runs.log").read_bytes()
    assert "largest" in invoke(*arguments)
    assert (out / "runs.log").read_bytes() == log


def test_the_report_writes_page_and_figures(tmp_path: Path) -> None:
    cells = {cell.name: [0.9, 1.0, 1.1] for cell in all_cells()}
    tree = {
        "format": FORMAT, "protocol": "balance_v1", "protocol_hash": HASH, "law": "momentum",
        "law_hash": "", "robot": "toro", "engine": "mujoco", "versions": {"balance": "0.2.0"},
        "partial": False, "changes": {}, "steps": 0, "recovery_share": None, "cells": cells,
    }  # fmt: skip
    board, page = tmp_path / "board", tmp_path / "docs" / "scoreboard.md"
    write_entry({**tree, "checksum": checksum(tree)}, board)
    text = invoke("report", "--board", str(board), "--page", str(page))
    assert "1 entries" in text
    assert "| 1 | momentum | mujoco | 1.000 |" in page.read_text()
    assert (page.parent / "figures" / "scoreboard_toro.png").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing",), "'nothing'.* is unknown; valid: 'dysturbance_impulsive'"),
        (("dysturbance_impulsive", "--set", "levels_J=[300.0]"), "less than or equal to 200"),
        (("dysturbance_impulsive", "--set", "body=tail"), "'body' = 'tail': robot 'toro' has no"),
        (("dysturbance_impulsive", "--robot", "robbie"), "robbie"),
        (("dysturbance_impulsive", "--law", "luck"), "luck"),
        (("dysturbance_impulsive", "--engine", "steam"), "steam"),
        (("balance_v1", "--cells", "moon"), "names no cell"),
        (("benchbalance", "--cells", "x"), "unknown key 'cells'"),
        (("benchbalance", "--robot", "solo12"), "its chest is not known"),
        (("report", "--board", "/nowhere"), "there is no folder /nowhere"),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(BalanceError, match=words):
        invoke(*arguments)
