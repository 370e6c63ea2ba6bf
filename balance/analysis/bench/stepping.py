"""Control steps of a robot that takes steps: on one foot, on two, and where contacts change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from balance.analysis.bench.report import Figure
from balance.analysis.bench.timing import times_of_calls
from balance.config import load_config
from balance.control import make_controller
from balance.control.stepping.law import SteppingController
from balance.dynamics.compiled import COMPILED
from balance.experiment import Experiment
from balance.recordings.log import Log

Array = NDArray[np.float64]

EXPERIMENT = "toro_step"
AFTER_S = 2.0  # from the push on
LONGEST_US = 200.0 if COMPILED else None  # in single and double support
LONGEST_CHANGE_US = 1000.0 if COMPILED else None


@dataclass(frozen=True)
class Asked:
    """What the law was asked in a period, and what it meant its contacts to do, (k,)."""

    q: Array
    v: Array
    time: float
    felt: Array | None
    bearing: Array


class SteppingRun:
    """A run with steps, whose periods are asked again, one after the other, of a law made anew.

    What such a law does depends on what it did before: states that jump would time something else.
    """

    def __init__(self) -> None:
        self._begin = max(push.time_s for push in load_config(EXPERIMENT).pushes)
        config = load_config(EXPERIMENT, {"duration_s": self._begin + AFTER_S})
        experiment = Experiment(config)
        law, log = experiment.controller, Log(config, experiment.robot)
        assert isinstance(law, SteppingController)
        self.asked: list[Asked] = []
        over = False
        while log.rows < config.n_periods and not over:
            q, v = (part.copy() for part in experiment.look(log))
            felt = None if law._felt is None else law._felt.copy()
            time = log.rows * config.control_period_s
            over = experiment.advance(log)
            self.asked.append(Asked(q, v, time, felt, law.bearing.copy()))
        self._config, self._robot = config, experiment.modelled_robot
        self._law = law

    def __call__(self, number: int) -> None:
        """Ask for period ``number``; number 0 is the first one of another law."""
        asked = self.asked[number]
        if number == 0:
            law = make_controller(self._config, self._robot)
            assert isinstance(law, SteppingController)
            self._law = law
        if asked.felt is not None:
            self._law.feel(asked.felt)
        self._law.step(asked.q, asked.v, asked.time)

    def kinds(self) -> dict[str, NDArray[np.intp]]:
        """Numbers of the periods from the push on: on one foot, on two, where contacts change."""
        bearing = np.array([asked.bearing for asked in self.asked])
        pushed = np.array([asked.time >= self._begin for asked in self.asked])
        changed = np.append(False, (bearing[1:] != bearing[:-1]).any(axis=1))
        one = (bearing == 0.0).any(axis=1)
        return {
            "single support": np.flatnonzero(pushed & one & ~changed),
            "double support": np.flatnonzero(pushed & ~one & ~changed),
            "contact change": np.flatnonzero(pushed & changed),
        }


def stepping_figures(rounds: int) -> Iterator[Figure]:
    """Medians of steps on one and on two feet, and the longest at a contact change.

    Each period keeps the best of all rounds.
    """
    run = SteppingRun()
    with threadpool_limits(1):
        best = 1e6 * times_of_calls({"step": run}, len(run.asked), rounds)["step"].min(axis=0)
    kinds = run.kinds()
    for kind in ("single support", "double support"):
        yield Figure(
            f"stepping step, {kind}", float(np.median(best[kinds[kind]])), "us", LONGEST_US
        )
    changes = best[kinds["contact change"]]
    name = "stepping step, longest at a contact change"
    yield Figure(name, float(changes.max()), "us", LONGEST_CHANGE_US)
