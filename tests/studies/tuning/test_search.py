"""Tuning: the same study for any order of events, and costs that lead to better gains."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tuning_samples import KilledError, drive, rows_of, trials_of, tuning_of, write_study

from balance.errors import ConfigError
from balance.studies.store import StudyStoppedError
from balance.studies.tuning.archive import front, score_of

PARETO = [{"metric": "settling_time_s"}, {"metric": "peak_com_error_m"}]


def tuned(path: Path, folder: Path, order: int = 0, **keywords: Any) -> list[tuple[Any, ...]]:
    study = tuning_of(path)
    drive(study, folder, order, **keywords)
    return trials_of(study)


SAMPLERS = pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sampler": {"type": "cmaes", "population": 4}},
        {"sampler": {"type": "nsga2", "population": 4}, "objectives": PARETO},
    ],
    ids=["tpe", "cmaes", "nsga2"],
)


@SAMPLERS
def test_a_study_depends_on_its_seed_and_on_nothing_else(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    """Other workers, another order of events, and kills at three instants: the same trials."""
    path = write_study(tmp_path, **changes)
    reference = tuned(path, tmp_path / "a")
    assert len(reference) == 12
    assert tuned(path, tmp_path / "b", order=5, workers=7) == reference
    for kill_after in (2, 5, 9):
        with pytest.raises(KilledError):
            tuned(path, tmp_path / "c", order=kill_after, kill_after=kill_after)
    assert tuned(path, tmp_path / "c", order=9) == reference
    other = write_study(tmp_path, seed=1, **changes)
    assert tuned(other, tmp_path / "d") != reference


def test_a_finished_study_goes_on_with_more_trials(tmp_path: Path) -> None:
    """To the same trials as if it had been asked for all of them; no run is repeated."""
    objectives = [{"metric": "settling_time_s"}, {"metric": "torque_effort_N2m2s"}]
    at_once = tuned(write_study(tmp_path, trials=14, objectives=objectives), tmp_path / "a")
    first = tuning_of(write_study(tmp_path, trials=6, objectives=objectives))
    drive(first, tmp_path / "b", 0)
    assert first.validation is not None
    earlier = first.best().number
    before = {row["key"] for row in rows_of(tmp_path / "b")}
    more = tuning_of(write_study(tmp_path, trials=14, objectives=objectives))
    drive(more, tmp_path / "b", 3)
    assert trials_of(more) == at_once
    keys = [row["key"] for row in rows_of(tmp_path / "b")]
    assert len(keys) == len(set(keys)) and set(keys) > before
    best = more.best().number
    assert best != earlier  # or this test would show less
    assert f"tuned-{best}-itself.0" in keys


@SAMPLERS
def test_an_extension_knows_at_each_trial_no_more_than_a_longer_study(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    """Far beyond the random trials of the beginning, and in the middle of a generation."""
    at_once = tuned(write_study(tmp_path, trials=31, **changes), tmp_path / "a")
    tuned(write_study(tmp_path, trials=22, **changes), tmp_path / "b")
    assert tuned(write_study(tmp_path, trials=31, **changes), tmp_path / "b", order=3) == at_once


def test_an_asking_that_was_cut_short_is_completed(tmp_path: Path) -> None:
    """A crash may leave a trial without values, or without the mark that it has them."""
    import optuna

    path = write_study(tmp_path)
    reference = tuned(path, tmp_path / "a")
    study = tuning_of(path)
    with pytest.raises(KilledError):
        drive(study, tmp_path / "b", 0, kill_after=2)
    storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/b/optuna.db")
    storage.create_new_trial(study.archive.study._study_id)
    assert tuned(path, tmp_path / "b", order=3) == reference


def test_trials_can_be_built_again_from_the_runs(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    reference = tuned(path, tmp_path / "a")
    runs = len(rows_of(tmp_path / "a"))
    (tmp_path / "a" / "optuna.db").write_bytes(b"no database" * 100)
    with pytest.raises(ConfigError, match=r"does not open: .*; delete it, and the same command"):
        tuned(path, tmp_path / "a")
    (tmp_path / "a" / "optuna.db").unlink()
    assert tuned(path, tmp_path / "a") == reference
    assert len(rows_of(tmp_path / "a")) == runs


def test_a_storage_that_goes_away_stops_the_study(tmp_path: Path) -> None:
    study = tuning_of(write_study(tmp_path))
    with pytest.raises(KilledError):
        drive(study, tmp_path / "a", 0, kill_after=4)
    (tmp_path / "a" / "optuna.db").write_bytes(b"no database" * 100)
    with pytest.raises(StudyStoppedError, match=r"does not answer .* goes on from there"):
        study.archive.ask(None)


@pytest.mark.parametrize("sampler", ["tpe", "cmaes"])
def test_it_finds_the_bottom_of_a_bowl(tmp_path: Path, sampler: str) -> None:
    path = write_study(tmp_path, trials=40, sampler={"type": sampler})
    study = tuning_of(path)
    drive(study, tmp_path / "a", 0)
    first, best = study.archive.asked()[0], study.best()
    assert first.params == {"controller.gains.K_P.1": 2000.0, "controller.gains.K_D.1": 1.0}
    excess = score_of(best).costs[0] - 0.225  # at the bottom, the mean of both pushes
    assert excess < 0.2 * (score_of(first).costs[0] - 0.225)


def test_a_fall_costs_more_than_standing_and_less_the_later_it_comes(tmp_path: Path) -> None:
    parameters = [{"key": "controller.gains.K_D.1", "low": 0.1, "high": 2.0}]
    path = write_study(tmp_path, parameters=parameters, trials=30)
    study = tuning_of(path)
    drive(study, tmp_path / "a", 0)
    scores = [(t.params["controller.gains.K_D.1"], score_of(t)) for t in study.archive.told()]
    fallen = sorted((damping, s.costs[0]) for damping, s in scores if s.ended.startswith("fell"))
    standing = [s.costs[0] for _, s in scores if not s.ended]
    assert len(fallen) >= 3
    assert min(cost for _, cost in fallen) > max(standing)
    # The pretended robot falls later with more damping.
    assert [cost for _, cost in fallen] == sorted((c for _, c in fallen), reverse=True)
    rows = [row for row in rows_of(tmp_path / "a") if row["outcome"] == "fell"]
    assert {row["run"] for row in rows if row["trial"].isdigit()} == {0}


def test_hopeless_trials_are_given_up_after_their_first_push(tmp_path: Path) -> None:
    eager = write_study(tmp_path, trials=16, give_up=0.1, sampler={"type": "tpe", "startup": 4})
    study = tuning_of(eager)
    drive(study, tmp_path / "a", 0)
    given_up = [t for t in study.archive.told() if "given up" in score_of(t).ended]
    assert given_up
    runs = [row["trial"] for row in rows_of(tmp_path / "a")]
    for trial in given_up:
        assert runs.count(str(trial.number)) == 1


def test_a_bound_keeps_the_best_trial_within_the_start(tmp_path: Path) -> None:
    """Unbounded, the bowl's bottom has a larger peak than the start."""
    free = tuning_of(write_study(tmp_path, trials=30))
    drive(free, tmp_path / "a", 0)
    bounds = [{"metric": "peak_com_error_m", "over": "worst", "at_most": "start"}]
    bound = tuning_of(write_study(tmp_path, trials=30, bounds=bounds))
    drive(bound, tmp_path / "b", 0)
    start = score_of(bound.archive.asked()[0]).metrics["worst peak_com_error_m"]
    best = score_of(bound.best())
    assert best.feasible
    assert best.metrics["worst peak_com_error_m"] <= start
    assert free.best().params["controller.gains.K_P.1"] > 2500
    assert bound.best().params["controller.gains.K_P.1"] <= 2000


