"""Every script can be loaded: what it imports is where it looks."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


def in_python() -> list[Path]:
    """The scripts that are written in Python; they have no suffix."""
    files = [path for path in sorted(SCRIPTS.rglob("*")) if path.is_file() and not path.suffix]
    return [path for path in files if path.read_bytes().startswith(b"#!/usr/bin/env python3")]


FILES = in_python()
NAMES = [str(path.relative_to(SCRIPTS)) for path in FILES]


def test_scripts_are_found() -> None:
    assert {"readme", "soak", "figures/stances"} <= set(NAMES)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_script_loads_and_runs_only_when_it_is_called(path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("viser")
    last = ast.parse(path.read_text(encoding="utf-8")).body[-1]
    assert isinstance(last, ast.If) and "__main__" in ast.unparse(last.test)
    runpy.run_path(str(path), run_name="loaded")
