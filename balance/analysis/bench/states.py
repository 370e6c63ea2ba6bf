"""The states on which steps are timed: those of the paper's push, from its start on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.analysis.bench.floors import whole_body_programs, wrench_programs
from balance.analysis.bench.timing import Call
from balance.config import load_config
from balance.control import Controller, make_controller
from balance.control.parts.wrench_law import WrenchLaw
from balance.control.qp import QuadraticProgram
from balance.control.whole_body_qp import WholeBodyController
from balance.experiment import Experiment
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

Array = NDArray[np.float64]

EXPERIMENT = "toro_side"
PUSHED_S = 2.0  # from the start of the push


class PushedStates:
    """Evenly spaced states of the run under a law, with the torques that it chose."""

    def __init__(self, count: int, law_name: str = "momentum") -> None:
        begin = max(push.time_s for push in load_config(EXPERIMENT).pushes)
        changes = {"duration_s": begin + PUSHED_S, "controller.law": law_name}
        config = load_config(EXPERIMENT, changes)
        experiment = Experiment(config)
        recording = experiment.run()
        first = round(begin / config.control_period_s)
        rows = np.linspace(first, len(recording.time) - 1, count).astype(int)
        self.config, self.robot = config, experiment.robot
        self.time = recording.time[rows].tolist()
        # Rows that pass as arrays of their own, as they do in a run.
        self.q, self.v = list(recording.q[rows]), list(recording.v[rows])
        self.torques = list(recording.torques[rows])
        law = experiment.controller
        self.programs: list[QuadraticProgram] = []
        """The law's own QP of every state, where it has one."""
        if isinstance(law, WrenchLaw):
            self.programs = wrench_programs(law, self.q, self.v, self.time)
        elif isinstance(law, WholeBodyController):
            self.programs = whole_body_programs(law, self.q, self.v, self.time)

    def __len__(self) -> int:
        return len(self.time)

    def controller(self, law: str, **keys: Any) -> Controller:
        """A law with the gains of the experiment, and ``keys`` of its own."""
        changes = {f"controller.{key}": value for key, value in ({"law": law} | keys).items()}
        return make_controller(load_config(EXPERIMENT, changes), self.robot)

    def step_of(self, controller: Controller) -> Call:
        """Control step at a state."""
        return lambda i: controller.step(self.q[i], self.v[i], self.time[i])


class PlantSteps:
    """Steps of the Pinocchio plant one after the other, as in a run, from a state of the push on.

    A plant keeps from step to step what it need not compute again; states that jump would time
    that.
    """

    def __init__(self, states: PushedStates) -> None:
        self.plant = PinocchioPlant(states.config.plant, states.robot)
        self._start = states.q[len(states) // 4], states.v[len(states) // 4]
        law, self._torques = states.controller("momentum"), []
        self.plant.reset(*self._start)
        for _ in range(len(states)):
            q, v, time = self.plant.q, self.plant.v, self.plant.time
            self._torques.append(law.step(q, v, time).torques.copy())
            self.plant.step(self._torques[-1])

    def __call__(self, i: int) -> None:
        """Step number ``i``; number 0 starts again."""
        if i == 0:
            self.plant.reset(*self._start)
        self.plant.step(self._torques[i])
