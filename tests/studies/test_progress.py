"""The line that says how a study is going."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from balance.studies import progress
from balance.studies.progress import StudyProgress, describe


class Fake:
    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def expected(self) -> int:
        return 40


def test_the_line_has_rate_time_left_and_outcomes() -> None:
    line = describe(12, 40, 10, 5.0, {"recovered": 10, "fell": 2})
    assert line == "12 of 40 runs, 2/s, 0:00:14 left; recovered 10, fell 2"
    assert describe(0, 40, 0, 3.0, {}) == "0 of 40 runs"


def test_a_pipe_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    output = io.StringIO()
    study = Fake()
    with StudyProgress(Console(file=output, force_terminal=False, width=200)) as shown:
        for second in range(61):
            now[0] = float(second)
            study.counts = {"recovered": second // 2}
            shown.update(study, 1)  # type: ignore[arg-type]
    lines = output.getvalue().splitlines()
    assert 3 <= len(lines) <= 4
    assert all(line.endswith("; 1 worker") for line in lines)
    assert "0.5/s" in lines[-1]


def test_a_terminal_gets_a_bar_with_the_same_line() -> None:
    output = io.StringIO()
    study = Fake()
    study.counts = {"fell": 3}
    with StudyProgress(Console(file=output, force_terminal=True, width=200)) as shown:
        shown.update(study, 2)  # type: ignore[arg-type]
    assert "3 of 40 runs" in output.getvalue()
    assert "fell 3; 2 workers" in output.getvalue()