def test_the_front_holds_what_no_other_trial_beats(tmp_path: Path) -> None:
    study = tuning_of(write_study(tmp_path, trials=25, objectives=PARETO))
    drive(study, tmp_path / "a", 0)
    best = front(study.archive.told())
    numbers = {trial.number for trial in best}
    costs = {t.number: score_of(t).costs for t in study.archive.told()}
    assert len(best) > 2
    for number, mine in costs.items():
        beaten = any(
            all(x <= y for x, y in zip(other, mine, strict=True)) and other != mine
            for other in costs.values()
        )
        assert (number in numbers) is not beaten
    assert study.best().number in numbers


def test_the_recovered_impulse_is_searched_for(tmp_path: Path) -> None:
    """The pretended robot stands 10 N s plus its damping."""
    study = tuning_of(
        write_study(
            tmp_path,
            objectives=[{"metric": "recovered_impulse", "over": "worst"}],
            pushes=[{"name": "front", "set": {"pushes.0.direction": [1, 0, 0]}}],
            trials=8,
        )
    )
    drive(study, tmp_path / "a", 0)
    ankle_Ns = study.plan.ladders[0].ankle_Ns
    for trial in study.archive.told():
        score = score_of(trial)
        stands = 10.0 + study.keys_of(trial.params)["controller.gains.K_D.1"]
        if study.keys_of(trial.params)["controller.gains.K_D.1"] >= 0.8:
            reached = score.metrics["worst recovered_impulse"] * ankle_Ns
            assert stands - 0.06 * ankle_Ns < reached <= stands


