"""The page that maps equations to functions and tests names things that exist."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import balance

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "equations.md").read_text(encoding="utf-8")
QUOTED = sorted(set(re.findall(r"`([^`]+)`", PAGE)))
ROOMS = {path.stem for path in Path(inspect.getfile(balance)).parent.iterdir()}
FUNCTIONS = [
    name for name in QUOTED if re.fullmatch(r"\w+(\.\w+)+", name) and name.split(".")[0] in ROOMS
]
TEST_NAMES = [name for name in QUOTED if re.fullmatch(r"(::|[\w/]*/)?test_[\w.:]+", name)]
WRITTEN = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_with_its_module_exists(name: str) -> None:
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(["balance", *parts[:end]]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return
    pytest.fail(f"no module of balance for {name}")


@pytest.mark.parametrize("name", TEST_NAMES)
def test_a_test_exists(name: str) -> None:
    for part in filter(None, name.split("::")):
        if part.endswith(".py"):
            assert any(path.as_posix().endswith(f"/{part}") for path in WRITTEN)
        else:
            named = re.compile(rf"\b(def|class) {part}\b")
            assert any(map(named.search, WRITTEN.values()))
