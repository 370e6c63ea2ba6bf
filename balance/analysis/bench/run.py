"""All parts of the bench in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from balance.analysis.bench.creep import creep_figures
from balance.analysis.bench.growth import growth_figures
from balance.analysis.bench.laws import figures_without_extra, form_figures, law_figures
from balance.analysis.bench.plants import loop_figures, lying_figures, plant_figures
from balance.analysis.bench.profile import profile_figures
from balance.analysis.bench.report import Figure, Report, machine
from balance.analysis.bench.solvers import solver_figures
from balance.analysis.bench.startup import memory_figures, startup_figures
from balance.analysis.bench.states import PushedStates
from balance.analysis.bench.stepping import stepping_figures
from balance.analysis.bench.threads import thread_figures
from balance.recordings.provenance import imported_packages


@dataclass(frozen=True)
class Effort:
    """How much is measured: states, and rounds over them."""

    states: int
    rounds: int


Part = Callable[[], Iterator[Figure]]
THOROUGH = Effort(states=500, rounds=20)
QUICK = Effort(states=60, rounds=3)
LOOP_S = 10.0  # even for a quick look: a run has costs of its own, which would slow a short one


def bench(
    effort: Effort,
    told: Callable[[str], None],
    long_run_s: float | None = None,
    creep_s: float | None = None,
    more: Mapping[str, Part] | None = None,
) -> Report:
    """Measure everything; ``told`` hears what is measured next.

    ``long_run_s`` is the length of the run whose memory is measured, ``creep_s`` that of the one
    whose last steps are compared with its first; None for none.  ``more`` are parts of rooms below.
    """
    where = machine()  # before the bench itself loads the machine
    told("the states of a pushed run")
    states = PushedStates(effort.states)
    rounds, few = effort.rounds, max(2, effort.rounds // 4)
    parts: dict[str, Part] = {
        "control steps": lambda: law_figures(effort.states, rounds),
        "steps": lambda: stepping_figures(few),
        "control steps of a user who pinned no threads": lambda: thread_figures(few),
        "forms of the whole-body program": lambda: form_figures(effort.states, few),
        "control steps without the extra 'fast'": lambda: figures_without_extra(effort.states, few),
        "parts of a step": lambda: profile_figures(states, few),
        "solvers": lambda: solver_figures(states, few),
        "plants": lambda: plant_figures(states, rounds),
        "a robot that lies": lambda: lying_figures(few),
        "closed loops": lambda: loop_figures(LOOP_S, few),
        "growth": lambda: growth_figures(max(20, effort.states // 10), rounds),
        "start-up": lambda: startup_figures(few),
    }
    if long_run_s is not None:
        seconds = long_run_s
        parts["memory"] = lambda: memory_figures(seconds)
    if creep_s is not None:
        length = creep_s
        parts["creep"] = lambda: creep_figures(length)
    parts |= more or {}
    figures: list[Figure] = []
    for name, part in parts.items():
        told(name)
        figures += part()
    return Report(tuple(figures), where | imported_packages())
