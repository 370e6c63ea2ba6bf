"""``balance run --watch``: every save of the file is a run; a mistake in it is not the end."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from balance.app.cli import app, watch
from balance.config import find_config
from balance.config.schema import load_yaml_mapping

GAINS = "controller.gains"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tenth of a second of the paper's experiment."""
    tree = load_yaml_mapping(find_config("toro_push"))
    tree |= {"duration_s": 0.26, "pushes": []}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(tree))
    return path


def test_each_save_is_a_run_until_interrupted(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = file.read_text()
    saves = [
        good.replace("duration_s: 0.26", "duration_s: 0.25"),
        "robot: [",
        good + "\n# the end\n",
    ]
    folder = tmp_path / "out"
    rows: list[tuple[bool, bool]] = []

    def save_and_go_on() -> None:
        rows.append(((folder / "log.parquet").is_file(), (folder / "change.png").is_file()))
        if not saves:
            raise KeyboardInterrupt
        file.write_text(saves.pop(0))

    monkeypatch.setattr(watch, "pause", save_and_go_on)
    monkeypatch.setattr("balance.plots.draw_run", lambda *_: None)  # other tests draw
    result = CliRunner().invoke(app, ["run", str(file), "--watch", "--out", str(folder)])
    assert result.exit_code == 0, result.output
    # The first run has nothing to be laid over; the file with a mistake leaves the last result.
    assert rows == [(True, False), (True, True), (True, True), (True, True)]
    assert result.output.count("Written to") == 3
    assert "is not valid YAML" in result.output


def test_a_folder_in_the_way_is_not_replaced(file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    result = CliRunner().invoke(
        app, ["run", str(file), "--watch", "--out", str(tmp_path / "out"), "--overwrite"]
    )
    assert result.exit_code != 0
    assert "is not a result of balance" in str(result.exception)


def test_files_of_code_that_the_config_names_are_watched_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("controller: {law: my_laws.py:Mine}\npushes: [{type: sub/p.py:P}]\n")
    assert watch._watched(path) == [path, tmp_path / "my_laws.py", tmp_path / "sub" / "p.py"]
    path.write_text("controller: [")
    assert watch._watched(path) == [path]
