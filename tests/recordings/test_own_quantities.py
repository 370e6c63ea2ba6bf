"""A user's own quantities: found beside the YAML file, computed once, and never in the way."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from balance.app.terminal import result_table
from balance.config import load_config, parse_config
from balance.errors import ConfigError
from balance.experiment import run
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording, save_recording
from balance.studies.columns import check_metrics
from balance.studies.compare_table import LawResult, table
from balance.studies.workers import Task, execute

PAGE = Path(__file__).parents[2] / "docs" / "recordings.md"
CODE = """
import numpy as np
import balance

@balance.quantity("base, path", "mm", 1, scale=1e3, better="lower")
def path(recording):
    return float(np.linalg.norm(np.diff(recording.q[:, :3], axis=0), axis=1).sum())

def plain(recording):
    return len(recording.time)

class Height:
    key, label, unit, digits = "height_m", "base, height", "m", 3
    def compute(self, recording):
        return recording.q[-1, 2]

def never(recording):
    return None

def broken(recording):
    return np.linalg.norm(np.zeros(-len(recording.time)))

def words(recording):
    return "high"

def infinite(recording):
    return float("inf")

def thief(recording):
    recording.q[:] = 0.0
    return 0.0

def interrupted(recording):
    raise KeyboardInterrupt

number = 3
def outcome(recording):
    return 0.0

def rough(recording):
    return 0.0
