"""A path in a YAML file is relative to that file, wherever the command is run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import balance
from balance.config import ExperimentConfig, parse_config, parse_overrides
from balance.config.compare import load_comparison
from balance.config.paths import data_folder
from balance.config.studies import EnvelopeConfig, SweepConfig, load_study
from balance.config.tuning import TuneConfig
from balance.errors import BalanceError, ConfigError, FileError, InputError
from balance.robots.stance import robot_of
from balance.studies.sweep import Sweep

SHORT: dict[str, Any] = {"duration_s": 0.3, "controller": {"law": "momentum"}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a robot of its own beside its experiments; the command runs elsewhere."""
    folder = tmp_path / "project"
    (folder / "mine").mkdir(parents=True)
    toro = data_folder("robots") / "toro"
    for name in ("toro.urdf", "robot.yaml"):
        shutil.copy(toro / name, folder / "mine" / name)
    (folder / "push.yaml").write_text(yaml.safe_dump({**SHORT, "robot": "mine/robot.yaml"}))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return folder


def test_robot_of_an_experiment_is_found_from_any_working_folder(project: Path) -> None:
    config = balance.load_config(Path("..") / "project" / "push.yaml")
    assert config.robot == str(project / "mine" / "robot.yaml")
    assert robot_of(config).mass == pytest.approx(77.5)
    with pytest.raises(FileError, match=r"elsewhere/mine/robot\.yaml does not exist"):
        robot_of(parse_config({**SHORT, "robot": "mine/robot.yaml"}, "from Python"))


def test_result_of_a_run_repeats_from_its_own_folder(project: Path, tmp_path: Path) -> None:
    recording = balance.run(project / "push.yaml")
    folder = balance.save_recording(recording, tmp_path / "out" / "run")
    again = balance.load_config(folder / "config.yaml")
    assert again.robot == recording.config.robot
    assert balance.load_recording(folder).robot.name == recording.robot.name


def test_override_and_mapping_are_relative_to_the_working_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "mine")
    overrides = parse_overrides(["robot=robot.yaml"])
    assert balance.load_config("toro_push", overrides).robot == str(project / "mine/robot.yaml")
    config = balance.load_config({**SHORT, "robot": "robot.yaml"})
    assert config.robot == str(project / "mine/robot.yaml")


def test_study_finds_its_experiment_and_robots_beside_itself(project: Path) -> None:
    robot = str(project / "mine" / "robot.yaml")
    (project / "studies").mkdir()
    study = project / "studies" / "study.yaml"

    def write(**tree: Any) -> Path:
        study.write_text(yaml.safe_dump(tree))
        return study

    axes: list[dict[str, Any]] = [
        {"type": "list", "key": "robot", "values": ["toro", "../mine/robot.yaml"]}
    ]
    sweep = load_study(SweepConfig, write(experiment="../push.yaml", axes=axes))
    assert sweep.experiment["robot"] == robot
    assert Sweep(sweep, "study", str(study)).design.cell(1).overrides == {"robot": robot}
    cases = {"type": "cases", "name": "who", "cases": {"me": {"robot": "../mine/robot.yaml"}}}
    over = {"robot": {"type": "choice", "values": ["../mine/robot.yaml"]}}
    sample = {"type": "sample", "method": "random", "count": 1, "seed": 1, "over": over}
    for axis in (cases, sample, {"type": "zip", "axes": [cases, sample]}):
        text = write(experiment="../push.yaml", axes=[axis], directions={"count": 2})
        found = load_study(EnvelopeConfig, text).model_dump_json()
        assert robot in found
        assert "../mine" not in found
    compared = load_comparison(write(experiment="toro_push", set={"robot": "../mine/robot.yaml"}))
    assert compared.experiment["robot"] == robot


def test_study_does_not_take_an_experiment_from_the_working_folder(project: Path) -> None:
    (project / "studies").mkdir()
    Path("push.yaml").write_text(yaml.safe_dump({**SHORT, "robot": "toro"}))
    study = project / "studies" / "study.yaml"
    study.write_text("experiment: push.yaml\naxes: [{type: laws}]\n")
    with pytest.raises(ConfigError, match=r"studies/push\.yaml does not exist"):
        load_study(SweepConfig, study)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///trials.db", "sqlite:///{folder}/trials.db"),
        ("sqlite:////abs/trials.db", "sqlite:////abs/trials.db"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
    ],
)
def test_database_of_a_study_lies_beside_it(project: Path, url: str, expected: str) -> None:
    tree = {
        "experiment": "toro_push",
        "parameters": [{"key": "controller.gains.K_P.1", "low": 500, "high": 8000}],
        "pushes": [{"name": "side"}],
        "objectives": [{"metric": "settling_time_s"}],
        "storage": url,
    }
    path = project / "tune.yaml"
    path.write_text(yaml.safe_dump(tree))
    assert load_study(TuneConfig, path).storage == expected.format(folder=project)


def test_python_takes_a_name_a_path_a_mapping_and_a_config(project: Path) -> None:
    quick = {"duration_s": 0.3, "pushes": [], "reference": None}
    by_name = balance.load_config("toro_push", quick)
    tree = yaml.safe_load((data_folder("configs") / "toro_push.yaml").read_text())
    assert balance.load_config(tree, quick) == by_name
    assert balance.load_config(data_folder("configs") / "toro_push.yaml", quick) == by_name
    assert balance.load_config(balance.load_config("toro_push"), quick) == by_name
    assert balance.load_config(by_name) is by_name
    assert isinstance(by_name, ExperimentConfig)
    recording = balance.run("toro_push", overrides=quick)
    assert recording.config == by_name
    assert balance.run(tree, overrides=quick).q.tobytes() == recording.q.tobytes()


@pytest.mark.parametrize("value", [None, 3, ["toro_push"], b"toro_push"])
def test_python_refuses_what_is_no_config(value: Any) -> None:
    with pytest.raises(InputError, match=r"a config of type \w+: it must be the path of a YAML"):
        balance.load_config(value)
    with pytest.raises(BalanceError, match="the config: 2 problems"):
        balance.run({"robot": "toro"})
