"""How long the command takes to be there, and how much memory a long run needs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from balance.analysis.bench.report import Figure
from balance.errors import BalanceError
from balance.recordings.system_calls import children_cpu_s

COMPILED_BY_S = 2.0  # the hit of toro_push is over, and whatever it needs has been compiled
_HELP = "from balance.app.cli import main; import sys; sys.argv = ['balance', '--help']; main()"
_FIRST_STEP = """
from balance.config import load_config
from balance.experiment import Experiment
from balance.recordings.log import Log
experiment = Experiment(load_config("toro_push", {"duration_s": 0.25, "pushes": []}))
experiment.advance(Log(experiment.config, experiment.robot))
"""
_WORKER = (
    """
import distributed
from balance.config import parse_config
from balance.studies.workers import execute
"""
    + _FIRST_STEP
)
_LONG_RUN = """
import sys
from pathlib import Path
from balance.config import load_config
from balance.experiment import Experiment
from balance.recordings.results import save_recording
from balance.recordings.system_calls import peak_memory_MB
seconds, folder = float(sys.argv[1]), Path(sys.argv[2])
recording = Experiment(load_config("toro_push", {"duration_s": seconds})).run()
save_recording(recording, folder / "run")
print(peak_memory_MB())
"""


def startup_figures(rounds: int) -> Iterator[Figure]:
    """CPU time of new processes, best of ``rounds``; the bare interpreter's as a yardstick."""
    yield Figure("start of the interpreter", _best("pass", rounds), "s")
    yield Figure("balance --help", _best(_HELP, rounds), "s", 0.3)
    yield Figure("import balance", _best("import balance", rounds), "s", 0.5)
    yield Figure("balance run to its first step", _best(_FIRST_STEP, rounds), "s", 1.5)
    with suppress(BalanceError):  # without the extra there are no workers
        yield Figure("worker of a study to its first step", _best(_WORKER, rounds), "s", 2.0)


def memory_figures(seconds: float) -> Iterator[Figure]:
    """Peak memory of a process that simulates, records and saves a run at 1 kHz.

    Compiling, which happens once in a lifetime and takes a gigabyte, is done by another before.
    """
    with tempfile.TemporaryDirectory() as folder:
        run_python(_LONG_RUN, [str(min(seconds, COMPILED_BY_S)), f"{folder}/first"])
        answer = run_python(_LONG_RUN, [str(seconds), f"{folder}/measured"])
    name = f"memory of a run of {seconds:g} s"
    yield Figure(name, float(answer.split()[-1]), "MB", 500.0)


def _best(code: str, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = children_cpu_s()
        run_python(code, [])
        times.append(children_cpu_s() - began)
    return min(times)


def run_python(
    code: str, arguments: Sequence[str], variables: Mapping[str, str] | None = None
) -> str:
    """Standard output of a new interpreter that runs ``code``."""
    command = [sys.executable, "-c", code, *arguments]
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **one, **(variables or {})}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=Path.cwd()
    )
    if done.returncode:
        raise BalanceError(f"a child process of the bench failed: {done.stderr.strip()[-300:]}")
    return done.stdout
