"""The loop that every study shares: hand out runs, make each result durable, show how it goes."""

from __future__ import annotations

import contextlib
import io
import shutil
import time
import uuid
import zipfile
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import CancelledError
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NoReturn

from balance.recordings.atomic_writes import replacing
from balance.studies.interface import Study
from balance.studies.store import StudyFolder
from balance.studies.workers import Result, Task, execute, failed

if TYPE_CHECKING:
    from distributed import Client, Future

TICK_S = 0.5
WORKERS_EVERY_S = 2.0
AHEAD = 2  # runs in flight for each worker: one being simulated, one waiting beside it
MOST_LOSSES = 3  # of one run's result, each with the worker that held it
FIGURE_EVERY_S = 5.0
FIGURE_SHARE = 0.02  # of the time, at most, goes into the live figure


Report = Callable[[Study, int], None]
"""Called after every few runs with the study and the number of workers."""


class Runner:
    """One session of a study on the workers of a Dask client."""

    def __init__(
        self, study: Study, folder: StudyFolder, client: Client, report: Report | None = None
    ) -> None:
        self._study, self._folder, self._client = study, folder, client
        self._report = report
        self._in_flight: dict[object, tuple[Task, Future]] = {}
        self._finished: SimpleQueue[Future] = SimpleQueue()
        self._suspects: deque[Task] = deque()
        self._lost: Counter[str] = Counter()
        self._alone = False
        self._submitted = 0
        self._name = f"balance-{uuid.uuid4().hex}"  # others may use the same scheduler
        self._workers = max(1, sum(client.nthreads().values()))
        self._asked = self._drawn = time.monotonic()
        self._pause = FIGURE_EVERY_S

    def run(self, first: Task) -> None:
        """Until no run is left; an interruption or a lost scheduler raises."""
        try:
            self._submit(first)
            while True:
                self._hand_out()
                if not self._in_flight:
                    return
                self._store(self._collect())
                self._look_around()
        finally:
            for _, future in self._in_flight.values():
                future.cancel()

    def _hand_out(self) -> None:
        """Keep every worker busy, with a bounded number of runs in flight."""
        while len(self._in_flight) < AHEAD * self._workers and not self._alone:
            task = self._study.next_task()
            if task is None:
                break
            self._submit(task)
        if not self._in_flight and self._suspects:
            self._alone = True
            self._submit(self._suspects.popleft())

    def _submit(self, task: Task) -> None:
        # A tuple makes all runs one group for Dask, whose bookkeeping would grow otherwise.
        key = (self._name, self._submitted)
        self._submitted += 1
        future = self._client.submit(execute, task, key=key, pure=False)
        self._in_flight[key] = (task, future)
        future.add_done_callback(self._finished.put)

    def _collect(self) -> list[Future]:
        """All futures that have ended; waits for one, but not for ever."""
        ended: list[Future] = []
        try:
            ended.append(self._finished.get(timeout=TICK_S))
            while True:
                ended.append(self._finished.get_nowait())
        except Empty:
            return ended

    def _store(self, ended: list[Future]) -> None:
        for future in ended:
            task, _ = self._in_flight.pop(future.key)
            result = self._result(task, future)
            future.release()
            if result is None:
                continue
            if result.recording is not None:
                self._unpack(task.key, result.recording)
            row = self._study.row(task, result)
            self._folder.append(row)
            self._study.take(row)

    def _result(self, task: Task, future: Future) -> Result | None:
        """What a run gave; None if it is to be tried once more.

        Dask blames every run that waited on a worker for that worker's death.  One that is blamed
        gets a second chance with nothing beside it, so that the innocent are acquitted.
        """
        from distributed import KilledWorker

        alone, self._alone = self._alone, False
        error: BaseException | None = None
        try:
            if future.status == "finished":
                result: Result = future.result()
                return result
            if future.status == "error":
                error = future.exception()
        except KilledWorker as killed:  # its result died with a worker, and so did the repetition
            error = killed
        except (OSError, CancelledError):
            pass
        if error is None:  # lost or cancelled
            self._again(task, alone)
            return None
        if not isinstance(error, KilledWorker):
            return Result(failed(f"{type(error).__name__}: {error}"))
        if alone:
            return Result(
                failed(
                    "its worker process ended every time: the run crashes, or was stuck beyond "
                    f"timeout_s = {task.timeout_s:g} s"
                )
            )
        self._suspects.append(task)
        return None

    def _again(self, task: Task, alone: bool) -> None:
        """Submit a run anew whose result was on a worker that died before it was fetched."""
        if self._client.status != "running":
            self._stop("the scheduler is gone")
        self._lost[task.key] += 1
        if self._lost[task.key] > MOST_LOSSES:
            self._stop(f"the result of run {task.key} was lost {self._lost[task.key]} times")
        self._alone = alone
        self._submit(task)

    def _unpack(self, key: str, packed: bytes) -> None:
        """Put the recording of a run into place, before its row says that it is there."""
        target = self._folder.path / "recordings" / key
        try:
            shutil.rmtree(target, ignore_errors=True)  # of a session that ended before the row
            with replacing(target) as part, zipfile.ZipFile(io.BytesIO(packed)) as archive:
                archive.extractall(part)
        except OSError as error:
            self._stop(f"cannot write {target}: {error.strerror}")

    def _look_around(self) -> None:
        """Is the scheduler there, how many workers are there, is a new figure due?"""
        if self._client.status != "running":
            self._stop("the scheduler is gone")
        now = time.monotonic()
        if now - self._asked > WORKERS_EVERY_S:
            try:
                self._workers = max(1, sum(self._client.nthreads().values()))
            except (OSError, CancelledError):
                self._stop("the scheduler is gone")
            self._asked = now
        if self._report is not None:
            self._report(self._study, self._workers)
        if now - self._drawn > self._pause:
            # The log is what counts: if a figure cannot be written, that will tell.
            with contextlib.suppress(OSError):
                self._study.draw(self._folder.path)
            self._drawn = time.monotonic()
            self._pause = max(FIGURE_EVERY_S, (self._drawn - now) / FIGURE_SHARE)

    def _stop(self, why: str) -> NoReturn:
        raise self._folder.stopped(why) from None
