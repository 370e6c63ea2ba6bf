"""Tables of README and docs: written by scripts, each between the marks of its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lib import tables

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BETWEEN = re.compile(r"<!-- table: (\w+) -->\n(.*?)\n<!-- end -->", re.DOTALL)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page with places for two tables."""
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- table: x -->\nold\n<!-- end -->\nb\n<!-- table: y -->\n<!-- end -->\n")
    return page


def test_a_table_replaces_its_old_self_and_nothing_else(page: Path) -> None:
    for value in (1, 2):
        tables.write_table("page.md", "x", ["n", "what"], [[value, "a|b"]], "below")
    assert page.read_text() == (
        "a\n<!-- table: x -->\n| n | what |\n|---:|---|\n| 2 | a\\|b |\n\nbelow\n<!-- end -->\n"
        "b\n<!-- table: y -->\n<!-- end -->\n"
    )
    with pytest.raises(SystemExit, match="no place for the table 'z'"):
        tables.write_table("page.md", "z", ["n"], [])


def test_columns_of_numbers_are_aligned_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["toro", "**1.2**", "+3 %", ""], ["g1", "-7", "", "4"]]
    text = tables.print_table(["robot", "a", "b", "c"], rows)
    assert text.splitlines()[1] == "|---|---:|---:|---:|"
    assert capsys.readouterr().out == f"{text}\n"


@pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])
def test_every_mark_is_of_the_one_kind_and_has_its_end(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    marks = re.findall(r"<!-- (?!not run: ).*?-->", text)  # a snippet may say why it does not run
    assert marks == [
        m for name, _ in BETWEEN.findall(text) for m in (f"<!-- table: {name} -->", tables.END)
    ]


def test_every_table_is_written_by_a_script() -> None:
    scripts = [
        *ROOT.glob("scripts/*"),
        *ROOT.glob("scripts/figures/*"),
        *ROOT.glob("scripts/lib/*.py"),
    ]
    code = "\n".join(path.read_text(encoding="utf-8") for path in scripts if path.is_file())
    found = 0
    for page in PAGES:
        for name, content in BETWEEN.findall(page.read_text(encoding="utf-8")):
            assert f'"{name}"' in code, f"{page.name}: nothing writes the table '{name}'"
            assert f'"{page.relative_to(ROOT)}"' in code
            quoted = content.startswith("```\n") and content.endswith("\n```")  # what was printed
            waits = content.startswith("Not measured yet")  # until its script has run
            assert content.startswith("| ") or quoted or waits, f"{page.name}: '{name}' is no table"
            found += 1
    assert found > 20
