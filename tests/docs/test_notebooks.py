"""The notebooks run from top to bottom, and show what they give today."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from lib.tutorials import differences

nbformat = pytest.importorskip("nbformat")
from lib.notebooks import NOTEBOOKS  # noqa: E402

MOST_KB = 300
FORESEEN = ("<Figure", "[<matplotlib")  # a picture in words


def value_of(source: str, names: dict[str, Any]) -> str:
    """Run a cell; what a notebook would show of its last expression."""
    tree = ast.parse(source)
    last = tree.body[-1] if source.rstrip()[-1] != ";" else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<cell>", "exec"), names)
        return ""
    exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), names)
    return repr(eval(compile(ast.Expression(last.value), "<cell>", "eval"), names))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_shows_what_it_gives(path: Path) -> None:
    mpl.use("Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = 0
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        found = value_of(cell.source, names)
        kept = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
        for text in kept:
            if not text.startswith(FORESEEN):
                shown += 1
                assert differences(found, text) == [], found
    assert shown
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_was_executed_in_order_without_an_error_and_is_small(path: Path) -> None:
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(out.output_type != "error" for cell in cells for out in cell.outputs)
    assert path.stat().st_size < 1024 * MOST_KB
