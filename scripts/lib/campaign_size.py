"""How many runs a campaign still needs, part by part, if laws recover what is asked of them."""

from __future__ import annotations

from pathlib import Path

from lib.kept_runs import Row, Runs, case_of
from lib.measured_plan import PARTS, STARTS, target
from lib.measured_runs import Case, Started, answered

SECONDS = 1.0  # of a run, about


class Expected(Runs):
    """The runs that there are, and others with the outcome that is expected of them."""

    def __init__(self, folder: Path, code: str | None = None) -> None:
        super().__init__(folder, code)
        self.made = 0

    def add(self, row: Row) -> None:
        """Note a run in memory alone."""
        self.made += 1
        self.rows[case_of(row)] = row


def recovers(case: Case) -> bool:
    """Whether a push is expected to be recovered: a guess."""
    return case.fraction < STARTS.get(case.law, target(case.robot)) + 1e-9


def needed(runs: Expected, searches: list[Started]) -> int:
    """How many runs some searches need, which are noted."""
    before = runs.made
    for cell, search in searches:
        answered(runs, cell, search(), recovers)
    return runs.made - before


def print_plan(folder: Path, names: list[str], workers: int) -> None:
    """The parts in their order, with the runs that each needs and how long that takes."""
    runs, total = Expected(folder), 0
    for name in names:
        number = needed(runs, list(PARTS[name](runs)))
        total += number
        minutes = total * SECONDS / workers / 60.0
        print(f"{name:24s}{number:6d} runs   {total:6d} so far, {minutes:5.0f} min", flush=True)