def test_seeds_and_weights_make_the_mean(tmp_path: Path) -> None:
    pushes = [
        {"name": "side", "weight": 3, "seeds": [1, 2]},
        {"name": "front", "set": {"pushes.0.direction": [1, 0, 0]}},
    ]
    study = tuning_of(write_study(tmp_path, pushes=pushes, trials=1))
    drive(study, tmp_path / "a", 0)
    start = score_of(study.archive.told()[0])
    side = 0.2 + 0.1 * (math.log(1 / 2) ** 2 + math.log(1 / 8) ** 2)
    assert start.metrics["mean settling_time_s"] == pytest.approx(side + 0.25 * 0.05, rel=1e-6)
    assert {row["seed"] for row in rows_of(tmp_path / "a") if row["push"] == "side"} == {1, 2}


def test_tied_keys_move_together(tmp_path: Path) -> None:
    parameters = [
        {"key": "controller.gains.K_P.0", "tied": ["controller.gains.K_P.1"], "factor": True,
         "low": 0.5, "high": 2.0},
        {"key": "controller.gains.D.0", "tied": ["controller.gains.D.1"], "low": 5, "high": 50},
    ]  # fmt: skip
    study = tuning_of(write_study(tmp_path, parameters=parameters, trials=6))
    drive(study, tmp_path / "a", 0)
    for trial in study.archive.told():
        keys = study.keys_of(trial.params)
        ratio = keys["controller.gains.K_P.0"] / keys["controller.gains.K_P.1"]
        assert ratio == pytest.approx(3.0, rel=1e-3)  # Table 1: 6000 and 2000
        assert keys["controller.gains.D.0"] == keys["controller.gains.D.1"]


def test_two_commands_share_a_storage(tmp_path: Path) -> None:
    """Each begins with the present gains; together they do the trials once."""
    path = write_study(tmp_path, storage=f"sqlite:///{tmp_path}/shared.db", trials=10)
    first = tuning_of(path)
    with pytest.raises(KilledError):
        drive(first, tmp_path / "a", 0, kill_after=8)
    second = tuning_of(path)
    drive(second, tmp_path / "b", 1)
    again = tuning_of(path)
    drive(again, tmp_path / "a", 2)
    told = again.archive.told()
    assert len({trial.number for trial in told}) == len(told) >= 10
    assert len(told) <= 10 + 4  # what the first command had open when it was killed
    assert {len(again.archive.mine()) + len(second.archive.mine())} == {len(told)}
