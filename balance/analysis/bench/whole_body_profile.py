"""Where the time of a control step of the whole-body law goes, with and without compiling."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
from threadpoolctl import threadpool_limits

from balance.analysis.bench.report import Figure
from balance.analysis.bench.startup import run_python
from balance.analysis.bench.states import PushedStates
from balance.analysis.bench.timing import Call, time_calls
from balance.control.parts.weighted_tasks import settle
from balance.control.whole_body_qp import WholeBodyController
from balance.dynamics.compiled import COMPILED, SWITCH

_PLAIN = """
import json, sys
from balance.analysis.bench.whole_body_profile import as_json
print(as_json(*map(int, sys.argv[1:])))
"""


def whole_body_profile(count: int, rounds: int) -> Iterator[Figure]:
    """Medians over pushed states of the parts of a step; whole steps with and without a program."""
    states = PushedStates(count, "whole_body_qp")
    law = states.controller("whole_body_qp")
    assert isinstance(law, WholeBodyController)
    body, tasks, times, q, v = law.body, law.tasks, states.time, states.q, states.v
    here, desired = body.at(q[0], v[0]), law.path.at(times[0])
    rows, values, joint_values = tasks.evaluate_apart(here, desired)
    eq, weight = law.formulation(here)
    columns, planned = eq.columns, np.zeros(len(weight))
    assert columns is not None
    of_columns = columns.determined, columns.tied, columns.free
    wanted = rows, values, tasks.joint_rows, joint_values

    def without_limits(_: int) -> object:
        return settle(eq.M, eq.bias, eq.J, eq.drift, eq.base, *of_columns, weight, planned, *wanted)

    parts: dict[str, Call] = {
        "Pinocchio, contacts, drifts": lambda i: body.at(q[i], v[i]),
        "rows of the tasks": lambda i: tasks.evaluate_apart(here, desired),
        "feet kept on the ground": lambda i: law.equations(here),
        "answer without limits": without_limits,
    }
    limited = [len(law.step(*state).active) > 0 for state in zip(q, v, times, strict=True)]
    with threadpool_limits(1):
        for name, call in parts.items():
            median = time_calls({name: call}, len(states), rounds)[name].median
            yield Figure(name, median, "us")
        for name, chosen in (("without a program", False), ("with a program", True)):
            own = [i for i, found in enumerate(limited) if found == chosen]
            step = states.step_of(law)
            call = _at(step, own)
            median = time_calls({name: call}, len(own), rounds)[name].median
            yield Figure(f"whole step, {name}", median, "us")


def _at(step: Call, chosen: list[int]) -> Call:
    return lambda i: step(chosen[i])


def as_json(count: int, rounds: int) -> str:
    """The figures as a list of mappings."""
    return json.dumps([asdict(figure) for figure in whole_body_profile(count, rounds)])


def both_profiles(count: int, rounds: int) -> list[tuple[str, float, float | None]]:
    """Parts with their times as this process has them, and without compiling if that differs."""
    here = list(whole_body_profile(count, rounds))
    plain: list[float | None] = [None] * len(here)
    if COMPILED:
        answer = run_python(_PLAIN, [str(count), str(rounds)], {SWITCH: "0"})
        plain = [row["value"] for row in json.loads(answer)]
    return [(one.name, one.value, other) for one, other in zip(here, plain, strict=True)]
