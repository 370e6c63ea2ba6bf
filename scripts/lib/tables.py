"""Tables of README and docs: printed, and written between the marks of their page.

A place for a table is ``<!-- table: NAME -->`` and, some lines below, ``<!-- end -->``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from balance.recordings.provenance import provenance

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- table: {} -->", "<!-- end -->"
NUMBERS = "0123456789+-≥"  # what a cell with a number begins with


def stamp(command: str) -> str:
    """Which command made a table, when and with which versions."""
    found = provenance()
    return (
        f"Made by `{command}` on {found['written'][:10]} with balance {found['balance']}, "
        f"pin {version('pin')}, numpy {version('numpy')}, Python {found['python']}."
    )


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], *paragraphs: str) -> str:
    """Print a table with the paragraphs below it; its text."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    ruler = "|".join("---:" if _numbers(column) else "---" for column in _columns(head, cells))
    lines = ["| " + " | ".join(row) + " |" for row in (head, *cells)]
    lines.insert(1, f"|{ruler}|")
    text = "\n".join(lines) + "".join(f"\n\n{paragraph}" for paragraph in paragraphs)
    print(text)
    return text


def _columns(head: Sequence[str], cells: list[list[str]]) -> list[list[str]]:
    return [[row[i] for row in cells if row[i]] for i in range(len(head))]


def _numbers(column: list[str]) -> bool:
    return bool(column) and all(cell.lstrip("*")[:1] in NUMBERS for cell in column)


def write_table(
    page: str, mark: str, head: Sequence[str], rows: Iterable[Sequence[object]], *paragraphs: str
) -> None:
    """Print a table, and put it in the place of the mark's old one; ``page`` is below the root."""
    write_block(page, mark, print_table(head, rows, *paragraphs))


def rows_of(page: str, mark: str) -> dict[str, list[str]]:
    """The rows of a page's table as they are there, by their first cell."""
    text = (ROOT / page).read_text(encoding="utf-8").partition(f"{BEGIN.format(mark)}\n")[2]
    lines = [line for line in text.partition(END)[0].splitlines() if line.startswith("| ")]
    rows = [line.strip("| ").split(" | ") for line in lines[1:]]
    return {row[0]: row for row in rows}


def write_block(page: str, mark: str, text: str) -> None:
    """Put ``text`` between the marks of a page, in the place of what is there."""
    path = ROOT / page
    before, found, rest = path.read_text(encoding="utf-8").partition(f"{BEGIN.format(mark)}\n")
    _, end, after = rest.partition(END)
    if not found or not end:
        raise SystemExit(f"{page} has no place for the table '{mark}'")
    path.write_text(f"{before}{found}{text}\n{end}{after}", encoding="utf-8")
