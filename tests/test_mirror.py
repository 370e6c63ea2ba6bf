"""The tests' folders are those of the package, and what names a test names one that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
OWN = {"campaign", "docs", "fuzz", "samples", "scripts"}
"""Folders of tests that are about no room of the package."""

NAMED = re.compile(r"tests/[\w/]+(?:\.\w+)?(?:::\w+)?")
TEXTS = [
    path
    for path in (
        ROOT / "README.md",
        ROOT / "pyproject.toml",
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("scripts/*"),
        *ROOT.glob("balance/**/*.py"),
    )
    if path.is_file()
]


def test_every_folder_of_tests_is_one_of_the_package() -> None:
    holding = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    rooms = {folder for folder in holding if folder.parts and folder.parts[0] not in OWN}
    assert len(rooms) > 15
    assert [str(folder) for folder in rooms if not (ROOT / "balance" / folder).is_dir()] == []


def test_beside_the_folders_there_are_only_tests_of_the_whole() -> None:
    allowed = {"conftest", "test_experiment", "test_layers", "test_mirror", "test_safety"}
    assert {path.stem for path in TESTS.glob("*.py")} <= allowed | {
        "test_equations_page",
        "test_notes_page",
        "test_examples",
    }


@pytest.mark.parametrize("path", TEXTS, ids=[str(path.relative_to(ROOT)) for path in TEXTS])
def test_tests_that_are_named_are_there(path: Path) -> None:
    for name in NAMED.findall(path.read_text(encoding="utf-8")):
        file, _, test = name.partition("::")
        assert (ROOT / file).exists(), f"{path.name} names {file}"
        assert not test or f"def {test}(" in (ROOT / file).read_text(encoding="utf-8")
