"""Tables of the docs: printed, and written between the marks of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from balance.recordings.provenance import provenance

PAGE = Path(__file__).resolve().parents[2] / "docs" / "robustness.md"
END = "<!-- end -->"


def stamp(command: str) -> str:
    """Which command made a table, when and with which versions."""
    found = provenance()
    return (
        f"Made by `{command}` on {found['written'][:10]} with balance {found['balance']}, "
        f"pin {version('pin')}, numpy {version('numpy')}, Python {found['python']}."
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
    replace_block(PAGE, mark, print_table(mark, head, rows, *paragraphs))


def replace_block(page: Path, mark: str, text: str) -> None:
    """Put ``text`` between the marks of a page, in the place of what is there."""
    before, found, rest = page.read_text(encoding="utf-8").partition(f"<!-- table: {mark} -->\n")
    _, end, after = rest.partition(END)
    if not found or not end:
        raise SystemExit(f"{page.name} has no place for the table '{mark}'")
    page.write_text(f"{before}{found}{text}\n{end}{after}", encoding="utf-8")
