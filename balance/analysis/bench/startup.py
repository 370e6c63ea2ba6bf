"""How long the command takes to be there, and how much memory a long run needs."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from balance.analysis.bench.report import Figure
from balance.errors import BalanceError

_HELP = "from balance.app.cli import main; import sys; sys.argv = ['balance', '--help']; main()"
_FIRST_STEP = """
from balance.config import load_config
from balance.experiment import Experiment
from balance.recordings.log import Log
experiment = Experiment(load_config("toro_push", {"duration_s": 0.25, "pushes": []}))
experiment.advance(Log(experiment.config, experiment.robot))
"""
_LONG_RUN = """
import resource, sys
from pathlib import Path
from balance.config import load_config
from balance.experiment import Experiment
from balance.recordings.results import save_recording
seconds, folder = float(sys.argv[1]), Path(sys.argv[2])
recording = Experiment(load_config("toro_push", {"duration_s": seconds})).run()
save_recording(recording, folder / "run")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def startup_figures(rounds: int) -> Iterator[Figure]:
    """CPU time of new processes, best of ``rounds``; the bare interpreter's as a yardstick."""
    yield Figure("start of the interpreter", _best("pass", rounds), "s")
    yield Figure("balance --help", _best(_HELP, rounds), "s", 0.3)
    yield Figure("import balance", _best("import balance", rounds), "s", 0.5)
    yield Figure("balance run to its first step", _best(_FIRST_STEP, rounds), "s", 1.5)


def memory_figures(seconds: float) -> Iterator[Figure]:
    """Peak memory of a process that simulates, records and saves a run at 1 kHz."""
    with tempfile.TemporaryDirectory() as folder:
        answer = _python(_LONG_RUN, [str(seconds), folder])
    name = f"memory of a run of {seconds:g} s"
    yield Figure(name, float(answer.split()[-1]), "MB", 500.0)


def _best(code: str, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        began = _children_s()
        _python(code, [])
        times.append(_children_s() - began)
    return min(times)


def _children_s() -> float:
    """CPU time of all child processes so far, in s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _python(code: str, arguments: Sequence[str]) -> str:
    """Standard output of a new interpreter that runs ``code``."""
    command = [sys.executable, "-c", code, *arguments]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=Path.cwd()
    )
    if done.returncode:
        raise BalanceError(f"a child process of the bench failed: {done.stderr.strip()[-300:]}")
    return done.stdout
