"""Whether a control step gets slower, or leaves memory behind, over hours of simulated time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from balance.analysis.bench.report import Figure
from balance.config import load_config
from balance.experiment import Experiment
from balance.recordings.falls import lost_posture
from balance.recordings.system_calls import peak_memory_MB
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.undisturbed import no_garbage_collection

EXPERIMENT = "toro_damped"  # stands an hour of these hits; with Table 1 it falls
HIT_EVERY_S, HIT_NS = 3.0, 10.0
LARGEST_GROWTH, LARGEST_LEAK_MB = 1.1, 5.0
SHARE = 10  # the first and the last of so many parts are compared


def creep_figures(seconds: float) -> Iterator[Figure]:
    """The step's time and the memory in the last tenth of a long pushed run, against the first.

    Nothing is recorded but the times themselves, in an array made beforehand.
    """
    config = load_config(EXPERIMENT, {"pushes": [], "duration_s": 1.0, "reference": None})
    experiment = Experiment(config)
    plant, law, body = experiment.plant, experiment.controller, experiment.robot.push_body
    steps, each = round(seconds / plant.dt), round(HIT_EVERY_S / plant.dt)
    times, memory = np.zeros(steps), []
    sides = [
        [BodyImpulse(body, np.zeros(3), np.array([0.0, side * HIT_NS, 0.0]))] for side in (1, -1)
    ]
    with threadpool_limits(1), no_garbage_collection():
        for i in range(steps):
            began = time.perf_counter()
            output = law.step(plant.q, plant.v, i * plant.dt)
            times[i] = time.perf_counter() - began
            plant.step(output.torques, () if i % each else sides[i // each % 2])
            if i % max(1, steps // SHARE) == 0:
                memory.append(peak_memory_MB())
    part, name = max(1, steps // SHARE), f"{seconds:g} s of steps"
    growth = float(np.median(times[-part:]) / np.median(times[:part]))
    if lost_posture(plant.q, float(experiment.robot.q_nominal[2])):
        # Its last steps are not like its first ones; what else was measured is not thrown away.
        name, growth = f"{name} (the robot fell)", math.inf
    yield Figure(f"{name}, last tenth over first", growth, "1", LARGEST_GROWTH)
    leak = memory[-1] - memory[min(1, len(memory) - 1)]
    yield Figure(f"{name}, growth of memory", leak, "MB", LARGEST_LEAK_MB)
