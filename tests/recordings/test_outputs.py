"""What commands write: under free names, or where they were told to; nothing else is removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from balance.app.cli import app
from balance.config import load_config
from balance.errors import FileError
from balance.experiment import run
from balance.recordings.outputs import BENCH, OVERLAY, RUN, Output, claim_free
from balance.recordings.recording import Recording
from balance.recordings.results import load_recording, save_recording

SHORT = ("--set", "duration_s=0.25", "--set", "pushes=[]", "--set", "reference=null")
RUN_COMMAND = ("run", "toro_push", *SHORT, "--no-figures")


@pytest.fixture(scope="module")
def recording() -> Recording:
    return run(load_config("toro_push", {"duration_s": 0.25, "pushes": [], "reference": None}))


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def balance(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def refused(*arguments: object) -> str:
    """What a command says that ends with the exit code of a user's mistake."""
    error = balance(*arguments).exception
    assert getattr(error, "exit_code", None) == 2, error
    return str(error)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_of_two_runs_at_once_the_second_gets_the_next_free_name(tmp_path: Path) -> None:
    """Both by default names; two processes, as two terminals."""
    command = [sys.executable, "-m", "balance.app.cli", *RUN_COMMAND]
    both = [subprocess.Popen([*command, "--set", f"seed={seed}"]) for seed in (3, 4)]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    results = tmp_path / "results"
    assert names(results) == {"toro_push", "toro_push-2"}
    assert {load_recording(results / name).config.seed for name in names(results)} == {3, 4}


def test_a_name_that_another_command_is_writing_is_refused_or_passed_over(tmp_path: Path) -> None:
    with Output(tmp_path / "results" / "toro_push", RUN):
        said = refused(*RUN_COMMAND, "--out", "results/toro_push")
        assert "being written by another command" in said
        assert "being written" in refused(*RUN_COMMAND, "--overwrite", "--out", "results/toro_push")
        assert balance(*RUN_COMMAND).exit_code == 0
    assert names(tmp_path / "results") == {"toro_push-2"}


def test_what_appears_during_a_run_is_not_replaced(tmp_path: Path) -> None:
    """Not even an empty folder, by somebody who knows of no claims; a default name moves on."""
    with Output(tmp_path / "run", RUN) as told, claim_free(tmp_path / "some", RUN) as default:
        for output in (told, default):
            output.path.mkdir()
        with pytest.raises(FileError, match="run exists"), told.filling() as work:
            (work / "summary.json").touch()
        with default.filling() as work:
            (work / "summary.json").touch()
    assert names(tmp_path) == {"run", "some", "some-2"}
    assert names(tmp_path / "run") == names(tmp_path / "some") == set()
    with claim_free(tmp_path / "page.html", None) as output:
        (tmp_path / "page.html").write_text("mine")
        with output.filling() as file:
            file.write_text("ours")
    assert output.path == tmp_path / "page-2.html"
    assert (tmp_path / "page.html").read_text() == "mine"


def test_a_link_to_nowhere_is_found_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").symlink_to(tmp_path / "gone")
    monkeypatch.setattr("balance.experiment.Experiment.run", None)  # is not reached
    for flags in ([], ["--overwrite"]):
        said = refused(*RUN_COMMAND, "--out", "out", *flags)
        assert "symbolic link" in said and str(tmp_path / "gone") in said
    assert names(tmp_path) == {"out"}


def test_overwriting_through_a_link_replaces_what_it_points_at(
    tmp_path: Path, recording: Recording
) -> None:
    save_recording(recording, tmp_path / "real")
    (tmp_path / "latest").symlink_to("real")
    (tmp_path / "real" / "config.yaml").unlink()
    save_recording(recording, tmp_path / "latest", overwrite=True)
    assert os.readlink(tmp_path / "latest") == "real"
    assert (tmp_path / "real" / "config.yaml").is_file()


