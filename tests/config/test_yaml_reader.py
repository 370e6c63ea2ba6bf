"""YAML is read as its writer meant it, or refused in a sentence; aliases cannot blow up."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import yaml

from balance.config import load_config, parse_overrides, yaml_reader
from balance.config.schema import dump_yaml, parse_yaml
from balance.config.studies import SweepConfig, load_study
from balance.errors import ConfigError
from balance.robots import load_robot

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)
MERGE_BOMB = "a0: &a0 {k: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n" + "".join(
    f"a{i}: &a{i} {{" + ", ".join(f"k{j}: {{<<: *a{i - 1}}}" for j in range(10)) + "}\n"
    for i in range(1, 9)
)


@pytest.mark.parametrize("text", [BOMB, MERGE_BOMB], ids=["lists", "merges"])
def test_alias_bomb_is_refused_before_it_expands(tmp_path: Path, text: str) -> None:
    """Under 1 kB that stands for 1e9 values; as experiment, result folder, study and robot."""
    assert len(text) < 2000
    path = tmp_path / "config.yaml"
    path.write_text(text)
    tracemalloc.start()
    try:
        for load in (load_config, lambda file: load_study(SweepConfig, file), load_robot):
            with pytest.raises(ConfigError, match=r"at line \d, .* more than 200000 values"):
                load(str(path))
        assert tracemalloc.get_traced_memory()[1] < 50e6  # bytes
    finally:
        tracemalloc.stop()


def test_aliases_of_sane_size_are_filled_in() -> None:
    text = "gains: &g {K_P: [1, 2, 3]}\nlater: [*g, *g]\n"
    assert parse_yaml(text, "x")["later"] == [{"K_P": [1, 2, 3]}] * 2


def test_many_values_and_deep_aliases_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert yaml_reader.MAX_VALUES == 200_000
    monkeypatch.setattr(yaml_reader, "MAX_VALUES", 2000)
    parse_yaml("[" + "1," * 1990 + "]", "x")
    with pytest.raises(ConfigError, match="the file holds more than 2000 values"):
        parse_yaml("[" + "1," * 2001 + "]", "x")
    chain = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 60))
    with pytest.raises(ConfigError, match="aliases are nested more than 50 deep"):
        parse_yaml(chain, "x")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("010", ["'010' begins with a zero", "write 10"]),
        ("-017", ["'-017' begins with a zero", "write 17"]),
        ("08", ["'08' begins with a zero", "write 8"]),
        ("1:30.5", ["'1:30.5' looks like a time", "plain number"]),
        ("1:30", ["'1:30' looks like a time"]),
        ("190:20:30", ["'190:20:30' looks like a time"]),
        ("2020-01-01", ["'2020-01-01' is a value of kind 'timestamp'", "quote it"]),
        ("!!bool yes", ["'yes' is neither true nor false"]),
        ("!!map [1]", ["no mapping"]),
        ("1e40", ["1e+40 is no physical quantity"]),
        ("{<<: 3}", ["'<<' takes a mapping"]),
    ],
)
def test_value_that_could_mean_two_things_is_refused(text: str, told: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_yaml(f"key: {text}", "file")
    message = str(caught.value)
    assert "\n" not in message
    for part in ["file at line 1, column", *told]:
        assert part in message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000", 1000),
        ("1_000.5", 1000.5),
        ("1_", "1_"),
        ("0o10", "0o10"),
        ("0x1F", 31),
        ("1e3", 1000.0),
        ("1.5e3", 1500.0),
        ("1.e3", 1000.0),
        ("-.5", -0.5),
        ("+.5e-1", 0.05),
        ("0.5", 0.5),
        ("007.5", 7.5),
        ("-0", 0),
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("OFF", "OFF"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("=", "="),
        ("'010'", "010"),
        ("!!str 1:30", "1:30"),
    ],
)
def test_value_is_what_its_writer_meant(text: str, value: Any) -> None:
    found = parse_yaml(f"key: {text}", "file")["key"]
    assert found == value
    assert type(found) is type(value)


def test_keys_are_the_text_that_is_written() -> None:
    text = "{on: 1, 010: 2, 1: 3, 2020-01-01: 4, 1:30: 5}".replace("1:30: 5", "'1:30': 5")
    assert list(parse_yaml(text, "x")) == ["on", "010", "1", "2020-01-01", "1:30"]
    with pytest.raises(ConfigError, match="key '1' is given twice"):
        parse_yaml("{1: 2, '1': 3}", "x")


def test_own_keys_stand_above_merged_ones_and_earlier_merges_above_later() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {z: 3, <<: [*a, *b]}\n"
    assert parse_yaml(text, "x")["c"] == {"x": 1, "y": 1, "z": 3}


def test_all_bad_values_of_a_file_are_listed() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_yaml("a: 010\nb: 1:30\na: 2\n", "file")
    first, *lines = str(caught.value).split("\n  ")
    assert first == "file: 3 problems"
    assert [line.split(",")[0] for line in lines] == ["at line 1", "at line 2", "at line 3"]


def test_override_is_read_by_the_same_rules() -> None:
    with pytest.raises(ConfigError, match="'010' begins with a zero"):
        parse_overrides(["seed=010"])
    with pytest.raises(ConfigError, match=r"'plant\.torque_limits' = 'off': it must be"):
        load_config("toro_push", parse_overrides(["plant.torque_limits=off"]))


@pytest.mark.parametrize("text", ["12e5", "1234e56", "-.5", "010", "08", "1:30", "on", "~", "1_0"])
def test_written_text_is_read_back_as_text(text: str) -> None:
    """A commit's hash may look like a number."""
    written = dump_yaml({"provenance": {"commit": text}})
    assert parse_yaml(written, "x") == {"provenance": {"commit": text}}


def test_numbers_of_shipped_files_are_those_of_plain_yaml() -> None:
    """Where YAML 1.1 and the writer agree, nothing has changed."""
    root = Path(__file__).parents[2]
    files = [*root.glob("configs/**/*.yaml"), *root.glob("robots/**/*.yaml")]
    assert files
    for path in files:
        # YAML 1.1 takes a key 'on' for a truth value.
        text = re.sub(r"\bon:", '"on":', path.read_text(encoding="utf-8"))
        assert parse_yaml(text, str(path)) == yaml.safe_load(text)
