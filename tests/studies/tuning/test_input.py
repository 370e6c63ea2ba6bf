"""Bad input to tuning: one sentence, before anything runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tuning_samples import PUSH, STUDY, tuning_of, write_study
from typer.testing import CliRunner

from balance.app.cli import app
from balance.errors import BalanceError, ConfigError
from balance.studies.tuning.study import Tuning

GAIN = "controller.gains.K_P.1"


def refused(tmp_path: Path, **changes: Any) -> str:
    with pytest.raises(BalanceError) as caught:
        tuning_of(write_study(tmp_path, **changes))
    assert caught.value.exit_code == 2
    text = str(caught.value)
    assert "\n" not in text
    return text


def parameter(**changes: Any) -> list[dict[str, Any]]:
    return [{"key": GAIN, "low": 500, "high": 8000, **changes}]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (parameter(low=8000, high=500), [GAIN, "upside down", "8000", "500"]),
        (parameter(low="few"), ["parameters.0.low", "must be a number"]),
        (parameter(low=-1, log=True), [GAIN, "logarithmic", "above zero"]),
        (parameter(low=-1), [GAIN, "bound -1", "positive definite"]),
        (parameter(key="controller.law"), ["controller.law", "'momentum'", "only a number"]),
        (parameter(key="controller.gains.K_P"), ["controller.gains.K_P", "only a number"]),
        (parameter(key="controller.gains.K_Q.1"), ["controller.gains.K_Q.1", "has no value"]),
        (parameter(low=3000), [GAIN, "2000", "outside the bounds 3000 to 8000", "start: false"]),
        (parameter(factor=True, low=2, high=3), [GAIN, "factor 1", "outside the bounds"]),
        (parameter() * 2, ["the key", GAIN, "more than once"]),
        (parameter(tied=[GAIN]), [GAIN, "more than once"]),
        ([], ["parameters", "at least 1 entry"]),
    ],
)
def test_parameters(tmp_path: Path, parameters: list[dict[str, Any]], words: list[str]) -> None:
    text = refused(tmp_path, parameters=parameters)
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    ("objectives", "words"),
    [
        (
            [{"metric": "settling_time_s"}, {"metric": "settling_time_s", "over": "worst"}],
            ["contradict", "settling_time_s", "more than once"],
        ),
        (
            [{"metric": "settling_time_s", "goal": "maximise"}],
            ["'maximise' contradicts 'settling_time_s'", "minimise"],
        ),
        ([{"metric": "peak_torque_Nm"}], ["peak_torque_Nm", "needs a goal"]),
        ([], ["objectives", "at least 1 entry"]),
    ],
)
def test_objectives(tmp_path: Path, objectives: list[dict[str, Any]], words: list[str]) -> None:
    text = refused(tmp_path, objectives=objectives)
    for word in words:
        assert word in text


def test_cma_es_takes_one_objective(tmp_path: Path) -> None:
    two = [{"metric": "settling_time_s"}, {"metric": "peak_com_error_m"}]
    text = refused(tmp_path, objectives=two, sampler={"type": "cmaes"})
    assert "cmaes improves one objective, but 2 are given" in text


def test_bounds(tmp_path: Path) -> None:
    bound = {"metric": "peak_com_error_m"}
    assert "either at_most or at_least" in refused(tmp_path, bounds=[bound])
    text = refused(tmp_path, bounds=[{**bound, "at_most": "start"}], start=False)
    assert "'start: false' leaves out" in text
    text = refused(tmp_path, bounds=[{**bound, "at_most": 0.01}, {**bound, "at_least": 0.02}])
    assert "contradict each other: at most 0.01 and at least 0.02" in text


def test_weights_of_the_worst_push(tmp_path: Path) -> None:
    text = refused(
        tmp_path,
        pushes=[{"name": "side", "weight": 2}],
        objectives=[{"metric": "settling_time_s", "over": "worst"}],
    )
    assert "weights" in text


def test_pushes_are_checked_before_anything_runs(tmp_path: Path) -> None:
    text = refused(tmp_path, pushes=[{"name": "odd", "set": {"pushes.0.body": "tail"}}])
    assert "tail" in text
    assert "push 'odd'" in text
    text = refused(tmp_path, pushes=[{"name": "odd", "set": {"duration_s": -1}}])
    assert "push 'odd'" in text
    force = {"type": "force", "body": "hip", "direction": [1, 0, 0], "time_s": 0.0}
    force |= {"force_N": 10.0, "duration_s": 0.1}
    searched = [{"metric": "recovered_impulse"}]
    text = refused(
        tmp_path, objectives=searched, pushes=[{"name": "odd", "set": {"pushes": [force]}}]
    )
    assert "'force'" in text
    held_out = {"pushes": [{"name": "new", "set": {"pushes.0.body": 3}}]}
    assert "push 'new'" in refused(tmp_path, validation=held_out)
    envelope = {"directions": {"count": 4}, "set": {"pushes": [{**PUSH, "direction": [0, 0, 0]}]}}
    assert "validation.envelope" in refused(tmp_path, validation={"envelope": envelope})


@pytest.mark.parametrize(
    ("storage", "words"),
    [
        ("nonsense", ["'nonsense' is no storage URL", "sqlite:///"]),
        ("sqlite:////no/such/folder/x.db", ["does not open", "unable to open database file"]),
        ("sqlite+quux://me:secret@host/db", ["does not open", "me:***@host"]),
        ("quux://host/db", ["does not open", "quux"]),
    ],
)
def test_storages(tmp_path: Path, storage: str, words: list[str]) -> None:
    text = refused(tmp_path, storage=storage)
    for word in words:
        assert word in text
    assert "secret" not in text


def test_a_missing_database_driver_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    text = refused(tmp_path, storage="postgresql+psycopg2://me:secret@nowhere.invalid/db")
    assert "needs the database driver 'psycopg2'" in text
    assert "secret" not in text


def test_a_study_keeps_no_password(tmp_path: Path) -> None:
    study = tuning_of(write_study(tmp_path, storage=f"sqlite:///{tmp_path}/x.db"))
    assert "storage" not in study.definition


def test_sweeps_and_envelopes_are_not_tuned(tmp_path: Path) -> None:
    tree = {key: STUDY[key] for key in ("experiment", "set")}
    path = tmp_path / "sweep.yaml"
    path.write_text(yaml.safe_dump({**tree, "axes": [{"type": "laws"}]}))
    with pytest.raises(ConfigError, match="is for 'balance sweep'"):
        tuning_of(path)


def test_trials_in_a_storage_stay_if_the_folder_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--overwrite`` looks at the folder before it deletes anything."""
    path = write_study(tmp_path, storage=f"sqlite:///{tmp_path}/x.db")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    discarded: list[object] = []
    monkeypatch.setattr(Tuning, "discard", discarded.append)
    words = ["tune", str(path), "--out", str(tmp_path / "out"), "--overwrite"]
    result = CliRunner().invoke(app, words)
    assert "so it is not replaced" in str(result.exception)
    assert discarded == []
