"""Every key of our YAML files says what it means, in which unit, with an example that is valid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from lib.key_pages import KINDS
from lib.key_reference import Examples, Key, Section, keys, schema_of, sections
from pydantic import TypeAdapter
from typer.testing import CliRunner

from balance.app.cli import app
from balance.config import parse_config
from balance.config.meanings import meaning, owner
from balance.config.schema import Strict, _with_tuples, parse_yaml
from balance.errors import ConfigError

EMPTY = ("required", "–", "[]", "{}", "its defaults", "''")


@pytest.fixture(scope="module")
def examples() -> Examples:
    return Examples()


def rows(kind: str, examples: Examples) -> Iterator[tuple[Section, Key]]:
    for section in sections(schema_of(kind)):
        for key in keys(section, examples):
            yield section, key


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_has_a_meaning(kind: str, examples: Examples) -> None:
    lacking = [
        f"{owner(section.model, key.name).__qualname__}.{key.name}"
        for section, key in rows(kind, examples)
        if not key.meaning
    ]
    assert lacking == [], "write a text below each key, as balance/config/meanings.py says"


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_has_a_unit(kind: str, examples: Examples) -> None:
    lacking = [
        f"{owner(section.model, key.name).__qualname__}.{key.name}"
        for section, key in rows(kind, examples)
        if "number" in key.type.replace("whole number", "")
        and not meaning(section.model, key.name).unit
    ]
    assert lacking == [], "give a unit in brackets, [-] if there is none"


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_has_an_example_or_a_default_that_shows_its_form(
    kind: str, examples: Examples
) -> None:
    lacking = [
        f"{owner(section.model, key.name).__qualname__}.{key.name}"
        for section, key in rows(kind, examples)
        if not key.example
        and key.default in EMPTY
        and "<" not in key.type  # a section, which has keys of its own
        and key.name != section.tag[0]
        and key.type != "text"
    ]
    assert lacking == [], "end their texts with 'Example: VALUE.'"


@pytest.mark.parametrize("kind", KINDS)
def test_every_example_is_valid(kind: str, examples: Examples) -> None:
    for section, key in rows(kind, examples):
        if key.example and key.name != "experiment":  # a study is given that by name
            field = section.model.model_fields[key.name]
            adapter: TypeAdapter[Any] = TypeAdapter(Annotated[field.rebuild_annotation(), field])
            value = _with_tuples(parse_yaml(key.example, f"{section.title} {key.name}"))
            adapter.validate_python(value, strict=True)


class _Springs(Strict):
    """Keys of somebody's own law."""

    kp: float = 300.0
    """Stiffness of every joint [N m/rad]. Example: 250."""
    share: float = 0.5
    lag_s: float = 0.0
    """How late it is."""


def test_a_text_gives_meaning_unit_and_example() -> None:
    told = meaning(_Springs, "kp")
    assert (told.text, told.unit, told.example) == (
        "Stiffness of every joint.",
        "N m/rad",
        "250",
    )


def test_a_unit_may_stand_in_the_name() -> None:
    assert meaning(_Springs, "lag_s").unit == "s"


def test_a_key_without_a_text_has_no_meaning() -> None:
    assert meaning(_Springs, "share").text == ""


def test_the_json_schema_tells_the_meaning_of_ours_and_of_a_users_own(tmp_path: Path) -> None:
    law = tmp_path / "own.py"
    law.write_text(
        "from pydantic import BaseModel\n\n"
        "class Mine:\n"
        "    class Config(BaseModel):\n"
        "        kp: float = 1.0\n"
        '        """Stiffness [N m/rad]."""\n\n'
        "    def step(self, q, v, t):\n"
        "        return 0 * v[6:]\n"
    )
    printed = CliRunner().invoke(app, ["schema", "--law", f"{law}:Mine"]).stdout
    tree = json.loads(printed)
    assert tree["properties"]["duration_s"]["description"] == "How long the run lasts [s]."
    mine = tree["$defs"]["MineLawConfig"]["properties"]
    assert mine["kp"]["description"] == "Stiffness [N m/rad]."
    assert mine["law"]["description"].startswith("Name of the law")


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("law", "momentum", "unknown key 'law' (it belongs under 'controller')"),
        (
            "controller",
            "momentum",
            "a mapping of keys to values, such as {law: momentum}",
        ),
        ("duration_s", None, "key 'duration_s' is missing (how long the run lasts [s])"),
    ],
)
def test_a_complaint_says_what_the_key_means(key: str, value: object, told: str) -> None:
    tree: dict[str, Any] = {"robot": "toro", "duration_s": 1.0, "controller": {"law": "momentum"}}
    tree[key] = value
    if value is None:
        del tree[key]
    with pytest.raises(ConfigError) as caught:
        parse_config(tree, "the file")
    assert told in str(caught.value)
