"""One condition of one law on its way: which runs of which levels are done, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from balance.studies.protocols.interface import BEST, Condition
from balance.studies.protocols.ladder import bracket
from balance.studies.store import Row


@dataclass
class Search:
    """Runs by level and number, the verdicts of the levels that are decided, and what is to run."""

    number: int
    condition: Condition
    rows: dict[int, dict[int, Row]] = field(default_factory=dict)
    passed: dict[int, bool] = field(default_factory=dict)
    waiting: list[tuple[int, int]] = field(default_factory=list)
    begun: bool = False
    finished: bool = False

    @property
    def limit(self) -> int:
        """The highest rung withstood; -1 if none was."""
        return bracket(self.passed, len(self.condition.levels))[0]

    def begin(self, levels: Sequence[int]) -> None:
        """Ask for all runs of some levels."""
        self.begun = True
        for level in levels:
            self.rows[level] = {}
            self.waiting += [(level, run) for run in range(self.condition.runs)]

    def note(self, level: int, run: int, row: Row, passed: Callable[[Sequence[Row]], bool]) -> None:
        """Take a run, and see whether its level is decided.

        That goes by the runs in their order, not by which ended first: the same runs count when
        the study is repeated, and one that was under way when its level failed does not.
        """
        if level in self.passed:
            return
        rows, total = self.rows[level], self.condition.runs
        rows[run] = row
        done = [rows[i] for i in takewhile(rows.__contains__, range(total))]
        if self.condition.stop_failed:
            for count in range(1, len(done) + 1):
                if not passed(done[:count] + [BEST] * (total - count)):
                    self.rows[level], self.passed[level] = dict(enumerate(done[:count])), False
                    return
        if len(done) == total:
            self.passed[level] = passed(done)
