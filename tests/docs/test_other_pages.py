"""What the pages besides the tutorials show: commands that parse, and YAML that is valid."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from lib.tutorials import blocks

import balance
from balance.app.cli import app
from balance.app.cli.check import find_yaml
from balance.config.experiment import ExperimentConfig, parse_overrides
from balance.config.schema import parse_yaml
from balance.errors import BalanceError

DOCS = Path(__file__).resolve().parents[2] / "docs"
RUN = ("start", "policies")  # whole, by test_tutorials.py
PAGES = [page for page in sorted(DOCS.glob("*.md")) if page.stem not in RUN]
NAMED = ("run", "live", "sweep", "envelope", "tune", "compare", "explain", "check")
THERE = ("results/", "my.yaml", "my_", "push.yaml")  # what the reader has made
COMMAND = typer.main.get_command(app)
BASES = {  # of examples that lean on another robot, surface or law
    "talos_box": ("phases", "objects"),
    "toro_press": ("wanted_forces",),
    "solo12_push": ("virtual_forces",),
}


def commands() -> Iterator[tuple[str, list[str]]]:
    for page in PAGES:
        for block in blocks(page):
            for line in block.text.splitlines() if block.kind == "bash" else ():
                words = shlex.split(line, comments=True)
                if words[:1] == ["balance"] and "..." not in line:
                    yield page.stem, words[1:]


def pieces() -> Iterator[tuple[str, str]]:
    """Blocks of YAML; where a key comes again, the next of several examples begins."""
    for page in PAGES:
        for block in blocks(page):
            if block.kind != "yaml" or block.file:
                continue
            keys, lines = set[str](), list[str]()
            for line in block.text.splitlines():
                key = line.split(":")[0] if re.match(r"\w+:", line) else ""
                if key in keys:
                    yield page.stem, "\n".join(lines)
                    keys, lines = set(), []
                keys |= {key} - {""}
                lines.append(line)
            yield page.stem, "\n".join(lines)


KEYS = set(ExperimentConfig.model_fields) - {"quantities"}
SECTIONS = [
    (page, text)
    for page, text in pieces()
    if "my_laws.py" not in text  # by tests/test_examples.py
    and set(re.findall(r"^(\w+):", text, re.M)) <= KEYS
]


@pytest.mark.parametrize(("page", "words"), list(commands()))
def test_a_command_parses_and_what_it_names_is_there(page: str, words: list[str]) -> None:
    with COMMAND.make_context("balance", [], resilient_parsing=True) as context:
        name, command, rest = COMMAND.resolve_command(context, list(words))  # type: ignore[attr-defined]
        assert command.make_context(name, rest, parent=context)
    named = words[1] if len(words) > 1 and words[0] in NAMED else "-"
    if not named.startswith(("-", *THERE)):
        assert find_yaml(named, []).is_file()
    if words[0] == "run" and not named.startswith(("-", *THERE)):
        settings = [after for option, after in pairwise(words) if option == "--set"]
        assert balance.load_config(named, parse_overrides(settings))


@pytest.mark.parametrize(("page", "text"), SECTIONS, ids=[page for page, _ in SECTIONS])
def test_sections_of_an_experiment_are_valid_ones(page: str, text: str) -> None:
    tree = parse_yaml(text, page)
    base = next((name for name, keys in BASES.items() if any(k in text for k in keys)), "toro_push")
    assert balance.load_config(base, flat(tree)).robot


def test_a_section_with_a_wrong_key_is_seen() -> None:
    assert len(SECTIONS) > 8
    with pytest.raises(BalanceError, match="frction"):
        balance.load_config("toro_push", flat(parse_yaml("plant: {frction: 0.4}", "x")))


def flat(tree: dict[str, Any]) -> dict[str, Any]:
    """Dotted keys of two levels."""
    found: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, dict) and "law" not in value and key != "objects":
            found |= {f"{key}.{inner}": item for inner, item in value.items()}
        else:
            found[key] = value
    return found
