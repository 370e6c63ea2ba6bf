"""Executes the notebooks of the docs: all cells in order, in a fresh kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
TIMEOUT_S = 600


def executed(path: Path) -> Any:
    """The notebook with its outputs; a cell that fails is an error."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=TIMEOUT_S, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran, which changes every time
    return notebook


def texts(notebook: Any) -> list[str]:
    """What the cells printed and returned, as plain text."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            found.append("".join(text))
    return found


def main() -> None:
    """Execute all of them and keep the outputs."""
    for path in NOTEBOOKS:
        nbformat.write(executed(path), path)
        print(f"executed {path.relative_to(ROOT)}, {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
