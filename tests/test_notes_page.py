"""The page that does the lecture notes: every snippet runs and prints what the page says."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


def load_script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("notes_script", str(ROOT / "scripts" / "notes"))
    spec = importlib.util.spec_from_loader("notes_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


SCRIPT = load_script()
PAGE = (ROOT / "docs" / "notes.md").read_text(encoding="utf-8")
SNIPPETS = [(found["code"], found["printed"]) for found in SCRIPT.SNIPPET.finditer(PAGE)]


def test_the_page_has_its_snippets() -> None:
    assert len(SNIPPETS) == PAGE.count("```python") == PAGE.count("```text") >= 6


@pytest.mark.parametrize(("code", "printed"), SNIPPETS)
def test_a_snippet_prints_what_the_page_says(code: str, printed: str) -> None:
    assert SCRIPT.run(code) == printed


def test_the_figure_of_the_wrist_is_shown() -> None:
    assert "(figures/rotation_ik.png)" in PAGE
    assert (ROOT / "docs" / "figures" / "rotation_ik.png").is_file()
