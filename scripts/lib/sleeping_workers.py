"""A study on 8 workers in 4 process groups whose runs mostly sleep, and what a model says of it.

Simulating on 8 workers needs 8 cores.  A run that sleeps for as long as a simulation takes needs
none, and all else is as it is in a study: the command, the scheduler, and what travels between
them.  So the machinery's own cost is what is measured here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from distributed import Client

from balance.studies.cluster import workers
from balance.studies.measure import repeated
from balance.studies.runner import Runner
from balance.studies.store import StudyFolder
from balance.studies.sweep import Sweep

GROUPS, WORKERS_EACH = 4, 2
START_S = 300.0
# Loaded into every worker: what a run is there.  The row is as wide as that of a simulation.
SLEEPS = """
import time
import balance.studies.workers as of_workers

def execute(task, whole=of_workers.execute):
    began, cpu = time.perf_counter(), time.thread_time()
    columns = {{f"column_{{i}}": 0.1 * i for i in range(60)}}
    columns |= {{"outcome": "recovered", "error": None, "peak_com_error_m": 0.01}}
    time.sleep({sleep_s})
    columns["wall_time_s"] = time.perf_counter() - began
    columns["cpu_time_s"] = time.thread_time() - cpu
    return of_workers.Result(columns)

of_workers.execute = execute
"""


@dataclass(frozen=True)
class Pace:
    """A study's ``runs`` of ``sleep_s`` on some workers, and CPU times of one of them, s."""

    workers: int
    runs: int
    sleep_s: float
    elapsed_s: float
    within_s: float  # mean time of a run on its worker: it may wake late
    command_s: float
    scheduler_s: float

    @property
    def rate(self) -> float:
        """Runs per second."""
        return self.runs / self.elapsed_s

    @property
    def bottleneck_s(self) -> float:
        """Time that one after the other must have for a run: the command's, or the scheduler's."""
        return max(self.command_s, self.scheduler_s)


def predicted_s(runs: int, count: int, run_s: float, extra_s: float, bottleneck_s: float) -> float:
    """How long a study takes: the rounds of its workers, or what one process does for all runs.

    ``extra_s`` is what a worker waits between two runs.  docs/cluster.md has the model.
    """
    rounds = -(-runs // count)
    return max(rounds * (run_s + extra_s), runs * bottleneck_s)


@contextmanager
def cluster(folder: Path, groups: int, each: int, sleep_s: float) -> Iterator[tuple[str, int]]:
    """A scheduler and process groups of workers on loopback; its address and process."""
    started: list[subprocess.Popen[bytes]] = []
    program = folder / "sleeps.py"
    program.write_text(SLEEPS.format(sleep_s=sleep_s), encoding="utf-8")
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def start(kind: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--host", "127.0.0.1"]
        command += ["--dashboard-address", "127.0.0.1:0", *words]
        started.append(
            subprocess.Popen(
                command, env=quiet, stderr=subprocess.DEVNULL, start_new_session=True, cwd=folder
            )
        )
        return started[-1]

    try:
        file = folder / "scheduler.json"
        scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(file))
        patience = time.monotonic() + START_S
        while not file.is_file():
            if time.monotonic() > patience:
                raise TimeoutError("the scheduler does not start")
            time.sleep(0.05)
        address = str(json.loads(file.read_text(encoding="utf-8"))["address"])
        for _ in range(groups):
            words = ("--nworkers", str(each), "--nthreads", "1", "--preload", str(program))
            start("worker", address, *words)
        with Client(address, timeout=START_S) as client:
            client.wait_for_workers(groups * each, timeout=START_S)
        yield address, scheduler.pid
    finally:
        for one in started:
            for child in psutil.Process(one.pid).children(recursive=True):
                child.kill()
            one.kill()
            one.wait()


def pace(folder: Path, groups: int, each: int, sleep_s: float, rounds: int) -> Pace:
    """Run a study of ``rounds`` runs for each worker."""
    count = groups * each
    folder.mkdir(parents=True)
    study = Sweep(repeated("toro_push", {}, rounds * count), "scale", "scale")
    with (
        cluster(folder, groups, each, sleep_s) as (address, scheduler),
        workers(address) as client,
        StudyFolder(folder / "study", study.kind, study.definition) as opened,
    ):
        study.resume(opened)
        first = study.next_task()
        assert first is not None
        before, own = _cpu(scheduler), time.process_time()
        began = time.perf_counter()
        Runner(study, opened, client).run(first)
        elapsed = time.perf_counter() - began
        own, there = time.process_time() - own, _cpu(scheduler) - before
        rows = list(opened.rows())
    runs = len(rows)
    assert runs == rounds * count == len({row["key"] for row in rows})
    within = sum(row["wall_time_s"] for row in rows) / runs
    return Pace(count, runs, sleep_s, elapsed, within, own / runs, there / runs)


def _cpu(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def rows_of(one: Pace, many: Pace, sizes: Sequence[int]) -> list[tuple[str, str]]:
    """A table: what 1 worker tells, what is predicted for many, what came, and what is on paper."""
    extra = one.elapsed_s / one.runs - one.within_s
    predicted = predicted_s(many.runs, many.workers, many.within_s, extra, one.bottleneck_s)
    error = many.elapsed_s / predicted - 1.0
    lines = [
        (f"1 worker, {one.runs} runs that sleep {one.sleep_s:g} s", f"{one.elapsed_s:.1f} s"),
        ("between two runs of a worker", f"{1e3 * extra:.0f} ms"),
        ("CPU time for a run: command, scheduler",
         f"{1e3 * one.command_s:.1f} ms, {1e3 * one.scheduler_s:.1f} ms"),
        (f"{many.workers} workers in {GROUPS} process groups, {many.runs} runs: predicted",
         f"{predicted:.1f} s"),
        ("measured", f"{many.elapsed_s:.1f} s, {100 * error:+.0f} %"),
        ("CPU time for a run there: command, scheduler",
         f"{1e3 * many.command_s:.1f} ms, {1e3 * many.scheduler_s:.1f} ms"),
        ("most runs in a second, of any number of workers", f"{1.0 / many.bottleneck_s:.0f}"),
    ]  # fmt: skip
    for size in sizes:
        longest = max(0.0, size * many.bottleneck_s - extra)
        lines.append(
            (f"on paper: {size} workers are all at work if a run takes", f"{longest:.1f} s or more")
        )
    return lines
