"""Sweeps: cells, rows, resuming, and what a study leaves on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml

from balance.config.studies import SweepConfig, load_study
from balance.errors import BalanceError, ConfigError, FileError, RobotError
from balance.recordings.results import load_recording
from balance.recordings.settling import UntilSettled
from balance.studies.figures import dimensions
from balance.studies.store import StudyFolder
from balance.studies.sweep import Sweep
from balance.studies.workers import Result, execute


def sweep_of(path: Path, **overrides: Any) -> Sweep:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return Sweep(load_study(SweepConfig, path, dotted), path.stem, str(path))


def carry_out(sweep: Sweep, folder: StudyFolder, most: int = 1000) -> int:
    """Run at most some cells in this process; returns how many."""
    sweep.resume(folder)
    count = 0
    while count < most and (task := sweep.next_task()) is not None:
        columns = {"outcome": "recovered", "peak_com_error_m": 0.01 * int(task.key)}
        row = sweep.row(task, Result(columns))
        folder.append(row)
        sweep.take(row)
        count += 1
    return count


def test_a_cell_is_the_base_with_its_keys_set(sweep_file: Path) -> None:
    sweep = sweep_of(sweep_file)
    tasks = [sweep.next_task() for _ in range(13)]
    assert tasks[12] is None
    fifth = tasks[5]
    assert fifth is not None
    assert fifth.config["plant"]["friction"] == 0.4
    assert fifth.config["pushes"][0]["impulse_Ns"] == 4
    assert fifth.config["duration_s"] == 0.3
    row = sweep.row(fifth, execute(fifth))
    assert row["input.plant.friction"] == 0.4 and row["cell"] == 5 and row["seed"] == 0
    assert row["impulse_Ns"] == pytest.approx(4.0)


def test_a_sweep_for_outcomes_ends_its_runs_when_they_are_settled(sweep_file: Path) -> None:
    plain, settled = sweep_of(sweep_file), sweep_of(sweep_file, until_settled=True)
    assert plain.definition != settled.definition and "until_settled" not in plain.definition
    first, task = plain.next_task(), settled.next_task()
    assert first is not None and first.until is None
    assert task is not None and task.until == UntilSettled()
    assert execute(task).columns["outcome"] == "recovered"


def test_a_resumed_sweep_runs_only_what_is_missing(sweep_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for most, expected in ((5, 5), (1000, 7), (1000, 0)):
        sweep = sweep_of(sweep_file)
        with StudyFolder(out, sweep.kind, sweep.definition) as folder:
            assert carry_out(sweep, folder, most) == expected
    with StudyFolder(out, sweep.kind, sweep.definition) as folder:
        sweep = sweep_of(sweep_file)
        sweep.resume(folder)
        sweep.finish(folder)
    table = pq.read_table(out / "runs.parquet")
    assert table.column("cell").to_pylist() == list(range(12))
    assert (out / "figure.png").read_bytes().startswith(b"\x89PNG")
    summary = (out / "summary.md").read_text()
    assert "12 runs: 12 recovered" in summary
    assert "| 0.4 | 3 | 3 (100 %) | 0.04 |" in summary
    hidden = {path.name for path in out.iterdir() if path.name.startswith(".")}
    assert hidden == {".lock"}


def test_a_changed_study_is_refused_in_the_same_folder(sweep_file: Path, tmp_path: Path) -> None:
    first, other = sweep_of(sweep_file), sweep_of(sweep_file, experiment__duration_s=0.31)
    StudyFolder(tmp_path / "out", first.kind, first.definition).close()
    with pytest.raises(FileError, match=r"another study \(experiment differs\)"):
        StudyFolder(tmp_path / "out", other.kind, other.definition)


def test_another_metric_is_another_figure_not_another_study(sweep_file: Path) -> None:
    assert sweep_of(sweep_file).definition == sweep_of(sweep_file, metric="impulse_Ns").definition


def test_recordings_are_kept_for_chosen_cells_only(sweep_file: Path) -> None:
    sweep = sweep_of(sweep_file, recordings={"cells": [2], "outcomes": ["fell"]})
    tasks = [sweep.next_task() for _ in range(3)]
    keeps = [task.keep for task in tasks if task is not None]
    assert keeps == [("fell",), ("fell",), ("recovered", "upright", "fell", "aborted")]


@pytest.mark.parametrize(
    ("axis", "sentence"),
    [
        ({"key": "plant.frictoin", "values": [0.5]}, "unknown key 'plant.frictoin' (did you mean"),
        ({"key": "plant.friction", "values": [0.5, -1]}, "cell 1 (plant.friction=-1): 'plant.fric"),
        ({"key": "pushes.3.impulse_Ns", "values": [1]}, "'3' must be a whole number from 0 to 0"),
        ({"key": "controller.law", "values": ["lqr"]}, "cell 0 (controller.law=lqr)"),
        ({"key": "pushes.0.body", "values": ["hip", "tail"]}, "cell 1 (pushes.0.body=tail): pus"),
        ({"key": "robot", "values": ["toro", "asimo"]}, "cell 1 (robot=asimo): unknown robot"),
    ],
)
def test_a_bad_cell_is_named_before_anything_runs(
    sweep_file: Path, axis: dict[str, Any], sentence: str
) -> None:
    with pytest.raises((ConfigError, RobotError)) as caught:
        sweep_of(sweep_file, axes=[{"type": "list", **axis}])
    assert sentence in str(caught.value)
    assert str(caught.value).startswith(f"{sweep_file}: cell ")


def test_bodies_are_looked_up_for_every_name_but_not_every_number(
    sweep_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    monkeypatch.setattr(
        "balance.experiment.Experiment", lambda config, robots: built.append(config)
    )
    bodies = {"type": "list", "key": "pushes.0.body", "values": ["hip", "trunk"]}
    sizes = {"type": "range", "key": "pushes.0.impulse_Ns", "start": 1, "stop": 50, "step": 1}
    sweep_of(sweep_file, axes=[bodies, sizes])
    assert [config.pushes[0].body for config in built] == ["hip", "trunk"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"metric": "peak_com_eror_m"}, "did you mean 'peak_com_error_m'"),
        ({"metric": "outcome"}, "the metric 'outcome' is no number in the table"),
    ],
)
def test_an_unknown_metric_lists_the_known_ones(
    sweep_file: Path, changes: dict[str, Any], sentence: str
) -> None:
    """Before anything runs."""
    with pytest.raises(ConfigError) as caught:
        sweep_of(sweep_file, **changes)
    assert sentence in str(caught.value)


def test_a_metric_that_was_not_reached_is_a_gap(sweep_file: Path) -> None:
    sweep = sweep_of(sweep_file, metric="settling_time_s_10")
    task = sweep.next_task()
    assert task is not None
    sweep.take(sweep.row(task, Result({"outcome": "fell", "settling_time_s_10": None})))
    assert np.isnan(sweep.metric[0]) and sweep.outcomes[0] == "fell"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("axes: []", "'experiment' = None: it must be the path or name of an experiment"),
        ("experiment: no_such_thing", "no file or shipped config 'no_such_thing'"),
        ("experiment: toro_push\nset: 3", "'set' = 3: it must be a mapping of dotted keys"),
        ("experiment: toro_push\nset: {duration_s.x: 3}", "cannot set 'experiment.duration_s.x'"),
        ("experiment: toro_push\naxis: []", "did you mean 'axes'"),
        ("experiment: toro_push\naxes: []", "'axes' = []"),
        ("experiment: toro_push", "key 'axes' is missing"),
    ],
)
def test_bad_study_files_are_one_clear_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(BalanceError) as caught:
        load_study(SweepConfig, path)
    assert sentence in str(caught.value)


def test_recordings_of_cells_that_do_not_exist_are_refused(sweep_file: Path) -> None:
    with pytest.raises(ConfigError, match="names cell 12; the last one is 11"):
        sweep_of(sweep_file, recordings={"cells": [12]})


def test_an_experiment_is_found_beside_the_study_or_inline(tmp_path: Path) -> None:
    base = {"robot": "toro", "duration_s": 1.0}
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(base))
    axes = [{"type": "list", "key": "seed", "values": [1]}]
    for experiment in ("base.yaml", base):
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump({"experiment": experiment, "axes": axes}))
        assert load_study(SweepConfig, path).experiment == base


def test_zipped_keys_share_a_dimension_and_seeds_are_repeats(sweep_file: Path) -> None:
    def listed(key: str, *values: Any) -> dict[str, Any]:
        return {"type": "list", "key": key, "values": list(values)}

    zipped = {
        "type": "zip",
        "axes": [listed("plant.friction", 0.4, 0.6), listed("pushes.0.body", "hip", "trunk")],
    }
    sweep = sweep_of(sweep_file, axes=[zipped, listed("seed", 1, 2, 3)])
    found, scattered = dimensions(sweep.config.axes, sweep.design)
    assert [d.label for d in found] == ["plant.friction / pushes.0.body"]
    np.testing.assert_array_equal(found[0].values, [0.4] * 3 + [0.6] * 3)
    assert not scattered


def test_the_recording_of_a_kept_cell_can_be_loaded(sweep_file: Path, tmp_path: Path) -> None:
    """Through the real loop, on one local worker."""
    from balance.studies.session import run_study

    sweep = sweep_of(
        sweep_file,
        axes=[{"type": "list", "key": "plant.friction", "values": [0.4, 0.5]}],
        recordings={"cells": [1]},
    )
    run_study(sweep, tmp_path / "out", count=1)
    assert [path.name for path in (tmp_path / "out" / "recordings").iterdir()] == ["1"]
    recording = load_recording(tmp_path / "out" / "recordings" / "1")
    assert recording.config.plant.friction == 0.5
    assert recording.time.size == 300
