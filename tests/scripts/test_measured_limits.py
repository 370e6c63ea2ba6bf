"""Searches of a campaign find limits that are known, and its file is taken for what was run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from lib import kept_runs, measured_runs
from lib.again import compared
from lib.campaign_size import Expected, needed
from lib.kept_runs import code_hash, what_it_does
from lib.measured_plan import PARTS
from lib.measured_runs import Case, Row, Runs, Search, below, bisect, carry_out, edge, holds
from lib.measured_tables import found

CELL = Case("toro", "capture", 45.0)


def asked(search: Search, good: Callable[[float], bool]) -> dict[float, bool]:
    """All sizes that a search asks for, answered by a rule."""
    sizes: dict[float, bool] = {}
    size: float | None = next(search)
    while size is not None:
        assert size not in sizes
        sizes[size] = good(size)
        try:
            size = search.send(sizes[size])
        except StopIteration:
            size = None
    return sizes


@pytest.mark.parametrize("limit", np.arange(0.15, 1.6, 0.05).round(2))
def test_bisection_ends_at_the_last_size_that_is_recovered(limit: float) -> None:
    sizes = asked(bisect(0.8), lambda size: size <= limit + 1e-9)
    assert max(size for size, good in sizes.items() if good) == pytest.approx(limit)
    assert min(size for size, good in sizes.items() if not good) == pytest.approx(limit + 0.05)
    assert len(sizes) < 11


def test_from_the_target_two_failures_upwards_are_seen_and_a_hole_between_them() -> None:
    sizes = asked(edge(1.05, beyond=2), lambda size: size != 1.15 and size < 1.22)
    assert sizes == {1.05: True, 1.1: True, 1.15: False, 1.2: True, 1.25: False}


def test_below_the_target_the_first_size_that_is_recovered_ends_the_search() -> None:
    expected = {1.05: False, 1.0: False, 0.95: False, 0.9: True}
    assert asked(edge(1.05), lambda size: size < 0.92) == expected
    assert asked(holds(1.05), lambda size: size < 0.92) == expected
    assert asked(holds(0.5), lambda size: True) == {0.5: True}


def row(size: float, outcome: str) -> Row:
    return asdict(Case("toro", "capture", 45.0, size)) | {"outcome": outcome, "cause": None}


def test_a_file_that_is_read_again_has_the_same_runs(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    for size, outcome in ((0.9, "recovered"), (1.0, "fell"), (1.05, "recovered"), (1.1, "fell")):
        runs.add(row(size, outcome))
    again = Runs(tmp_path)
    assert again.rows == runs.rows
    one = found(again, CELL)
    assert one is not None
    assert (one.value, one.open_end, one.beyond) == (0.9, False, (1.05,))
    assert found(again, Case("toro", "momentum", 45.0)) is None
    spots = asked(below(again, CELL, spots=[0.2]), lambda size: True)
    assert list(spots) == pytest.approx([0.2, *np.arange(0.5, 1.01, 0.05)])


def test_rows_are_short_and_those_of_another_code_are_left_out(tmp_path: Path) -> None:
    Runs(tmp_path, "0ld").add(row(0.9, "recovered"))
    runs = Runs(tmp_path)
    assert not runs.rows
    assert runs.others == {"0ld": 1}
    assert "1 of others left out" in runs.words()
    runs.add(row(1.0, "fell"))
    assert Runs(tmp_path).recovered(Case("toro", "capture", 45.0, 1.0)) is False
    assert Runs(tmp_path, "0ld").recovered(Case("toro", "capture", 45.0, 0.9)) is True
    for line in (tmp_path / "capture.jsonl").read_text(encoding="utf-8").splitlines():
        assert len(line) < 100, line


def test_the_hash_changes_with_what_code_does_and_with_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert what_it_does('"""A."""\nx = 1  # one\n') == what_it_does('"""B."""\n\nx = (1)\n')
    assert what_it_does("x = 1") != what_it_does("x = 2")
    assert what_it_does('def f():\n    """Nothing."""\n') == "def f():\n    pass"
    names = "control/law.py", "plots/a.py", "control/stepping/a.py", "control/capture/a.py"
    files = [tmp_path / name for name in names]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(kept_runs, "PACKAGE", tmp_path)
    hashes = []
    for numbers in ("1111", "1211", "1221", "1222", "2222"):
        for path, number in zip(files, numbers, strict=True):
            path.write_text(f"x = {number}", encoding="utf-8")
        code_hash.cache_clear()
        hashes.append([code_hash(law) for law in ("momentum", "capture", "stepping")])
    code_hash.cache_clear()
    momentum, capture, stepping = zip(*hashes, strict=True)
    assert momentum[0] == momentum[1] == momentum[2] == momentum[3] != momentum[4]
    assert capture[0] == capture[1] == capture[2] != capture[3] != capture[4]
    assert stepping[0] == stepping[1] != stepping[2] != stepping[3] != stepping[4]


def test_a_plan_counts_the_runs_that_a_search_needs_and_keeps_none(tmp_path: Path) -> None:
    runs = Expected(tmp_path)
    assert needed(runs, [(CELL, lambda: edge(1.15))]) == 2
    assert needed(runs, [(CELL, lambda: edge(1.15))]) == 0
    assert not list(tmp_path.iterdir())


def test_what_is_known_is_not_simulated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Here:
        """A pool that computes at once."""

        def __init__(self, workers: int) -> None: ...
        def __enter__(self) -> Here:
            return self

        def __exit__(self, *_: object) -> None: ...
        def submit(self, _: object, case: Case) -> measured_runs.Future[Row]:
            made.append(case.fraction)
            future: measured_runs.Future[Row] = measured_runs.Future()
            future.set_result(row(case.fraction, "recovered" if case.fraction < 0.9 else "fell"))
            return future

    made: list[float] = []
    monkeypatch.setattr(measured_runs, "ProcessPoolExecutor", Here)

    def plan() -> Iterator[measured_runs.Started]:
        yield CELL, lambda: bisect(0.8)

    runs = Runs(tmp_path)
    carry_out(runs, plan(), 1)
    first = list(made)
    assert sorted(first) == [0.8, 0.85, 0.9, 0.95]
    carry_out(Runs(tmp_path), plan(), 1)
    assert made == first


def test_every_part_names_cells_that_there_are(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    for name, part in PARTS.items():
        cases = [(cell, next(search(), None)) for cell, search in part(runs)]  # size asked first
        assert cases or name == "elsewhere"
        assert len(set(cases)) == len(cases)


def test_what_is_repeated_is_counted_by_how_it_ends() -> None:
    base = asdict(CELL) | {"cause": None, "code": "old"}
    fell, fell_again = ({"outcome": "fell", "cause": cause} for cause in ("slipped", "sank"))
    drawn = [base | {"outcome": "recovered"}, base | fell, base | fell, base | {"fraction": 1.1}]
    drawn[3] |= {"outcome": "recovered", "world": "mass +5 %"}
    anew: list[Row] = [base | {"outcome": "recovered"}, base | fell, base | fell_again, base | fell]
    law, number, alike, same, others = compared("capture", drawn, anew)
    assert (law, number, alike, same) == ("capture", 4, 3, 2)
    assert others == "toro 45° at 1.10, pinocchio, hip, mass +5 %: recovered, now fell"
    assert compared("momentum", drawn, anew)[1] == 0
