"""The page that maps equations to functions and tests names things that exist and can be imported.

Every name in backticks of its tables is looked up: one that cannot be placed fails.
"""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pinocchio as pin
import pytest

from balance.config import LAWS, ExperimentConfig
from balance.config.sections import law_section

TESTS = Path(__file__).parent
ROOT = TESTS.parent
PAGE = (ROOT / "docs" / "equations.md").read_text(encoding="utf-8")
WRITTEN = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")}
HOMES = ("balance", "balance.dynamics", "balance.rotations")
SCHEMAS = repr(
    [
        section.model_json_schema()
        for section in (ExperimentConfig, *(law_section({"law": name}) for name in LAWS))
    ]
)
EXPORTING = ("balance.dynamics", "balance.rotations")


def rows(page: str) -> Iterator[list[str]]:
    """The four cells of every row of the tables."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) == 6 and not set(cells[1]) <= set("-") and cells[1] != "equation":
            yield cells[1:-1]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


ROWS = list(rows(PAGE))
FUNCTION_CELLS = sorted({row[2] for row in ROWS if quoted(row[2])})
TEST_CELLS = sorted({row[3] for row in ROWS})


def resolve(name: str, home: str) -> tuple[Any, list[Any]] | None:
    """What ``home.name`` is, and the things passed on the way there that are no modules."""
    parts = f"{home}.{name}".split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        passed = []
        for part in parts[end:]:
            if not hasattr(found, part):
                return None
            found = getattr(found, part)
            passed.append(found)
        return found, passed
    return None


def siblings(previous: list[Any]) -> list[Any]:
    """Where a bare name after another one may live: its class, or its module."""
    homes: list[Any] = []
    for thing in previous:
        homes += [thing] if inspect.isclass(thing) else []
        module = getattr(thing, "__module__", None)
        homes += [sys.modules[module]] if isinstance(module, str) and module in sys.modules else []
    return homes


def look_up(names: list[str]) -> Iterator[tuple[str, Any, list[Any]]]:
    """Each name of a cell with what it is; None where nothing has that name."""
    seen: list[Any] = []
    for name in names:
        short = name.removeprefix("balance.")
        candidates = [resolve(short, home) for home in HOMES]
        found = next((candidate for candidate in candidates if candidate), None)
        if found is None:
            owner = next((home for home in siblings(seen) if hasattr(home, name)), None)
            found = (getattr(owner, name), [owner]) if owner is not None else None
        thing, passed = found if found else (None, [])
        seen += [*passed, thing]
        yield name, thing, passed


def is_config_key(name: str) -> bool:
    """``key: value`` of an experiment's YAML, in the sections that all have or in one of a law."""
    key = re.fullmatch(r"(\w+): \w+", name)
    return bool(key) and f"'{key[1]}':" in SCHEMAS


def functions_of(cell: str) -> list[str]:
    """Names of a cell of functions, without scripts, YAML keys and Pinocchio's own."""
    if cell.startswith("Pinocchio"):
        return []
    return [n for n in quoted(cell) if not n.startswith("scripts/") and not is_config_key(n)]


@pytest.mark.parametrize("cell", FUNCTION_CELLS)
def test_every_function_exists(cell: str) -> None:
    for name in quoted(cell):
        if name.startswith("scripts/"):
            assert (ROOT / name).is_file(), name
        elif cell.startswith("Pinocchio"):
            assert hasattr(pin, name), name
    missing = [name for name, thing, _ in look_up(functions_of(cell)) if thing is None]
    assert missing == []


@pytest.mark.parametrize("cell", FUNCTION_CELLS)
def test_functions_of_dynamics_and_rotations_are_exported(cell: str) -> None:
    for name, thing, passed in look_up(functions_of(cell)):
        public = next((x for x in [*passed, thing] if not isinstance(x, ModuleType)), None)
        home = getattr(public, "__module__", "") or ""
        for package in EXPORTING:
            if home.startswith(f"{package}."):
                exports = sys.modules[package]
                assert public.__name__ in exports.__all__, f"{name} is not in {package}.__all__"
                assert getattr(exports, public.__name__) is public


@pytest.mark.parametrize("package", EXPORTING)
def test_every_export_exists_and_is_no_module(package: str) -> None:
    """A function named like its module wins over it, whatever was imported before."""
    exports = importlib.import_module(package)
    for name in exports.__all__:
        assert not isinstance(getattr(exports, name), ModuleType), name


@pytest.mark.parametrize("cell", TEST_CELLS)
def test_every_test_exists(cell: str) -> None:
    for name in quoted(cell):
        if name == "balance theory":
            continue
        if name.startswith("docs/"):
            assert (ROOT / name).is_file(), name
        elif "test_" in name:
            assert is_written(name), name
        else:
            assert resolve(name, "balance"), name


def is_written(name: str) -> bool:
    """Whether ``file::class::function`` or a part of it is in the tests."""
    texts = WRITTEN
    for part in filter(None, name.split("::")):
        if part.endswith(".py"):
            texts = {p: t for p, t in WRITTEN.items() if p.as_posix().endswith(f"/{part}")}
        else:
            named = re.compile(rf"\b(def|class) {part}\b")
            texts = {p: t for p, t in texts.items() if named.search(t)}
    return bool(texts)


def test_the_page_says_what_is_not_implemented_and_why() -> None:
    section = PAGE.split("## Not implemented, and why")[1].split("\n## ")[0]
    reasons = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    assert len(reasons) > 2 and all(len(why) > 20 for *_, why in reasons[1:])
    for name in quoted(section):
        assert (ROOT / name).is_file() or resolve(name, "balance.dynamics"), name


@pytest.mark.parametrize(
    "wrong", ["dynamics.curvature.curvatur", "kinematics.nothing", "BaseChange.nothing", "nothing"]
)
def test_a_name_that_does_not_exist_is_noticed(wrong: str) -> None:
    assert [thing for _, thing, _ in look_up([wrong])] == [None]


def test_a_key_that_no_section_has_is_noticed() -> None:
    assert is_config_key("tracking: true") and not is_config_key("trackin: true")


def test_importing_balance_loads_neither_pinocchio_nor_the_equations() -> None:
    code = "import sys, balance; print([m for m in sys.modules if m in ('pinocchio', 'scipy')])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "[]"
