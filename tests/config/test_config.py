"""Every mistake in an experiment's file gets one sentence: file, key, value, what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from balance.config import (
    LAWS,
    ExperimentConfig,
    gain_matrix,
    load_config,
    parse_config,
    parse_overrides,
)
from balance.errors import BalanceError, ConfigError, FileError

CONFIGS = Path(__file__).parents[2] / "configs"
EXPERIMENTS = [p for p in sorted(CONFIGS.glob("*.yaml")) if "\nexperiment:" not in p.read_text()]
NAN, INF = float("nan"), float("inf")
MISSING = object()


def write(folder: Path, key: str, value: Any) -> Path:
    """The paper's experiment with one (dotted) key changed, or left out."""
    tree: Any = yaml.safe_load((CONFIGS / "toro_push.yaml").read_text())
    here, parts = tree, key.split(".")
    for part in parts[:-1]:
        here = here[int(part)] if isinstance(here, list) else here.setdefault(part, {})
    last: Any = int(parts[-1]) if isinstance(here, list) else parts[-1]
    if value is MISSING:
        del here[last]
    else:
        here[last] = value
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(tree))
    return path


def refuse(path: Path | str, kind: type[BalanceError], told: list[str], **overrides: Any) -> None:
    with pytest.raises(kind) as caught:
        load_config(path, overrides)
    message = str(caught.value)
    assert "\n" not in message
    for part in [str(path), *told]:
        assert part in message, message


MOVE = {"time_s": 1.0, "duration_s": 1.0}
PUSH = "pushes.0"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        # unknown and missing keys
        ("durations_s", 1.0, ["unknown key 'durations_s'", "did you mean 'duration_s'?", "valid:"]),
        ("plant.fiction", 1.0, ["'plant.fiction'", "did you mean 'friction'?", "step_s"]),
        ("controller.gains.K_Q", 1.0, ["'controller.gains.K_Q'", "K_D, K_P, K_R"]),
        (f"{PUSH}.force_N", 5.0, ["'pushes.0.force_N'", "valid: axes, body", "energy_J, mass_kg"]),
        ("robot", MISSING, ["key 'robot' is missing"]),
        (
            "controller.law",
            MISSING,
            ["'controller' needs a key 'law'", "valid: capture, hierarchical"],
        ),
        ("controller.gains.D", MISSING, ["'controller.gains'", "the key D is missing"]),
        (f"{PUSH}.type", MISSING, ["'pushes.0' needs a key 'type'; valid: force, half_sine"]),
        # wrong types
        ("duration_s", "long", ["'duration_s' = 'long'", "a number"]),
        ("duration_s", "10", ["'duration_s' = '10'", "a number"]),
        ("duration_s", True, ["'duration_s' = True", "a number"]),
        ("seed", 1.5, ["'seed' = 1.5", "a whole number"]),
        ("robot", 5, ["'robot' = 5", "text"]),
        ("plant", 3, ["'plant' = 3", "a mapping of keys to values"]),
        ("plant", None, ["'plant' = None", "a mapping of keys to values"]),
        ("controller", [], ["'controller' = []", "a mapping of keys to values"]),
        ("pushes", "hard", ["'pushes' = 'hard'", "a list"]),
        (PUSH, "hard", ["'pushes.0' = 'hard'", "a mapping of keys to values"]),
        ("plant.torque_limits", "maybe", ["'plant.torque_limits' = 'maybe'", "true or false"]),
        (f"{PUSH}.direction", [0, 1], ["'pushes.0.direction' = [0, 1]", "number 3 is missing"]),
        # out of range
        (f"{PUSH}.mass_kg", -5, ["'pushes.0.mass_kg' = -5", "greater than 0"]),
        (f"{PUSH}.restitution", 1.5, ["'pushes.0.restitution' = 1.5", "less than or equal to 1"]),
        (f"{PUSH}.direction", [0, 0, 0], ["'pushes.0.direction' = [0, 0, 0]", "not be zero"]),
        ("plant.joint_damping", -1, ["'plant.joint_damping' = -1", "or equal to 0"]),
        ("plant.joint_damping", {"left_knee": -1}, ["'plant.joint_damping.left_knee' = -1"]),
        ("plant.step_s", 0.1, ["'plant.step_s' = 0.1", "0.01"]),
        ("plant.step_s", 3e-4, ["control_period_s = 0.001", "whole multiple", "0.0003"]),
        ("control_period_s", 0, ["'control_period_s' = 0", "greater than 0"]),
        ("seed", -1, ["'seed' = -1", "greater than or equal to 0"]),
        ("duration_s", 1e9, ["duration_s = 1000000000.0", "more than 4000000"]),
        ("controller.qp.regularisation", 2, ["'controller.qp.regularisation' = 2", "equal to 1"]),
        # not finite
        ("duration_s", NAN, ["'duration_s' = nan", "finite"]),
        ("duration_s", INF, ["'duration_s' = inf", "finite"]),
        (f"{PUSH}.point_m", [0, NAN, 0], ["'pushes.0.point_m.1' = nan", "finite"]),
        ("controller.gains.K_P", [1, 2, NAN], ["'controller.gains.K_P' = [1, 2, nan]", "finite"]),
        # gains
        ("controller.gains.K_P", [1, 2], ["'controller.gains.K_P' = [1, 2]", "3 x 3 matrix"]),
        ("controller.gains.K_P", "5", ["'controller.gains.K_P' = '5'", "3 x 3 matrix"]),
        ("controller.gains.K_P", [True, 1, 2], ["'controller.gains.K_P'", "3 x 3 matrix"]),
        ("controller.gains.K_P", -3, ["'controller.gains.K_P' = -3", "positive definite"]),
        ("controller.gains.D", [[1, 2, 0], [2, 1, 0], [0, 0, 1]], ["positive definite"]),
        ("controller.gains.D", [[1, 2, 0], [0, 9, 0], [0, 0, 1]], ["symmetric"]),
        # unknown names
        ("plant.engine", "bullet", ["'plant.engine' = 'bullet'", "'pinocchio'"]),
        ("plant.contact", "rubber", ["'plant.contact' = 'rubber'", "'hard', 'soft' or 'welded'"]),
        (f"{PUSH}.type", "kick", ["'pushes.0.type' = 'kick'", "'force', 'half_sine'"]),
        (f"{PUSH}.axes", "hip", ["'pushes.0.axes' = 'hip'", "'world' or 'body'"]),
        # inconsistent
        (f"{PUSH}.time_s", 11, ["pushes.0 lasts from 11.0", "outside the run", "10.0 s"]),
        (f"{PUSH}.time_s", 9.99, ["pushes.0 lasts from 9.99 to 10.01 s", "outside the run"]),
        (
            "controller.setpoints",
            [MOVE, MOVE | {"time_s": 1.5}],
            ["'controller.setpoints'", "time_s = 1.5", "before the one at 1.0 has ended, at 2 s"],
        ),
    ],
)
def test_mistake_in_the_file_is_told_with_its_key(
    tmp_path: Path, key: str, value: Any, told: list[str]
) -> None:
    refuse(write(tmp_path, key, value), ConfigError, told)


