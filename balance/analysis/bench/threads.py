"""Control steps of a user who calls a law himself and has pinned no threads."""

from __future__ import annotations

import json
from collections.abc import Iterator

from balance.analysis.bench.report import Figure
from balance.analysis.bench.startup import run_python

LAWS = ("momentum", "whole_body_qp", "hierarchical", "capture")
LARGEST_RATIO = 1.1  # of the median, to that with one thread
_UNPINNED = {"OPENBLAS_NUM_THREADS": "", "OMP_NUM_THREADS": ""}
_WORK = """
import json, sys
import numpy as np
from threadpoolctl import threadpool_limits
from balance.analysis.bench.states import PushedStates
from balance.analysis.bench.timing import times_of_calls
states, found = PushedStates(100, "momentum"), {}
for name in sys.argv[2:]:
    calls = {"step": states.step_of(states.controller(name))}
    free, pinned = [], []
    for _ in range(int(sys.argv[1])):  # in turn: a busy machine hits both
        free.append(times_of_calls(calls, len(states), 1)["step"][0])
        with threadpool_limits(1):
            pinned.append(times_of_calls(calls, len(states), 1)["step"][0])
    found[name] = [float(np.median(np.min(each, axis=0))) for each in (free, pinned)]
print(json.dumps(found))
"""


def thread_figures(rounds: int) -> Iterator[Figure]:
    """Medians of steps with as many threads as BLAS likes, over those with one."""
    answer = json.loads(run_python(_WORK, [str(rounds), *LAWS], _UNPINNED))
    for name, (free, pinned) in answer.items():
        yield Figure(
            f"{name} step, threads not pinned over pinned", free / pinned, "1", LARGEST_RATIO
        )
