"""A real scheduler and real workers, as processes on loopback, and what kills them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from distributed import Client

from balance.config.studies import SweepConfig, load_study
from balance.studies.cluster import BLAS_VARIABLES, workers
from balance.studies.store import LOG
from balance.studies.sweep import Sweep
from balance.studies.workers import TIMING, execute

PATIENCE_S = 300.0  # against hanging; a busy machine takes its time
CELLS = 24
QUIET = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
Rows = list[dict[str, Any]]


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)


class Cluster:
    """A scheduler and two workers; each is a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        address = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(address))
        wait_for(address.is_file, "the scheduler")
        self.address: str = json.loads(address.read_text())["address"]
        self.workers = [
            self._start("worker", self.address, "--nthreads", "1", "--no-nanny") for _ in range(2)
        ]
        # One that comes late could find nothing left to do.
        with Client(self.address, timeout=PATIENCE_S) as client:
            client.wait_for_workers(2, timeout=PATIENCE_S)

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind]
        command += ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
        process = subprocess.Popen([*command, *options], env=QUIET, stderr=subprocess.DEVNULL)
        self._processes.append(process)
        return process

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


class Command:
    """``balance sweep`` as a process."""

    def __init__(self, study: Path, out: Path, *options: str) -> None:
        self._log = out / LOG
        command = [sys.executable, "-m", "balance.app.cli", "sweep", str(study), "--out", str(out)]
        self.process = subprocess.Popen(
            [*command, *options],
            env=QUIET,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Where tests run in the background, Ctrl-C may be ignored, and that is inherited.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def wait_for_rows(self, count: int) -> None:
        def enough() -> bool:
            return self._log.is_file() and self._log.read_bytes().count(b"\n") >= count

        wait_for(lambda: enough() or self.process.poll() is not None, f"{count} rows")

    def wait_for_rows_of(self, workers: list[subprocess.Popen[bytes]]) -> None:
        def all_at_work() -> bool:
            log = self._log.read_bytes() if self._log.is_file() else b""
            return all(b":%d" % worker.pid in log for worker in workers)

        wait_for(lambda: all_at_work() or self.process.poll() is not None, "both workers")

    def end(self) -> tuple[int, str]:
        """Exit code and what was said on stderr."""
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors


def table(folder: Path) -> Rows:
    rows: Rows = pq.read_table(folder / "runs.parquet").to_pylist()
    return rows


def without_timing(rows: Rows) -> Rows:
    return [{k: v for k, v in row.items() if k not in TIMING} for row in rows]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-four cells of a fifth of a second."""
    push = {"type": "half_sine", "direction": [0, 1, 0], "time_s": 0.02, "duration_s": 0.02}
    value = {
        "experiment": "toro_push",
        "set": {"duration_s": 0.3, "pushes": [{**push, "impulse_Ns": 2.0}]},
        "axes": [
            {"type": "range", "key": "plant.friction", "start": 0.2, "stop": 0.7, "count": 6},
            {"type": "range", "key": "pushes.0.impulse_Ns", "start": 1, "stop": 4, "step": 1},
        ],
    }
    path = tmp_path_factory.mktemp("study") / "friction.yaml"
    path.write_text(yaml.safe_dump(value))
    return path


@pytest.fixture(scope="module")
def undisturbed(study: Path) -> Rows:
    """The table as it has to be: every cell run once, in this process, in order."""
    sweep = Sweep(load_study(SweepConfig, study), study.stem, str(study))
    rows = []
    while (task := sweep.next_task()) is not None:
        row = sweep.row(task, execute(task))
        rows.append({k: v for k, v in row.items() if k != "key"})
    assert len(rows) == CELLS
    return without_timing(rows)


def test_a_worker_killed_mid_study_changes_nothing(
    cluster: Cluster, study: Path, undisturbed: Rows, tmp_path: Path
) -> None:
    command = Command(study, tmp_path / "out", "--scheduler", cluster.address)
    command.wait_for_rows_of(cluster.workers)
    cluster.workers[0].send_signal(signal.SIGKILL)
    assert command.end() == (0, "")
    rows = table(tmp_path / "out")
    assert without_timing(rows) == undisturbed
    assert {row["worker"].split(":")[1] for row in rows} == {str(w.pid) for w in cluster.workers}


def rows_in(folder: Path) -> bytes:
    """The whole lines of the log."""
    content = (folder / LOG).read_bytes()
    return content[: content.rfind(b"\n") + 1]


def test_killed_command_lost_scheduler_and_interruption_lose_nothing(
    cluster: Cluster, study: Path, undisturbed: Rows, tmp_path: Path
) -> None:
    """Finished cells are never run again, none is missing or doubled."""
    out = tmp_path / "out"
    on_cluster, on_this_machine = ("--scheduler", cluster.address), ("--workers", "1")
    command = Command(study, out, *on_cluster)
    command.wait_for_rows(3)
    command.process.kill()
    command.end()
    finished = rows_in(out)

    command = Command(study, out, *on_cluster)
    command.wait_for_rows(finished.count(b"\n") + 3)
    cluster.scheduler.send_signal(signal.SIGKILL)
    code, errors = command.end()
    assert code == 1
    assert errors.startswith("balance: the scheduler is gone; the ")
    assert errors.endswith("the same command goes on from there\n")
    assert rows_in(out).startswith(finished)
    finished = rows_in(out)

    command = Command(study, out, *on_this_machine)
    command.wait_for_rows(finished.count(b"\n") + 3)
    os.killpg(command.process.pid, signal.SIGINT)  # as Ctrl-C does: workers get it too
    code, errors = command.end()
    assert code == 1
    assert errors.startswith("balance: interrupted; the ") and errors.count("\n") == 1
    assert rows_in(out).startswith(finished)
    finished = rows_in(out)

    command = Command(study, out, *on_this_machine)
    assert command.end() == (0, "")
    assert rows_in(out).startswith(finished)
    assert rows_in(out).count(b"\n") == CELLS
    assert without_timing(table(out)) == undisturbed
    assert f"{CELLS} runs" in (out / "summary.md").read_text()


def test_local_workers_have_one_thread_each_and_keep_their_memory() -> None:
    """A worker whose malloc hands every block back at once sets runs up several times slower."""
    with workers(None, 1) as client:
        (found,) = client.run(lambda: dict(os.environ)).values()
    assert {found[name] for name in BLAS_VARIABLES} == {"1"}
    assert not [name for name in found if name.startswith("MALLOC_") and name not in os.environ]