def test_unknown_law_is_told_with_a_line_for_each_known_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(write(tmp_path, "controller.law", "momentun"))
    first, *known = str(caught.value).splitlines()
    assert "'momentun' (did you mean 'momentum'?)" in first
    assert [line.split(":")[0].strip() for line in known] == LAWS.names()
    assert all(
        text in line for line, text in zip(known, map(LAWS.describe, LAWS.names()), strict=True)
    )


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("", ConfigError, ["is empty", "a mapping of keys to values"]),
        ("- 1\n- 2\n", ConfigError, ["holds a list", "a mapping of keys to values"]),
        ("5", ConfigError, ["holds 5"]),
        ("robot: toro\nrobot: g1\n", ConfigError, ["line 2", "key 'robot' is given twice"]),
        ("plant:\n  a: 1\n  a: 2\n", ConfigError, ["line 3", "key 'a' is given twice"]),
        ("a:\n\tb: 1\n", ConfigError, ["line 2, column 1", "not valid YAML", "not tabs"]),
        ("a: [1", ConfigError, ["line 1", "not valid YAML"]),
        ("a: &a [*a]", ConfigError, ["line 1", "recursive"]),
        ("a: *b", ConfigError, ["line 1", "undefined alias 'b'"]),
        ("a: !!python/object:os.system x", ConfigError, ["not valid YAML"]),
        ("a: 2020-99-99", ConfigError, ["line 1", "kind 'timestamp'", "quote it"]),
        ("[" * 1100, ConfigError, ["column 51", "nested more than 50 deep"]),
        ("? [1, 2]\n: 3\n", ConfigError, ["line 1", "not plain text"]),
        ("a: 1\n---\nb: 2\n", ConfigError, ["line 2", "another document"]),
        ("robot: toro\x00", ConfigError, ["not valid YAML"]),
        (bytes(range(256)), FileError, ["not text in UTF-8"]),
        (b"a: " + b"x" * 5_000_000, FileError, ["5000003 bytes", "at most 4000000"]),
    ],
)
def test_file_that_is_no_config_is_refused(
    tmp_path: Path, text: str | bytes, kind: type[BalanceError], told: list[str]
) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    refuse(path, kind, told)