rough.digits = "many"
"""
GOOD = ["path", "plain", "Height"]
BAD = ["never", "broken", "words", "infinite", "thief", "interrupted"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("user")
    (folder / "mine.py").write_text(CODE)
    return folder


def experiment(folder: Path, names: list[str]) -> Path:
    file = folder / "experiment.yaml"
    tree = load_config("toro_push", {"duration_s": 0.4, "pushes": []}).model_dump(
        mode="json", exclude_none=True, exclude={"reference"}
    )
    tree["quantities"] = [f"mine.py:{name}" for name in names]
    file.write_text(json.dumps(tree))  # which is YAML
    return file


@pytest.fixture(scope="module")
def recording(folder: Path) -> Recording:
    return run(experiment(folder, GOOD + BAD))


def shown(recording: Recording) -> str:
    console = Console(width=160)
    with console.capture() as captured:
        console.print(result_table(recording))
    return captured.get()


def test_their_values_stand_in_the_summary_and_in_the_terminal(recording: Recording) -> None:
    summary = recording.summary()
    steps = np.diff(recording.q[:, :3], axis=0)
    length = float(np.sqrt((steps**2).sum(axis=1)).sum())
    assert summary["path"] == pytest.approx(length, rel=1e-12)
    assert summary["plain"] == 400.0 and summary["height_m"] == recording.q[-1, 2]
    assert re.search(rf"base, path \[mm\] +│ +{1e3 * length:.1f} ", shown(recording))
    assert re.search(r"plain +│ +400\.0000 ", shown(recording))
    assert re.search(r"base, height \[m\] +│ +0\.\d\d\d ", shown(recording))


@pytest.mark.parametrize(
    ("key", "note"),
    [
        ("never", None),
        (
            "broken",
            "'broken' failed: ValueError in mine.py, line 21: negative dimensions are not allowed",
        ),
        ("words", "'words' gave a str, not a number"),
        ("infinite", "'infinite' gave inf, not a finite number"),
        (
            "thief",
            "'thief' failed: ValueError in mine.py, line 30: assignment destination is read-only",
        ),
        ("interrupted", "'interrupted' was interrupted by the user"),
    ],
)
def test_whatever_one_does_costs_no_more_than_its_value(
    recording: Recording, key: str, note: str | None
) -> None:
    summary = recording.summary()
    assert summary[key] is None
    assert summary["own_quantities"][key]["note"] == note
    assert note is None or note in shown(recording)
    assert np.abs(recording.q).max() > 0.5 and summary["outcome"] == "recovered"


def test_the_hash_of_their_file_stands_in_the_config(recording: Recording, folder: Path) -> None:
    expected = hashlib.sha256(CODE.encode()).hexdigest()
    assert recording.config.code == {
        f"{folder / 'mine.py'}:{name}": expected for name in GOOD + BAD
    }


def test_a_summary_without_them_has_no_word_of_them() -> None:
    quiet = load_config("toro_push", {"duration_s": 0.25, "pushes": []})
    assert "own_quantities" not in run(quiet).summary()


def test_a_result_is_read_without_their_code(
    recording: Recording, folder: Path, tmp_path: Path
) -> None:
    """Neither a file that is gone nor one that was replaced is touched."""
    result = save_recording(recording, tmp_path / "result")
    code = folder / "mine.py"
    try:
        for text in (None, "raise SystemExit('this must not run')"):
            code.unlink(missing_ok=True)
            if text:
                code.write_text(text)
            loaded = load_recording(result)
            assert loaded.summary() == recording.summary()
            assert shown(loaded) == shown(recording)
    finally:
        code.write_text(CODE)


def test_a_repeat_with_another_file_is_refused(folder: Path, recording: Recording) -> None:
    tree = recording.config.model_dump(mode="json", exclude_none=True)
    (folder / "mine.py").write_text(CODE + "\n# changed\n")
    try:
        with pytest.raises(ConfigError, match="is not the file that this experiment was made with"):
            parse_config(tree, "the config")
        with pytest.raises(ConfigError, match="is not the file that this experiment was made with"):
            run(recording.config)
    finally:
        (folder / "mine.py").write_text(CODE)


def test_they_are_metrics_of_studies(folder: Path) -> None:
    config = load_config(experiment(folder, ["path", "broken"]))
    check_metrics(["path", "broken"], config, "study.yaml")
    with pytest.raises(ConfigError, match=r"'pth' is no number in the table \(did you mean 'path'"):
        check_metrics(["pth"], config, "study.yaml")
    task = Task("0", config.model_dump(mode="json", exclude_none=True), "cell 0", 60.0)
    row = execute(task).columns
    assert row["outcome"] == "recovered" and row["path"] > 0.0 and row["path_note"] is None
    assert row["broken"] is None and "ValueError in mine.py, line 21" in row["broken_note"]


def test_a_comparison_has_a_line_for_each(recording: Recording) -> None:
    row: dict[str, Any] = {"outcome": "recovered", "path": 0.0123}
    lines = table([LawResult("momentum", "momentum", row, recording, ())])[1]
    assert ["base, path [mm]", "12.3"] in lines and ["broken", "–"] in lines


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["nobody"], ["mine.py has no 'nobody'"]),
        (["number"], ["neither a function of a recording nor has it a method 'compute'"]),
        (["outcome"], ["the key 'outcome' is that of one of our columns", "attribute 'key'"]),
        (["plain", "plain"], ["the key 'plain' is that of", "mine.py:plain"]),
        (["rough"], ["its digits 'many' must be a whole number from 0 to 12"]),
    ],
)
def test_bad_input_is_one_sentence(folder: Path, names: list[str], told: list[str]) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(experiment(folder, names))
    assert all(part in str(error.value) for part in told), error.value
    assert f"quantities.{len(names) - 1}" in str(error.value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (["missing.py:sway"], "missing.py does not exist"),
        (["sway"], "'quantities.0' = 'sway' is unknown"),
        (["peak_com_error_m"], "is one of ours: every summary has it"),
        ([3], "quantities.0"),
    ],
)
def test_names_that_lead_nowhere_are_refused(value: list[Any], told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told)):
        load_config("toro_push", {"quantities": value})


def test_the_example_of_the_docs_works(tmp_path: Path) -> None:
    found = re.search(r"```python\n# my_quantities.py\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    (tmp_path / "mine.py").write_text(found[1])
    summary = run(experiment(tmp_path, ["sway"])).summary()
    assert summary["own_quantities"]["sway"]["note"] is None and summary["sway"] >= 0.0
