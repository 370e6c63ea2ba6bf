"""Files that mean harm: they are refused before anything is read, run or filled."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import balance
from balance.analysis.bench.report import load_report
from balance.config.paths import data_folder
from balance.config.schema import load_yaml_mapping, parse_yaml
from balance.config.studies import SweepConfig, load_study
from balance.errors import BalanceError, ConfigError, FileError, RobotError
from balance.experiment import Experiment
from balance.recordings import disk_arrays
from balance.recordings.outputs import RUN, Output
from balance.recordings.results import load_recording
from balance.recordings.size import check_study_size, recording_bytes
from balance.robots import load_robot
from balance.simulation.plants.render import check_encoder
from balance.studies.sweep import Sweep

MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'


@pytest.fixture
def own_robot(tmp_path: Path) -> Path:
    """A copy of the TORO-like robot that a user may change."""
    folder = tmp_path / "mine"
    shutil.copytree(data_folder("robots") / "toro", folder)
    return folder


def with_mesh(folder: Path, name: str) -> Path:
    urdf = folder / "toro.urdf"
    text = urdf.read_text(encoding="utf-8")
    at = text.index(">", text.index("<link ")) + 1
    urdf.write_text(text[:at] + MESH.format(name) + text[at:], encoding="utf-8")
    return folder / "robot.yaml"


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "file:///etc/passwd",
        "../outside.stl",
        "package://../outside.stl",
        "package://x/../../outside.stl",
        "package:///etc/passwd",
        "package://%2e%2e/outside.stl",
        "http://example.org/x.stl",
    ],
)
def test_urdf_must_not_name_a_file_outside_of_its_package(own_robot: Path, name: str) -> None:
    robot = with_mesh(own_robot, name)
    with pytest.raises(RobotError, match="outside of its package"):
        load_robot(robot)


def test_a_link_does_not_lead_out_of_a_package_either(own_robot: Path) -> None:
    os.symlink("/etc", own_robot / "meshes")
    with pytest.raises(RobotError, match="outside of its package"):
        load_robot(with_mesh(own_robot, "meshes/passwd"))


@pytest.mark.parametrize("name", ["meshes/hand.stl", "package://meshes/hand.stl"])
def test_urdf_may_name_a_mesh_of_its_own(own_robot: Path, name: str) -> None:
    assert load_robot(with_mesh(own_robot, name)).name == "toro"


def test_a_parser_that_prints_is_quoted_in_one_sentence(
    own_robot: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    urdf = own_robot / "toro.urdf"
    urdf.write_text(urdf.read_text().replace("<limit ", "<limits ", 1))
    with pytest.raises(RobotError, match="does not specify limits"):
        load_robot(own_robot / "robot.yaml")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['touch pwned']",
        "a: !!python/name:os.system",
        "a: !!binary aGk=",
        "a: 2024-01-01",
        "a: !!set {x, y}",
        "a: 1e308",
        "a: 1e-200",
        "a: " + "9" * 40,
        "a: " + "[" * 5000,
    ],
)
def test_yaml_holds_plain_values_only(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^here"):
        parse_yaml(text, "here")
    assert not Path("pwned").exists()


def test_what_a_file_says_cannot_break_the_sentence_that_quotes_it() -> None:
    """Neither by line breaks nor by sequences that a terminal obeys."""
    with pytest.raises(FileError) as caught:
        balance.load_config("text\nmore\r\x1b[31m\u2028end\n")
    assert "'text\\nmore\\r\\x1b[31m\\u2028end\\n'; valid: " in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert str(ConfigError("known laws are\n  a: one\n  b: two")).count("\n") == 2


@pytest.mark.parametrize(
    "take",
    [
        lambda name: balance.load_config(name),
        lambda name: load_study(SweepConfig, name),
        lambda name: load_recording(name),
        lambda name: load_report(Path(name)),
        lambda name: load_robot("toro", folders=[Path(name)]),
        lambda name: Output(Path(name), RUN),
        lambda name: check_encoder(Path(f"{name}.gif")),
    ],
)
@pytest.mark.parametrize("length", [300, 5000])
def test_a_name_too_long_for_any_file_system_is_no_crash(
    take: Callable[[str], object], length: int
) -> None:
    with pytest.raises(BalanceError):
        take(length * "a")


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(FileError, match="does not end"):
        load_yaml_mapping(Path("/dev/zero"))


def test_a_run_that_asks_for_a_terabyte_is_refused_before_it_starts() -> None:
    long = {"duration_s": 3900.0, "plant.step_s": 0.001, "pushes": []}
    hours = balance.load_config("toro_push", long)
    robot = load_robot("toro")
    assert 3e9 < recording_bytes(hours, robot) < 1e10
    with pytest.raises(BalanceError, match="more than 4000000 simulation steps"):
        balance.load_config("toro_push", {**long, "duration_s": 1e9})


def test_a_run_larger_than_the_disk_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("balance.recordings.size._free_bytes", lambda: 10**6)
    with pytest.raises(ConfigError, match=r"for its recording; at most 0\.001 GB"):
        Experiment(balance.load_config("toro_push"))


def test_large_arrays_reserve_their_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(FileError, match="no room for 80 MB of a recording: No space left"):
        disk_arrays.zeros((10_000_000,), float)


def test_a_sweep_that_asks_for_a_terabyte_is_refused_before_it_starts(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    axes = "{type: range, key: controller.gains.K_P.1, start: 1000, stop: 2000, count: 100000}"
    study.write_text(
        f"experiment: toro_push\naxes:\n  - {axes}\nrecordings: {{outcomes: [fell, recovered]}}\n"
    )
    with pytest.raises(ConfigError, match=r"100000 runs with 100000 kept recordings need \d"):
        Sweep(load_study(SweepConfig, study), "study", str(study))


def test_the_size_of_a_study_is_that_of_its_rows_and_recordings() -> None:
    config, robot = balance.load_config("toro_push"), load_robot("toro")
    check_study_size(10_000_000, 100, config, robot)
    with pytest.raises(ConfigError, match="vary less"):
        check_study_size(100_000_000, 0, config, robot)


def test_a_range_without_end_is_refused(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    axis = "{type: range, key: duration_s, start: 1, stop: 1e12, step: 0.1}"
    study.write_text(f"experiment: toro_push\naxes: [{axis}]\n")
    with pytest.raises(ConfigError, match="more than 10000000 values"):
        load_study(SweepConfig, study)


def test_nothing_in_the_package_unpickles() -> None:
    """Results are YAML, JSON and Parquet; Dask's own messages are the cluster's affair."""
    for file in Path(balance.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for word in ("pickle", "yaml.unsafe_load", "yaml.full_load", "eval(", "exec("):
            assert word not in text, f"{file}: {word}"
