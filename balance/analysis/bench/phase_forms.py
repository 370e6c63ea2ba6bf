"""Both forms of the whole-body program in a motion through stances, on the same states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from balance.analysis.bench.report import Figure
from balance.analysis.bench.timing import Call, time_calls
from balance.config import load_config
from balance.control.parts.guidance import Guidance
from balance.control.phases.phased_law import PhasedLaw
from balance.experiment import Experiment
from balance.recordings.log import Log

Array = NDArray[np.float64]

MOTION = "toro_three_steps"
KEYS = {"control_period_s": 0.004, "plant.step_s": 0.002, "duration_s": 7.5}
FORMS = ("plain", "quaternion")
FEET = {2: "two feet", 1: "one foot"}


class GuidedState(NamedTuple):
    """A state of a motion: which stage's law answers, and what it is asked for."""

    stage: int
    guidance: Guidance
    q: Array
    v: Array
    time: float


def phase_form_figures(count: int, rounds: int) -> Iterator[Figure]:
    """Steps of both forms in turn, at ``count`` states on two feet and as many on one.

    The states are those of one run; each is answered by the law of its own stage, of either form.
    """
    states, laws = guided_states(), {form: _experiment(form)[1] for form in FORMS}
    for feet, words in FEET.items():
        own = [s for s in states if len(laws["plain"].stages[s.stage].contacts) == feet]
        chosen = [own[i] for i in np.linspace(0, len(own) - 1, count).astype(int)]
        calls: dict[str, Call] = {form: partial(_step, law, chosen) for form, law in laws.items()}
        with threadpool_limits(1):
            times = time_calls(calls, len(chosen), rounds)
        for form in FORMS:
            yield Figure(f"{MOTION} on {words}, {form} form", times[form].median, "us")
        ratio = times["quaternion"].median / times["plain"].median
        yield Figure(f"{MOTION} on {words}, quaternion over plain form", ratio, "1")


def guided_states() -> list[GuidedState]:
    """The states of a run of the motion, two of its steps, under the plain form."""
    experiment, law = _experiment("plain")
    log, found = Log(experiment.config, experiment.robot), []
    while log.rows < experiment.config.n_periods and not experiment.advance(log):
        row = log.rows - 1
        assert law.guidance is not None
        state = log.q[row].copy(), log.v[row].copy(), float(log.time[row])
        found.append(GuidedState(law.stage, law.guidance, *state))
    return found


def _experiment(form: str) -> tuple[Experiment, PhasedLaw]:
    experiment = Experiment(load_config(MOTION, KEYS | {"controller.form": form}))
    assert isinstance(experiment.controller, PhasedLaw)
    return experiment, experiment.controller


def _step(law: PhasedLaw, states: Sequence[GuidedState], number: int) -> None:
    """A step of the law of a stage, guided as it was in the run."""
    stage, guidance, q, v, time = states[number]
    own = law.stages[stage].law
    own.guide(guidance)
    own.step(q, v, time)
