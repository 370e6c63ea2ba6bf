"""Every snippet of the tutorials runs, in order, in an empty folder, and prints what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.tutorials import blocks, differences, run_page

from balance.app import terminal

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [DOCS / "start.md", DOCS / "policies.md", *sorted((DOCS / "tutorials").glob("*.md"))]
NAMES = [page.stem for page in PAGES]
WIDTH = 110


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_does_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setattr(terminal.console, "width", WIDTH)  # made before, whatever its width then
    for ran in run_page(page, tmp_path):
        if ran.expected is not None:
            assert differences(ran.printed, ran.expected) == [], ran.printed
        else:
            assert "balance: " not in ran.printed, f"{ran.block.text}\n{ran.printed}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_is_not_run_says_why(page: Path) -> None:
    every = blocks(page)
    assert every, "a tutorial without a snippet"
    assert all(len(block.reason) > 10 for block in every if block.reason is not None)


def test_lines_are_compared_by_their_words_and_nearly_by_their_numbers() -> None:
    printed = "head\n│ CoM, largest error [mm] │ 44.6 │\n│ control step, median [µs] │ 27 │\n"
    assert differences(printed, "│ CoM, largest error [mm] │ 44.9 │\n") == []
    assert differences(printed, "│ CoM, largest error [mm] │ 54.9 │\n") != []
    assert differences(printed, "control step, median [µs] 400\n") == []
    assert differences(printed, "control step, median [µs] 27\nhead\n") == ["head"]