def test_file_that_cannot_be_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(tmp_path / "nothing.yaml", FileError, ["does not exist", "check the path"])
    refuse(tmp_path, FileError, ["is a folder"])
    refuse("a" * 5000 + ".yaml", FileError, ["cannot be read"])
    refuse("toro_pusch", FileError, ["did you mean 'toro_push'?", "toro_quiet"])

    def denied(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, "seed", 1)
    monkeypatch.setattr(Path, "open", denied)
    refuse(path, FileError, ["cannot be read", "Permission denied"])


@pytest.mark.parametrize(
    ("assignment", "told"),
    [
        ("a.b.c=1", ["unknown key 'a'"]),
        ("robot.x=1", ["'robot.x'", "'robot' is 'toro'", "not a mapping or list"]),
        ("duration_s.y.z=1", ["'duration_s.y.z'", "'duration_s' is 10.0", "not a mapping or list"]),
        ("pushes.5.body=hip", ["'pushes.5.body'", "'5'", "from 0 to 0"]),
        ("pushes.-1.body=hip", ["'pushes.-1.body'", "from 0 to 0"]),
        ("controller.gains.K_P.7=1", ["'controller.gains.K_P.7'", "from 0 to 2"]),
        ("duration_s=", ["'duration_s' = None", "a number"]),
        ("plant.step_s=fast", ["'plant.step_s' = 'fast'", "a number"]),
    ],
)
def test_override_to_a_bad_place_or_value_is_refused(assignment: str, told: list[str]) -> None:
    path = CONFIGS / "toro_push.yaml"
    refuse(path, ConfigError, told, **parse_overrides([assignment]))


@pytest.mark.parametrize("text", ["duration_s", "=3", "", " =1"])
def test_override_without_key_or_value_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"expected key\.path=value"):
        parse_overrides([text])


def test_override_that_is_no_yaml_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"--set 'plant.step_s=\[1' at line 1"):
        parse_overrides(["plant.step_s=[1"])


def test_overrides_reach_into_mappings_and_lists() -> None:
    overrides = parse_overrides(
        [
            "duration_s=3",
            "pushes.0.energy_J=2e0",
            "controller.gains.K_P.1=2500",
            "plant.contact=soft",
        ]
    )
    config = load_config("toro_push", overrides)
    (push,) = config.pushes
    assert (config.duration_s, push.model_dump()["energy_J"]) == (3.0, 2.0)
    assert config.controller.gains.K_P == (6000.0, 2500.0, 4000.0)
    assert config.plant.contact == "soft"


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_shipped_config_survives_a_round_trip(path: Path) -> None:
    """By name, by path, and from what a run writes down."""
    config = load_config(path)
    assert load_config(path.stem) == config
    written = yaml.safe_load(yaml.safe_dump(config.model_dump(mode="json")))
    assert parse_config(written, "written") == config


def test_config_is_frozen(toro_config: ExperimentConfig) -> None:
    with pytest.raises(ValueError, match="frozen"):
        toro_config.duration_s = 3.0


def test_number_without_a_dot_in_scientific_notation_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "experiment.yaml"
    text = (CONFIGS / "toro_push.yaml").read_text().replace("step_s: 0.001", "step_s: 1e-3")
    path.write_text(text)
    assert load_config(path).plant.step_s == 0.001


def test_gain_is_a_scalar_a_diagonal_or_a_matrix() -> None:
    assert gain_matrix(2.0).tolist() == [[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0]]
    assert gain_matrix((1.0, 2.0, 3.0)).tolist() == [[1.0, 0, 0], [0, 2.0, 0], [0, 0, 3.0]]
    full = ((2.0, 1.0, 0.0), (1.0, 2.0, 0.0), (0.0, 0.0, 1.0))
    assert gain_matrix(full).tolist() == [list(row) for row in full]


def test_run_covers_its_whole_duration(toro_config: ExperimentConfig) -> None:
    """Periods that do not divide the duration: the last one is begun, rounding adds none."""
    for duration, period, expected in ((1.0, 1e-3, 1000), (0.05, 7e-4, 72), (2.1, 7e-4, 3000)):
        tree = toro_config.model_dump() | {"duration_s": duration, "control_period_s": period}
        tree["plant"] = {"step_s": period}
        assert parse_config(tree | {"pushes": []}, "test").n_periods == expected


def test_the_papers_push_runs_the_law_as_printed_and_the_side_push_adds_the_damper() -> None:
    paper, side = load_config("toro_push"), load_config("toro_side")
    assert paper.controller.contact_damping == 0.0  # type: ignore[attr-defined]
    assert side.controller.contact_damping > 0.0  # type: ignore[attr-defined]
    assert load_config("toro_push", {"controller.contact_damping": 60.0, "reference": None}) == side
