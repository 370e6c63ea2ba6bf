"""Control steps as multiples of the calls that they cannot avoid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from balance.analysis.bench.floors import ControlFloor, WholeBodyFloor, whole_body_programs
from balance.analysis.bench.report import Figure
from balance.analysis.bench.startup import run_python
from balance.analysis.bench.states import PushedStates
from balance.analysis.bench.timing import Call, time_calls
from balance.control.whole_body_qp import WholeBodyController
from balance.dynamics.compiled import COMPILED, SWITCH

WRENCH_LAWS = ("momentum", "ott2011", "virtual_model", "joint_pd")
TASK_LAWS = ("whole_body_qp", "hierarchical", "capture")
FORMS = ("plain", "quaternion")


@dataclass(frozen=True)
class Targets:
    """What is aimed at: multiples of the floor, and microseconds."""

    ratio: dict[str, float]
    longest_us: dict[str, float]
    quaternion_us: float


WITH_EXTRA = Targets(
    {"whole_body_qp": 1.3} | dict.fromkeys(WRENCH_LAWS, 2.5) | {"momentum": 1.6},
    dict.fromkeys(WRENCH_LAWS, 70.0)
    | {"whole_body_qp": 60.0, "hierarchical": 200.0, "capture": 150.0},
    90.0,
)
WITHOUT_EXTRA = Targets(
    {"whole_body_qp": 1.3} | dict.fromkeys(WRENCH_LAWS, 2.5) | {"momentum": 2.0},
    dict.fromkeys(WRENCH_LAWS, 70.0)
    | {"whole_body_qp": 130.0, "hierarchical": 400.0, "capture": 300.0},
    200.0,
)
TARGETS = WITH_EXTRA if COMPILED else WITHOUT_EXTRA
LARGEST_FORM_RATIO = 2.0  # one coordinate and one multiplier more
LARGEST_SPREAD = dict.fromkeys((*WRENCH_LAWS, "hierarchical"), 2.0) | {"whole_body_qp": 1.6}
"""99th percentile over median."""
_WITHOUT = """
import json, sys
from dataclasses import asdict
from balance.analysis.bench.laws import form_figures, law_figures
from balance.analysis.bench.stepping import stepping_figures
count, rounds = map(int, sys.argv[1:])
figures = [
    *law_figures(count, rounds), *stepping_figures(rounds), *form_figures(count, rounds)
]
print(json.dumps([asdict(figure) for figure in figures]))
"""


def law_figures(count: int, rounds: int) -> Iterator[Figure]:
    """Median, multiple of the floor and 99th percentile of every law's step in its own pushed run.

    Each law takes turns with its floor alone, as it would with a plant: more in one loop would
    measure how they push each other out of the processor's caches.
    """
    for name in (*WRENCH_LAWS, *TASK_LAWS):
        states = PushedStates(count, name)
        floor, call = _floor(states, name)
        calls: dict[str, Call] = {
            "floor": call,
            "step": states.step_of(states.controller(name)),
        }
        with threadpool_limits(1):
            times = time_calls(calls, len(states), rounds)
        step, ratio = times["step"], times["step"].median / times["floor"].median
        yield Figure(f"{floor}, in turn with {name}", times["floor"].median, "us")
        yield Figure(f"{name} step", step.median, "us", TARGETS.longest_us.get(name))
        yield Figure(f"{name} step over {floor}", ratio, "1", TARGETS.ratio.get(name))
        spread = LARGEST_SPREAD.get(name)
        yield Figure(f"{name} step, p99 over median", step.p99 / step.median, "1", spread)
        yield Figure(f"{name} step, raw p99", step.raw_p99, "us")


def form_figures(count: int, rounds: int) -> Iterator[Figure]:
    """Both forms of Bouyarmane2012's program, (36) and (38), in turn on the same pushed states."""
    states = PushedStates(count, "whole_body_qp")
    calls: dict[str, Call] = {
        form: states.step_of(states.controller("whole_body_qp", form=form)) for form in FORMS
    }
    with threadpool_limits(1):
        times = time_calls(calls, len(states), rounds)
    longest = {"plain": TARGETS.longest_us["whole_body_qp"], "quaternion": TARGETS.quaternion_us}
    for form in FORMS:
        name = f"whole_body_qp step, {form} form"
        yield Figure(name, times[form].median, "us", longest[form])
    ratio = times["quaternion"].median / times["plain"].median
    yield Figure("whole_body_qp step, quaternion over plain form", ratio, "1", LARGEST_FORM_RATIO)


def figures_without_extra(count: int, rounds: int) -> Iterator[Figure]:
    """The same of another process in which nothing is compiled; nothing if nothing is here."""
    if not COMPILED:
        return
    answer = run_python(_WITHOUT, [str(count), str(rounds)], {SWITCH: "0"})
    for row in json.loads(answer):
        yield Figure(**row | {"name": f"without 'fast': {row['name']}"})


def _floor(states: PushedStates, law: str) -> tuple[str, Call]:
    """Name and calls of the floor of a law at the states of its run."""
    if law not in TASK_LAWS:
        control = ControlFloor(states.robot, states.programs)
        return "control floor", lambda i: control(i, states.q[i], states.v[i])
    body = states.controller("whole_body_qp")
    assert isinstance(body, WholeBodyController)
    programs = states.programs or whole_body_programs(body, states.q, states.v, states.time)
    dense = WholeBodyFloor(body, programs)
    return "whole-body floor", lambda i: dense(i, states.q[i], states.v[i])
