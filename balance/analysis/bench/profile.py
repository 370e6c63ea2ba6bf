"""Where the time of a control step of the momentum law goes."""

from __future__ import annotations

from collections.abc import Iterator

from threadpoolctl import threadpool_limits

from balance.analysis.bench.report import Figure
from balance.analysis.bench.states import PushedStates
from balance.analysis.bench.timing import Call, time_calls
from balance.control.momentum import MomentumController


def profile_figures(states: PushedStates, rounds: int) -> Iterator[Figure]:
    """Medians over the states of a pushed run of the parts of a step, each on its own.

    A part that is called again and again finds its data in the processor's caches, so that the
    parts add up to a little less than the step.
    """
    law = states.controller("momentum")
    assert isinstance(law, MomentumController)
    support, distribution = law.support, law.distribution
    maps, wanted, solved = [], [], []
    for q, v, t in zip(states.q, states.v, states.time, strict=True):
        here = support.at(q, v)
        maps.append(here.G.copy())
        wanted.append(law.wanted_wrench(here, law.path.at(t)))
        solved.append(distribution.solve(maps[-1], wanted[-1]))
    parts: dict[str, Call] = {
        "poses, grasp map, Jacobians": lambda i: support.at(states.q[i], states.v[i]),
        "wanted wrench": lambda i: law.wanted_wrench(here, law.path.at(states.time[i])),
        "even share and cones": lambda i: distribution.solve(maps[i], wanted[i]),
        "torques": lambda i: law.torques(here, solved[i].stacked, solved[i].total),
        "QP, where the share leaves the cones": lambda i: distribution.solver.solve(
            states.programs[i]
        ),
    }
    with threadpool_limits(1):
        for name, call in parts.items():  # one by one: each as the step calls it, warm
            times = time_calls({name: call}, len(states), rounds)
            yield Figure(f"part of a momentum step: {name}", times[name].median, "us")
