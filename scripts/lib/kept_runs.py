"""Runs of a campaign that are kept: one short line of JSON each, in a file for each law.

Every line has the hash of the code that it was made with; a table has lines of one hash for a law.
Of a case only what differs from the usual is written.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
from collections import Counter
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import balance

Row = dict[str, Any]
PACKAGE = Path(balance.__file__).parent
NOT_OF_A_RUN = ("analysis/", "app/", "plots/", "studies/")
"""Rooms of the package that no run depends on."""
OF_LAWS = {
    "control/stepping/": ("stepping",),
    "control/capture/": ("capture", "stepping"),
    "robots/capability/lean": ("capture", "stepping"),
}
"""Beginnings of paths, and the laws that alone use what is there."""
ROBOTS = PACKAGE.parent / "robots"
DIGITS = 8  # of a hash
ANY = "any"  # code, where what a run shows holds whatever it was made with
FIGURES = 6  # of a number in a row


@dataclass(frozen=True)
class Case:
    """A push of ``fraction`` of the ankle limit and what it meets; ``world`` is of ``WORLDS``."""

    robot: str
    law: str
    azimuth_deg: float
    fraction: float = 0.0
    engine: str = "pinocchio"
    period_s: float = 0.001
    duration_s: float = 0.02
    place: str = "hip"
    world: str = ""
    seed: int = 0

    @property
    def direction(self) -> np.ndarray:
        """Unit vector (3,)."""
        angle = math.radians(self.azimuth_deg)
        return np.round([math.cos(angle), math.sin(angle), 0.0], 15)


def case_of(row: Row) -> Case:
    """What a row is the outcome of."""
    return Case(**{name: row[name] for name in Case.__dataclass_fields__})


USUAL: Row = {one.name: one.default for one in fields(Case) if one.default is not MISSING}
"""What is not written of a case if it is this."""


@cache
def code_hash(law: str) -> str:
    """Of the code that a run of a law depends on, and of the robots' files.

    Comments do not count, and how a law leans or steps only for those that do.
    """
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        of_others = any(place.startswith(at) and law not in OF_LAWS[at] for at in OF_LAWS)
        if not of_others and not place.startswith(NOT_OF_A_RUN):
            digest.update(place.encode())
            digest.update(what_it_does(path.read_text(encoding="utf-8")).encode())
    for path in sorted(ROBOTS.glob("*.yaml")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:DIGITS]


def what_it_does(source: str) -> str:
    """Python code without comments, docstrings and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [line for line in body if not _is_text(line)]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_text(line: ast.stmt) -> bool:
    value = line.value if isinstance(line, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


class Runs:
    """Finished runs of one code; those of others are left out, and counted."""

    def __init__(self, folder: Path, code: str | None = None) -> None:
        """``code`` is a hash, or ``ANY``; that of the code that runs now without one."""
        self.folder, self._code = folder, code
        self.rows: dict[Case, Row] = {}
        self.others: Counter[str] = Counter()
        """How many rows there are of each other code."""
        for path in sorted(folder.glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = _whole(json.loads(line), path.stem)
                if code == ANY or row["code"] == self.code(path.stem):
                    self.rows[case_of(row)] = row
                else:
                    self.others[row["code"]] += 1

    def code(self, law: str) -> str:
        """The hash of the rows of a law."""
        return self._code or code_hash(law)

    def words(self) -> str:
        """Which code the rows are of, and how many of others were left out."""
        left, codes = self.others.total(), sorted({row["code"] for row in self.rows.values()})
        of = f"Runs of code {' and '.join(codes)}" if codes else "No runs of this code yet"
        return of + (f"; {left} of others left out." if left else ".")

    def add(self, row: Row) -> None:
        """Keep a finished run."""
        row = row | {"code": self.code(row["law"])}
        self.rows[case_of(row)] = row
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{row['law']}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(_short(row), separators=(",", ":")) + "\n")

    def recovered(self, case: Case) -> bool | None:
        """Whether a push was recovered; None if it was not tried."""
        row = self.rows.get(case)
        return None if row is None else row["outcome"] == "recovered"

    def tried(self, cell: Case) -> dict[float, bool]:
        """Of each size of push that was tried in a cell, whether it was recovered."""
        return {
            case.fraction: row["outcome"] == "recovered"
            for case, row in sorted(self.rows.items(), key=lambda item: item[0].fraction)
            if replace(case, fraction=0.0) == cell
        }


def _short(row: Row) -> Row:
    """A row as it is written: without its law, which names the file, and what is usual."""
    return {
        key: float(f"{value:.{FIGURES}g}") if key == "impulse_Ns" else value
        for key, value in row.items()
        if key != "law" and not (key in USUAL and value == USUAL[key]) and value is not None
    }


def _whole(row: Row, law: str) -> Row:
    """A row as it was before it was written."""
    return {"law": law, "cause": None, "code": "", **USUAL, **row}
