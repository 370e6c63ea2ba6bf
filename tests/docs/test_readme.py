"""The README is short, its links lead somewhere, and what it shows works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from lib.tutorials import blocks

from balance.app.cli import app
from balance.app.cli.check import find_yaml
from balance.config import parse_config
from balance.config.schema import parse_yaml

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
MOST_WORDS = 1200
NAMES = {command.name or command.callback.__name__ for command in app.registered_commands}  # type: ignore[union-attr]
MADE = "results/"  # what commands before it leave


def commands() -> list[list[str]]:
    text = "\n".join(block.text for block in blocks(README) if block.kind == "bash")
    every = [shlex.split(line, comments=True) for line in text.splitlines()]
    return [words for words in every if words[:1] == ["balance"]]


def slug(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def test_it_is_read_in_a_few_minutes() -> None:
    assert len(README.read_text(encoding="utf-8").split()) < MOST_WORDS


def test_every_link_leads_to_a_file_and_to_a_heading_in_it() -> None:
    text = README.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text)
    found = [one or other for one, other in links if not (one or other).startswith("http")]
    assert len(found) > 30
    for link in found:
        path, _, place = link.partition("#")
        assert (ROOT / path).exists(), link
        if place:
            page = (ROOT / path).read_text(encoding="utf-8")
            assert place in [slug(t) for t in re.findall(r"^#+ (.+)$", page, re.MULTILINE)], link


@pytest.mark.parametrize("words", commands(), ids=[" ".join(words[1:3]) for words in commands()])
def test_every_command_and_what_it_names_is_there(words: list[str]) -> None:
    assert words[1] in NAMES
    names = [word for word in words[2:3] if not word.startswith(("-", MADE))]
    for name in names:
        assert find_yaml(name, []).is_file()


def test_the_experiment_is_valid() -> None:
    text = next(block.text for block in blocks(README) if block.kind == "yaml")
    tree = parse_yaml(text, "README.md")
    assert isinstance(tree, dict)
    assert parse_config(tree, "README.md").controller.law == "momentum"


def test_the_lines_of_python_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(next(block.text for block in blocks(README) if block.kind == "python"), names)
    assert capsys.readouterr().out.startswith("recovered 0.044")
    assert names["output"].torques.shape == (len(names["robot"].joint_names),)
