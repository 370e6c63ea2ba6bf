"""Tables of the docs: printed, and written between the marks of docs/robustness.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from balance.results import provenance

PAGE = Path(__file__).resolve().parents[2] / "docs" / "robustness.md"
END = "<!-- end -->"


def stamp(command: str) -> str:
    """Which command made a table, when and with which versions."""
    found = provenance()
    return (
        f"Made by `{command}` on {found['written'][:10]} with balance {found['balance']}, "
        f"pin {found['pin']}, numpy {found['numpy']}, Python {found['python']}."
    )


def print_table(
    mark: str, head: Sequence[str], rows: Iterable[Sequence[object]], *paragraphs: str
) -> str:
    """Print a table with the paragraphs below it; its text."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *rows)]
    lines.insert(1, "|" + "---|" * len(head))
    text = "\n".join(lines) + "".join(f"\n\n{paragraph}" for paragraph in paragraphs)
    print(text)
    return text


def write_table(
    mark: str, head: Sequence[str], rows: Iterable[Sequence[object]], *paragraphs: str
) -> None:
    """Print a table, and put it in the place of the mark's old one."""
    text = print_table(mark, head, rows, *paragraphs)
    page = PAGE.read_text(encoding="utf-8")
    before, found, rest = page.partition(f"<!-- table: {mark} -->\n")
    if not found:
        raise SystemExit(f"{PAGE.name} has no place for the table '{mark}'")
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{found}{text}\n{END}{after}", encoding="utf-8")
