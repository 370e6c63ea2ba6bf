"""The loop that hands out runs, with a client that answers as it is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from distributed import KilledWorker

from balance.studies.runner import AHEAD, Runner
from balance.studies.store import Row, StudyFolder, StudyStoppedError
from balance.studies.workers import Result, Task

WORKERS = 2


class Future:
    """A run whose end the test decides."""

    def __init__(self, key: object, task: Task) -> None:
        self.key, self.task = key, task
        self.status, self._value = "pending", None
        self.tell: Callable[[Future], None] = lambda _: None

    def add_done_callback(self, tell: Callable[[Future], None]) -> None:
        self.tell = tell

    def end(self, status: str, value: Any) -> None:
        self.status, self._value = status, value
        self.tell(self)

    def exception(self) -> Any:
        return self._value

    def result(self) -> Any:
        if isinstance(self._value, Exception):
            raise self._value
        return self._value

    def release(self) -> None:
        pass

    cancel = release


class Client:
    """Two workers that finish their runs in turn; ``fate`` says how a run ends."""

    status = "running"

    def __init__(self, fate: Callable[[Task], tuple[str, Any]]) -> None:
        self._fate = fate
        self.waiting: list[Future] = []
        self.most = 0
        self.order: list[str] = []

    def nthreads(self) -> dict[str, int]:
        return {f"worker {i}": 1 for i in range(WORKERS)}

    def submit(self, _: object, task: Task, key: object, pure: bool) -> Future:
        assert not pure
        self.order.append(task.key)
        self.waiting.append(Future(key, task))
        self.most = max(self.most, len(self.waiting))
        return self.waiting[-1]

    def finish_one(self) -> None:
        if self.waiting:
            future = self.waiting.pop(0)
            future.end(*self._fate(future.task))


class Cells:
    """A study of numbered cells."""

    kind = "cells"
    definition: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, count: int) -> None:
        self.counts: Counter[str] = Counter()
        self._next = iter(range(count))

    def next_task(self) -> Task | None:
        index = next(self._next, None)
        return None if index is None else Task(str(index), {}, f"cell {index}", 60.0)

    def row(self, task: Task, result: Result) -> Row:
        return {"key": task.key, **result.columns}

    def take(self, row: Row) -> None:
        self.counts[row["outcome"]] += 1

    def expected(self) -> int:
        return 0

    def draw(self, folder: Path, pdf: bool = False) -> None:
        pass

    def resume(self, folder: StudyFolder) -> None:
        pass

    def finish(self, folder: StudyFolder, pdf: bool = False) -> None:
        pass


def done(_: Task) -> tuple[str, Any]:
    return "finished", Result({"outcome": "recovered"})


def carry_out(client: Any, cells: Cells, folder: StudyFolder) -> None:
    """Run to the end; the client finishes a run whenever the loop looks for one."""
    runner = Runner(cells, folder, client)
    collect = runner._collect

    def finish_and_collect() -> list[Any]:
        client.finish_one()
        return collect()

    runner._collect = finish_and_collect  # type: ignore[method-assign]
    first = cells.next_task()
    assert first is not None
    runner.run(first)


@pytest.fixture
def folder(tmp_path: Path) -> StudyFolder:
    return StudyFolder(tmp_path / "study", "cells", {})


def test_every_cell_runs_once_with_few_in_flight(folder: StudyFolder) -> None:
    client, cells = Client(done), Cells(200)
    carry_out(client, cells, folder)
    assert sorted(map(int, client.order)) == list(range(200))
    assert len(folder) == cells.counts["recovered"] == 200
    assert client.most == AHEAD * WORKERS


def test_a_run_blamed_for_a_dead_worker_gets_a_second_chance_alone(folder: StudyFolder) -> None:
    """Cell 3 kills its worker every time; its neighbours 2 and 4 are only blamed the first time."""
    beside: list[int] = []

    def fate(task: Task) -> tuple[str, Any]:
        blamed = client.order.count(task.key) == 1 and task.key in ("2", "3", "4")
        if client.order.count(task.key) == 2:
            beside.append(len(client.waiting))
        if task.key == "3" or blamed:
            return "error", KilledWorker(task.key, "worker 0", 3)
        return done(task)

    client, cells = Client(fate), Cells(10)
    carry_out(client, cells, folder)
    assert cells.counts == {"recovered": 9, "error": 1}
    assert beside == [0, 0, 0]
    row = folder.get("3")
    assert row is not None and "its worker process ended every time" in row["error"]


def test_an_error_of_dask_is_a_row(folder: StudyFolder) -> None:
    def fate(task: Task) -> tuple[str, Any]:
        return ("error", MemoryError("too big")) if task.key == "1" else done(task)

    carry_out(Client(fate), Cells(3), folder)
    row = folder.get("1")
    assert row is not None and row["error"] == "MemoryError: too big"
    assert len(folder) == 3


@pytest.mark.parametrize("ending", ["cancelled", "lost"])
def test_a_lost_scheduler_ends_the_study_and_keeps_its_rows(
    folder: StudyFolder, ending: str
) -> None:
    def fate(task: Task) -> tuple[str, Any]:
        if int(task.key) < 5:
            return done(task)
        client.status = "connecting"
        return ending, None

    client = Client(fate)
    with pytest.raises(StudyStoppedError, match="the scheduler is gone; the 5 finished runs"):
        carry_out(client, Cells(10), folder)
    assert len(folder) == 5


def test_a_result_that_died_with_its_worker_is_made_again(folder: StudyFolder) -> None:
    """The run had ended, but its worker was killed before the result was fetched."""

    def fate(task: Task) -> tuple[str, Any]:
        return ("lost", None) if client.order.count(task.key) < 3 else done(task)

    client, cells = Client(fate), Cells(4)
    carry_out(client, cells, folder)
    assert cells.counts == {"recovered": 4} and len(folder) == 4


def test_results_that_are_lost_every_time_end_the_study(folder: StudyFolder) -> None:
    def fate(task: Task) -> tuple[str, Any]:
        return ("lost", None) if task.key == "1" else done(task)

    with pytest.raises(StudyStoppedError, match="run 1 was lost 4 times; the 2 finished runs"):
        carry_out(Client(fate), Cells(3), folder)


def test_a_result_whose_repetition_kills_a_worker_too_is_blamed(folder: StudyFolder) -> None:
    """Dask repeats by itself a run whose result is gone, and raises when it is fetched."""

    def fate(task: Task) -> tuple[str, Any]:
        if task.key == "1" and client.order.count(task.key) == 1:
            return "finished", KilledWorker(task.key, "worker 0", 3)
        return done(task)

    client, cells = Client(fate), Cells(4)
    carry_out(client, cells, folder)
    assert cells.counts == {"recovered": 4} and client.order.count("1") == 2


def test_runs_that_ended_together_with_a_lost_one_are_kept(folder: StudyFolder) -> None:
    def fate(task: Task) -> tuple[str, Any]:
        if task.key != "2":
            return done(task)
        client.status = "connecting"
        return "lost", None

    client = Client(fate)
    one = client.finish_one
    client.finish_one = lambda: [one() for _ in range(4)]  # type: ignore[assignment, func-returns-value, return-value]
    with pytest.raises(StudyStoppedError, match="the 2 finished runs"):
        carry_out(client, Cells(10), folder)
    assert "0" in folder and "1" in folder


def test_a_lost_connection_is_noticed_while_nothing_finishes(folder: StudyFolder) -> None:
    client = Client(done)
    client.finish_one = lambda: None  # type: ignore[method-assign]
    client.status = "connecting"
    with pytest.raises(StudyStoppedError, match="the scheduler is gone"):
        carry_out(client, Cells(3), folder)
