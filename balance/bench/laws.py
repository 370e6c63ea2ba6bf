"""Control steps as multiples of the calls that they cannot avoid."""

from __future__ import annotations

from collections.abc import Iterator

from threadpoolctl import threadpool_limits

from balance.bench.floors import ControlFloor, WholeBodyFloor, whole_body_programs
from balance.bench.report import Figure
from balance.bench.states import PushedStates
from balance.bench.timing import Call, time_calls
from balance.controllers.whole_body_qp import WholeBodyController

WRENCH_LAWS = ("momentum", "ott2011", "virtual_model")
TASK_LAWS = ("whole_body_qp", "hierarchical")
LARGEST_RATIO = {"whole_body_qp": 1.3} | dict.fromkeys(WRENCH_LAWS, 2.5)
LONGEST_US = dict.fromkeys(WRENCH_LAWS, 70.0)
LARGEST_SPREAD = 2.0  # 99th percentile over median


def law_figures(states: PushedStates, rounds: int) -> Iterator[Figure]:
    """Median, multiple of the floor and 99th percentile of every law's step."""
    control = ControlFloor(states.robot, states.programs)
    laws = {name: states.controller(name) for name in (*WRENCH_LAWS, *TASK_LAWS)}
    whole_body_law = laws["whole_body_qp"]
    assert isinstance(whole_body_law, WholeBodyController)
    dense = whole_body_programs(whole_body_law, states.q, states.v, states.time)
    whole_body = WholeBodyFloor(whole_body_law, dense)
    calls: dict[str, Call] = {
        "control floor": lambda i: control(i, states.q[i], states.v[i]),
        "whole-body floor": lambda i: whole_body(i, states.q[i], states.v[i]),
    }
    calls |= {name: states.step_of(law) for name, law in laws.items()}
    with threadpool_limits(1):
        times = time_calls(calls, len(states), rounds)
    for name in ("control floor", "whole-body floor"):
        yield Figure(name, times[name].median, "us")
    for name in laws:
        floor = "whole-body floor" if name in TASK_LAWS else "control floor"
        step = times[name]
        ratio, spread = step.median / times[floor].median, step.p99 / step.median
        yield Figure(f"{name} step", step.median, "us", LONGEST_US.get(name))
        yield Figure(f"{name} step over {floor}", ratio, "1", LARGEST_RATIO.get(name))
        yield Figure(f"{name} step, p99 over median", spread, "1", LARGEST_SPREAD)
        yield Figure(f"{name} step, raw p99", step.raw_p99, "us")
