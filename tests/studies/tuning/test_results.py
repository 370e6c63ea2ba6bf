"""What tuning leaves: configs that run, a report, figures; and the command on real workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tuning_samples import PUSH, drive, rows_of, tuning_of, write_study
from typer.testing import CliRunner

import balance
from balance.analysis.linear.margins import robustness_margin
from balance.app.cli import app
from balance.studies.store import StudyFolder
from balance.studies.tuning.archive import front, score_of
from balance.studies.tuning.report import before_after
from balance.studies.tuning.study import Tuning
from balance.studies.workers import Task, execute

VALIDATION = {
    "pushes": [{"name": "from behind", "set": {"pushes.0.direction": [-1, 0, 0]}, "seeds": [3, 4]}],
    "envelope": {
        "directions": {"azimuth_deg": [30, 150, 270]},
        "set": {"pushes": [{**PUSH, "direction": [1, 0, 0]}]},
    },
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Tuning, Path]:
    """A study of two objectives with its results."""
    folder = tmp_path_factory.mktemp("tuned")
    objectives = [{"metric": "settling_time_s"}, {"metric": "torque_effort_N2m2s"}]
    path = write_study(folder, trials=14, objectives=objectives, validation=VALIDATION)
    study = tuning_of(path)
    drive(study, folder / "out", 0)
    with StudyFolder(folder / "out", study.kind, study.definition) as opened:
        study.finish(opened)
    return study, folder / "out"


def test_best_yaml_is_an_experiment_with_the_tuned_gains(finished: tuple[Tuning, Path]) -> None:
    study, folder = finished
    config = balance.load_config(folder / "best.yaml")
    keys = study.keys_of(study.best().params)
    gains = config.controller.gains
    assert (6000, keys["controller.gains.K_P.1"], 4000) == gains.K_P
    assert (7, keys["controller.gains.K_D.1"], 0.05) == gains.K_D
    assert config.duration_s == 1.0
    header = (folder / "best.yaml").read_text().split("robot:")[0]
    assert all(line.startswith("# ") for line in header.splitlines())
    assert f"Trial {study.best().number}" in header
    assert "mean settling_time_s" in header
    assert "(start: 2000)" in header


def test_every_pareto_point_is_an_experiment(finished: tuple[Tuning, Path]) -> None:
    study, folder = finished
    names = {path.name for path in (folder / "pareto").glob("*.yaml")}
    assert names == {f"trial_{trial.number}.yaml" for trial in front(study.archive.told())}
    for name in names:
        balance.load_config(folder / "pareto" / name)


def test_validation_faces_pushes_that_no_trial_has_seen(finished: tuple[Tuning, Path]) -> None:
    _, folder = finished
    rows = rows_of(folder)
    seen = {row["push"] for row in rows if row["trial"].isdigit()}
    held_out = [row for row in rows if row["push"] == "from behind"]
    assert "from behind" not in seen
    assert {(row["gains"], row["seed"]) for row in held_out} == {
        (gains, seed) for gains in ("start", "tuned") for seed in (3, 4)
    }
    azimuths = {row["azimuth_deg"] for row in rows if row["push"] == "held-out envelope"}
    assert azimuths == {30, 150, 270}


def test_held_out_limits_are_those_of_the_pretended_robot(finished: tuple[Tuning, Path]) -> None:
    """It stands 10 N s plus its damping, whatever the direction."""
    study, _ = finished
    assert study.validation is not None
    tuned = study.keys_of(study.best().params)["controller.gains.K_D.1"]
    for found in study.validation.limits:
        stands = 10.0 + (1.0 if found.variant["gains"] == "start" else tuned)
        reached = found.limits["recovered"].value * found.ankle_limit_Ns
        assert stands - 0.05 * found.ankle_limit_Ns < reached <= stands


def test_the_report_has_all_parts(finished: tuple[Tuning, Path]) -> None:
    study, folder = finished
    assert study.validation is not None
    text = (folder / "report.md").read_text()
    for part in ("Before and after", "Pareto front", "never saw", "from behind", "270°"):
        assert part in text
    for name in ("history", "importance", "slices", "pareto", "held_out_envelope"):
        assert f"({name}.png)" in text
        assert (folder / f"{name}.png").stat().st_size > 5_000
    limits = {
        gains: [found.limits["recovered"].value for found in study.validation.limits
                if found.variant["gains"] == gains]
        for gains in ("start", "tuned")
    }  # fmt: skip
    kept = sum(limits["tuned"][i] >= limits["start"][i] for i in range(3))
    assert f"| held-out directions, no smaller |  | {kept} of 3 |" in text
    assert before_after(study) in text
    assert (folder / "table.md").read_text().strip() == before_after(study)


def test_a_finished_study_has_nothing_left_to_do(finished: tuple[Tuning, Path]) -> None:
    study, folder = finished
    again = tuning_of(folder.parent / "small.yaml")
    with StudyFolder(folder, again.kind, again.definition) as opened:
        again.resume(opened)
        assert again.next_task() is None
    assert score_of(again.best()) == score_of(study.best())


def test_a_worker_computes_the_robustness_margin() -> None:
    config = balance.load_config("toro_push", {"duration_s": 0.25, "pushes": []})
    tree = config.model_dump(mode="json", exclude_none=True)
    result = execute(Task("0", tree, "test", 60.0, margins=True))
    assert result.columns["robustness_margin"] == pytest.approx(robustness_margin(config))


def test_the_command_tunes_on_workers(tmp_path: Path) -> None:
    """Real runs, short ones: the study ends, and its best config repeats the best trial's runs."""
    gentle = {**PUSH, "impulse_Ns": 0.5, "direction": [0, 1, 0]}
    path = write_study(
        tmp_path,
        set={"duration_s": 0.4, "pushes": [gentle]},
        pushes=[{"name": "side"}],
        objectives=[{"metric": "peak_com_error_m"}],
        trials=4,
    )
    arguments = ["tune", str(path), "--workers", "1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    rows = {row["key"]: row for row in rows_of(tmp_path / "out")}
    best = min(
        (row for row in rows.values() if row["trial"].isdigit()),
        key=lambda row: row["peak_com_error_m"],
    )
    again = rows[f"tuned-{best['trial']}-itself.0"]
    assert again["peak_com_error_m"] == best["peak_com_error_m"]
    assert (tmp_path / "out" / "before_after.png").is_file()
    answer = result.output.split("Written to")[1]  # gains, then before and after
    assert answer.index("controller.gains.K_P.1") < answer.index("outcome") < answer.index("[mm]")
    repeated = CliRunner().invoke(app, arguments)
    assert repeated.exit_code == 0, repeated.output