def test_a_result_with_something_of_the_users_in_it_is_not_replaced(
    tmp_path: Path, recording: Recording
) -> None:
    save_recording(recording, tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("years of work")
    said = refused(*RUN_COMMAND, "--out", "run", "--overwrite")
    assert "'notes.txt', which is no part of a result" in said
    assert (tmp_path / "run" / "notes.txt").read_text() == "years of work"


def test_every_file_that_a_run_draws_is_known_as_its_own(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "run", "--pdf")
    state = ("--set", "state=estimated", "--set", "sensors={}")
    assert balance("run", "toro_push", *SHORT, *state, *out).exit_code == 0
    assert "estimation.pdf" in names(tmp_path / "run")
    RUN.check_replaceable(tmp_path / "run")


def test_plot_replaces_only_its_own_figures_and_only_when_told(
    tmp_path: Path, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(runs: object, folder: Path, pdf: bool) -> list[Path]:
        (folder / "com_momentum.png").write_text("new")
        return [folder / "com_momentum.png"]

    for place in ("draw_run", "draw_overlay"):
        monkeypatch.setattr(f"balance.plots.{place}", draw)
    run_, study = save_recording(recording, tmp_path / "run"), tmp_path / "study"
    study.mkdir()
    (study / "study.json").write_text("{}")
    for folder in (run_, study):
        for flags in ([], ["--overwrite"]):
            assert str(folder) in refused("plot", run_, run_, "--out", folder, *flags)
            assert str(folder) in refused("plot", run_, "--out", folder, *flags)
    assert names(study) == {"study.json"}
    for _ in range(2):
        assert balance("plot", run_, run_).exit_code == 0
    assert names(tmp_path / "results") == {"overlay", "overlay-2"}
    overlay = tmp_path / "results" / "overlay"
    (overlay / "com_momentum.png").write_text("old")
    assert "exists" in refused("plot", run_, run_, "--out", overlay)
    assert (overlay / "com_momentum.png").read_text() == "old"
    assert balance("plot", run_, run_, "--out", overlay, "--overwrite").exit_code == 0
    assert (overlay / "com_momentum.png").read_text() == "new"
    OVERLAY.check_replaceable(overlay)
    assert balance("plot", run_).exit_code == 0  # again, into its own folder
    assert "log.parquet" in names(run_) and "com_momentum.png" in names(run_)


def test_explain_replaces_only_its_own_result_and_only_when_told(
    tmp_path: Path, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("balance.analysis.linear.explain.explain", None)  # is not reached
    save_recording(recording, tmp_path / "run")
    assert "exists" in refused("explain", "toro_push", "--out", "run")
    said = refused("explain", "toro_push", "--out", "run", "--overwrite")
    assert "is not a result of 'balance explain'" in said


def test_films_pages_and_tables_are_not_replaced_untold(
    tmp_path: Path, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_recording(recording, tmp_path / "run")
    for name in ("film.gif", "page.html"):
        (tmp_path / name).write_text("mine")
    monkeypatch.setattr("balance.simulation.plants.render.check_encoder", lambda path: None)
    assert "film.gif exists" in refused(*RUN_COMMAND, "--out", "new", "--render", "film.gif")
    assert "page.html exists" in refused("replay", "run", "--html", "page.html")
    monkeypatch.setattr("balance.analysis.bench.run.bench", None)  # is not reached
    (tmp_path / "bench").mkdir()
    assert "exists" in refused("bench", "--out", "bench")
    assert names(tmp_path) == {"run", "film.gif", "page.html", "bench"}
    assert {(tmp_path / name).read_text() for name in ("film.gif", "page.html")} == {"mine"}
    (tmp_path / "bench" / "bench.json").write_text(json.dumps({}))
    BENCH.check_replaceable(tmp_path / "bench")


def test_watching_twice_keeps_the_first_result(tmp_path: Path) -> None:
    """The session's own result is kept up to date, that of an earlier session is not touched."""
    with claim_free(Path("results/x-watched"), RUN) as first:
        for text in ("one", "two"):
            with first.filling() as work:
                (work / "summary.json").write_text(text)
    with claim_free(Path("results/x-watched"), RUN) as second, second.filling() as work:
        (work / "summary.json").write_text("three")
    assert (first.path / "summary.json").read_text() == "two"
    assert names(tmp_path / "results") == {"x-watched", "x-watched-2"}
