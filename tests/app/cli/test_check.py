"""``balance check`` knows every kind of our files, and tells all that is wrong with one at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from balance.app.cli import app, main
from balance.app.cli.check import kind_of
from balance.config.paths import data_folder
from balance.errors import BalanceError, is_interrupt

EXPERIMENT: dict[str, Any] = {"robot": "toro", "duration_s": 2, "controller": {"law": "momentum"}}
PUSH = {"type": "impulse", "direction": [0, 1, 0], "time_s": 0, "impulse_Ns": 3}
TUNE: dict[str, Any] = {
    "experiment": "toro_push",
    "parameters": [{"key": "controller.gains.K_P.1", "low": 500, "high": 8000}],
    "pushes": [{"name": "side"}],
    "objectives": [{"metric": "settling_time_s"}],
}


def check(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["check", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def problems(path: Path, tree: dict[str, Any]) -> list[str]:
    """The first line of the message, and one line for each problem."""
    path.write_text(yaml.safe_dump(tree, sort_keys=False))
    with pytest.raises(BalanceError) as caught:
        check(str(path))
    assert caught.value.exit_code == 2
    assert list(path.parent.iterdir()) == [path]
    return str(caught.value).split("\n  ")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("toro_push", "valid experiment; robot toro, law momentum, 10 s, 14.28 N s"),
        ("friction", "valid sweep; 60 runs"),
        ("envelope_toro", "valid envelope; "),
        ("tune_toro", "valid tune; 8 parameters, 200 trials"),
        ("compare_toro", "valid compare; 8 laws"),
        ("toro", "valid robot; robot toro, 77.5 kg, 27 joints, 2 soles"),
    ],
)
def test_every_kind_of_shipped_file_is_known_by_name(name: str, told: str) -> None:
    assert told in check(name)


def test_kind_of_every_shipped_file_is_told_by_its_keys() -> None:
    for path in data_folder("configs").rglob("*.yaml"):
        kind = kind_of(yaml.safe_load(path.read_text()))
        first = path.stem.partition("_")[0]
        if path.parent.name == "studies":
            known = {
                "compare": "compare",
                "envelope": "envelope",
                "robots": "envelope",
                "tune": "tune",
            }
            assert kind == known.get(first, kind) != "experiment"
        else:
            assert kind == "experiment"
    assert kind_of({"name": "x", "urdf": "x.urdf", "soles": {}}) == "robot"
    assert kind_of({"experimant": "toro_push", "axes": [], "metric": "x"}) == "sweep"


def test_all_problems_of_an_experiment_are_listed_with_their_keys(tmp_path: Path) -> None:
    tree = {
        **EXPERIMENT,
        "duration_s": -1,
        "controller": {"gains": 3},
        "plant": {"fiction": 1, "engine": "bullet"},
        "pushes": [{"type": "kick"}, {**PUSH, "impulse_Ns": "hard"}],
    }
    first, *lines = problems(tmp_path / "x.yaml", tree)
    assert first == f"{tmp_path / 'x.yaml'} (taken for an experiment): 6 problems"
    keys = ("plant.fiction", "duration_s", "plant.engine", "controller", "pushes.0", "pushes.1")
    for key in keys:
        assert sum(f"'{key}" in line for line in lines) == 1, lines
    (law,) = (line for line in lines if "'law'" in line)
    known = (
        "capture, hierarchical, joint_pd, momentum, ott2011, policy, stepping, virtual_model, "
        "whole_body_qp"
    )
    assert law.endswith(f"valid: {known}")


def test_a_list_of_valid_names_within_a_problem_is_not_counted_as_problems(tmp_path: Path) -> None:
    law = {"law": "momentumm"}
    tree = {**EXPERIMENT, "robot": "toroo", "duration_s": -1, "controller": law}
    first, *lines = problems(tmp_path / "x.yaml", tree)
    assert first == f"{tmp_path / 'x.yaml'} (taken for an experiment): 3 problems"
    assert not any("problems" in line for line in lines)
    assert sum(not line.startswith(" ") for line in lines) == 3
    assert any(line.startswith("  capture: ") for line in lines)


def test_all_contradictions_of_an_experiment_are_listed(tmp_path: Path) -> None:
    late = {**PUSH, "time_s": 9}
    tree = {**EXPERIMENT, "plant": {"step_s": 3e-4}, "pushes": [late, PUSH, late]}
    _, *lines = problems(tmp_path / "x.yaml", tree)
    assert [line.split()[0] for line in lines] == ["control_period_s", "pushes.0", "pushes.2"]


def test_all_names_that_the_robot_lacks_are_listed(tmp_path: Path) -> None:
    tree = {
        **EXPERIMENT,
        "pushes": [{**PUSH, "body": "tail"}, PUSH, {**PUSH, "body": "fin"}],
        "faults": [
            {"type": "locked_joint", "joint": "left_knee"},
            {"type": "locked_joint", "joint": "wing"},
        ],
        "sensors": {"imu": {"body": "beak"}},
    }
    told = problems(tmp_path / "x.yaml", tree)
    for key, name in (
        ("pushes.0.body", "tail"),
        ("pushes.2.body", "fin"),
        ("faults.1.joint", "wing"),
        ("sensors.imu.body", "beak"),
    ):
        assert sum(key in line and name in line for line in told) == 1, told


def test_problems_of_studies_are_told_before_a_folder_exists(tmp_path: Path) -> None:
    tree: dict[str, Any] = {"experiment": EXPERIMENT, "axes": [{"type": "rang", "key": "seed"}]}
    (only,) = problems(tmp_path / "x.yaml", {**tree, "metrics": 1, "axes": []})[:1]
    assert "(taken for a sweep): 2 problems" in only
    axis = {"type": "list", "key": "duration_s", "values": [2, -1, -2]}
    first, *lines = problems(tmp_path / "x.yaml", {**tree, "axes": [axis]})
    assert first.endswith("2 problems")
    assert [line.split(" = ")[0] for line in lines] == [
        "cell 1 (duration_s=-1): 'duration_s'",
        "cell 2 (duration_s=-2): 'duration_s'",
    ]
    (push,) = problems(tmp_path / "x.yaml", {**tree, "axes": [], "directions": {"count": 2}})
    assert "(taken for an envelope): " in push
    assert "an envelope needs a push" in push
    (law,) = problems(tmp_path / "x.yaml", {"experiment": EXPERIMENT, "laws": ["momentun"]})[:1]
    assert "(taken for a comparison): " in law
    assert "did you mean 'momentum'?" in law


@pytest.mark.parametrize("metric", ["peek_torque_Nm", "settling_time_s", "cause"])
def test_metric_that_is_no_number_of_a_sweep_is_found_beforehand(
    tmp_path: Path, metric: str
) -> None:
    axes = [{"type": "list", "key": "seed", "values": [1]}]
    (told,) = problems(
        tmp_path / "x.yaml", {"experiment": EXPERIMENT, "axes": axes, "metric": metric}
    )
    assert f"the metric '{metric}' is no number in the table" in told
    assert "valid: ankle_limit_fraction, " in told


def test_metrics_that_are_no_numbers_of_a_tuning_are_found_beforehand(tmp_path: Path) -> None:
    tree = {
        **TUNE,
        "objectives": [{"metric": "peek_torque_Nm", "goal": "minimise"}],
        "bounds": [{"metric": "settling", "at_most": 3}],
    }
    first, *lines = problems(tmp_path / "x.yaml", tree)
    assert first.endswith("(taken for a tuning study): 2 problems")
    assert "'peek_torque_Nm' is no number in the table (did you mean 'peak_torque_Nm'?)" in lines[0]
    assert "'settling'" in lines[1]
    fine = {**TUNE, "bounds": [{"metric": "peak_torque_Nm", "at_most": 300}]}
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump(fine))
    assert "valid tune; 1 parameters" in check(str(path))


def test_problems_of_a_robot_are_told(tmp_path: Path) -> None:
    source = data_folder("robots") / "toro"
    tree = yaml.safe_load((source / "robot.yaml").read_text())
    first, *lines = problems(tmp_path / "r.yaml", {**tree, "basebody": "hip", "soles": {}})
    assert "(taken for a robot): 2 problems" in first
    assert "'basebody' (did you mean 'base_body'?)" in lines[0]
    assert "soles" in lines[1]
    (missing,) = problems(tmp_path / "r.yaml", tree)
    assert "toro.urdf does not exist; 'urdf' is relative to the YAML file" in missing
    shutil.copy(source / "toro.urdf", tmp_path / "toro.urdf")
    assert "valid robot" in check(str(tmp_path / "r.yaml"))
    with pytest.raises(BalanceError, match="--set changes experiments and studies"):
        check(str(tmp_path / "r.yaml"), "--set", "name=x")


def test_a_robot_with_a_mesh_that_cannot_be_read_is_not_valid(tmp_path: Path) -> None:
    source = data_folder("robots") / "toro"
    shutil.copy(source / "robot.yaml", tmp_path / "r.yaml")
    before, _, after = (source / "toro.urdf").read_text().partition("<collision>")
    origin, _, rest = after.partition("<geometry>")
    rest = rest[rest.index("</geometry>") :]
    mesh = f'{before}<collision>{origin}<geometry><mesh filename="odd.stl"/>{rest}'
    (tmp_path / "toro.urdf").write_text(mesh)
    (tmp_path / "odd.stl").write_text("nonsense")
    with pytest.raises(BalanceError, match=r"the mesh .*odd\.stl cannot be read: Failed to"):
        check(str(tmp_path / "r.yaml"))


def test_unknown_name_lists_what_is_shipped() -> None:
    with pytest.raises(BalanceError, match=r"no file, .* 'toro_pusch' \(did you mean 'toro_push'"):
        check("toro_pusch")


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("experiment", "controller"),
        ("sweep", "axes"),
        ("envelope", "directions"),
        ("tune", "objectives"),
        ("compare", "laws"),
        ("robot", "soles"),
    ],
)
def test_schema_of_every_kind_is_printed(kind: str, key: str) -> None:
    result = CliRunner().invoke(app, ["schema", kind])
    assert key in json.loads(result.output)["properties"]


@pytest.mark.parametrize("command", ["check", "run"])
def test_names_that_only_a_robot_knows_are_told_beside_wrong_keys(
    command: str, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.yaml"
    push = PUSH | {"duration_s": 0.1, "body": "torso"}
    file.write_text(yaml.safe_dump(EXPERIMENT | {"duration": 2, "pushes": [push]}))
    result = CliRunner().invoke(app, [command, str(file)])
    text = str(result.exception)
    assert "2 problems" in text
    assert "unknown key 'duration'" in text
    assert "pushes.0.body = 'torso': robot 'toro' has no such body; valid: head, " in text
    result = CliRunner().invoke(app, [command, str(file), "--set", "robot=Toro"])
    text = str(result.exception)
    assert "2 problems" in text
    assert "unknown robot 'Toro' (did you mean 'toro'?)" in text


@pytest.mark.parametrize(
    ("command", "name", "right"),
    [
        ("run", "envelope_toro", "balance envelope envelope_toro"),
        ("explain", "tune_toro", "balance tune tune_toro"),
        ("envelope", "toro_push", "balance run toro_push"),
    ],
)
def test_the_wrong_command_for_a_shipped_file_names_the_right_one(
    command: str, name: str, right: str
) -> None:
    result = CliRunner().invoke(app, [command, name])
    assert isinstance(result.exception, BalanceError)
    assert right in str(result.exception)


def test_an_interrupt_is_known_however_many_compiled_functions_it_came_through() -> None:
    error: BaseException = KeyboardInterrupt()
    for _ in range(4):
        outer = SystemError("returned a result with an exception set")
        outer.__cause__, error = error, outer
        assert is_interrupt(error)
    assert not is_interrupt(SystemError("of another kind"))
    assert not is_interrupt(ValueError())


def test_an_interrupt_before_the_work_begins_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(path: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("balance.config.find_config", interrupted)
    monkeypatch.setattr("sys.argv", ["balance", "run", "toro_push"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "balance: interrupted\n"
