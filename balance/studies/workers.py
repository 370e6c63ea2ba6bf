"""What a worker does: one run, from a config to a row of the table."""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import socket
import tempfile
import time
import traceback
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from balance.config import PROTOCOLS, ExperimentConfig, parse_config
from balance.errors import BalanceError
from balance.recordings.settling import UntilSettled
from balance.recordings.summary import flatten

if TYPE_CHECKING:
    from balance.recordings.recording import Recording

LAST_STATES = 200  # of an aborted run are kept whatever the study asks for
INDICATOR = "indicator."  # begins the columns that a protocol measures
STUCK_S = 30.0  # a run that ignores its time limit for this long is ended with its process
TIMING = (
    "wall_time_s",
    "cpu_time_s",
    "worker",
    "control_step_us_median",
    "control_step_us_p99",
    "realtime_factor",
)
"""Columns that differ when a study is repeated."""


@dataclass(frozen=True)
class Task:
    """A run to do: its config, what to call it in errors, and which outcomes to keep whole.

    With ``margins`` the robustness of the linearised loop becomes a column as well; with ``until``
    the run lasts until its verdict is settled.  ``protocol`` names one whose indicators of the run
    become columns.
    """

    key: str
    config: Mapping[str, Any]
    source: str
    timeout_s: float
    robots: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    margins: bool = False
    until: UntilSettled | None = None
    protocol: str | None = None


@dataclass(frozen=True)
class Result:
    """What a run gave: columns of its row, and its result folder as a zip file if wanted."""

    columns: Mapping[str, Any]
    recording: bytes | None = None


class _TimeoutError(Exception):
    """The run took longer than it may."""


def dask_setup(_worker: object) -> None:
    """Called by Dask in every local worker: Ctrl-C is for the command, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def execute(task: Task) -> Result:
    """Run an experiment; whatever goes wrong with it becomes its row."""
    from balance.experiment import run

    began, cpu = time.perf_counter(), time.thread_time()

    def in_time(simulated: float, wall: float) -> None:
        if wall > task.timeout_s:
            raise _TimeoutError(
                f"stopped at {simulated:.3g} s of simulated time: it took longer than "
                f"timeout_s = {task.timeout_s:g} s"
            )

    columns: dict[str, Any] = {}
    recording: bytes | None = None
    try:
        with _watchdog(task.timeout_s + STUCK_S):
            config = parse_config(task.config, task.source)
            if config.stop_after_fall_s is None:  # nobody looks at how it comes to lie
                config = config.model_copy(update={"stop_after_fall_s": 0.0})
            robots = [Path(folder) for folder in task.robots]
            recorded = run(config, in_time, robots, task.until)
            columns = flatten(recorded.summary()) | {"error": None}
            if task.margins:
                columns["robustness_margin"] = _robustness_margin(config, task.robots)
            if task.protocol is not None:
                protocol = PROTOCOLS.find(task.protocol, "protocol").target
                columns |= {f"{INDICATOR}{k}": v for k, v in protocol.measure(recorded).items()}
            if columns["outcome"] in task.keep:
                recording = _packed(recorded)
            elif columns["outcome"] == "aborted":
                recording = _packed(_last_states(recorded))
    except (BalanceError, _TimeoutError) as error:
        columns = failed(str(error))
    except Exception as error:  # noqa: BLE001 - a crash belongs to its cell, not to the study
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        columns = failed(f"{type(error).__name__} at {where}: {error}")
    columns |= {
        "wall_time_s": time.perf_counter() - began,
        "cpu_time_s": time.thread_time() - cpu,
        "worker": f"{socket.gethostname()}:{os.getpid()}",
    }
    return Result(columns, recording)


def _robustness_margin(config: ExperimentConfig, robots: Sequence[str]) -> float:
    from balance.analysis.linear.margins import robustness_margin

    return robustness_margin(config, [Path(folder) for folder in robots])


def failed(error: str) -> dict[str, Any]:
    """The columns of a run without a result."""
    return {"outcome": "error", "error": error}


@contextmanager
def _watchdog(seconds: float) -> Iterator[None]:
    """End this process if the run is stuck where Python cannot interrupt it.

    Dask's nanny then starts another.  Without one, or where several runs share the process, a stuck
    run stays stuck.
    """
    from distributed import get_worker

    try:
        worker = get_worker()
        replaceable = worker.nanny is not None and worker.state.nthreads == 1
    except ValueError:  # not on a worker
        replaceable = False
    if not replaceable:
        yield
        return
    with open(os.devnull, "w") as nowhere:
        # Its timer is a thread that needs no lock of Python's, so it works while the run holds it.
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _last_states(recording: Recording) -> Recording:
    """The end of a run that went wrong, so that it can be looked at again."""
    return recording.part(slice(-LAST_STATES, None))


def _packed(recording: Recording) -> bytes:
    """The result folder of a run as a zip file; Parquet is compressed already."""
    from balance.recordings.results import save_recording

    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(buffer, "w") as archive:
        folder = save_recording(recording, Path(scratch) / "run")
        for file in sorted(folder.iterdir()):
            archive.write(file, file.name)
    return buffer.getvalue()
