"""Simulation steps as multiples of the calls that they cannot avoid, and whole closed loops."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from balance.analysis.bench.floors import PlantFloor
from balance.analysis.bench.report import Figure
from balance.analysis.bench.states import EXPERIMENT, PlantSteps, PushedStates
from balance.analysis.bench.timing import Timing, time_calls
from balance.config import load_config
from balance.errors import MissingExtraError
from balance.experiment import Experiment
from balance.recordings.metrics import ankle_limit
from balance.robots import load_robot
from balance.simulation.plants import make_plant
from balance.simulation.undisturbed import no_garbage_collection

REAL_TIME = {"pinocchio": 12.0, "mujoco": 12.0}
LYING_ROBOTS = ("toro", "talos")
LYING_US, LYING_P99_US = 2000.0, 4000.0
LYING_S = 2.0  # after the posture is lost
TOPPLING = 1.5  # ankle limits


def plant_figures(states: PushedStates, rounds: int) -> Iterator[Figure]:
    """A step of each plant against its floor."""
    step, floor = PlantSteps(states), PlantFloor(states.robot)
    residuals = []
    with threadpool_limits(1):
        for i in range(len(states)):
            step(i)
            residuals.append(step.plant.contact_residual)
        times = time_calls(
            {"floor": lambda i: floor(states.q[i], states.v[i]), "step": step}, len(states), rounds
        )
    ratio = times["step"].median / times["floor"].median
    yield Figure("Pinocchio plant floor", times["floor"].median, "us")
    yield Figure("Pinocchio plant step", times["step"].median, "us")
    # 2.0 before bodies touched and momentum was kept; these may cost another tenth.
    yield Figure("Pinocchio plant step over its floor", ratio, "1", 2.2)
    yield Figure("Pinocchio plant contact residual", max(residuals), "N s m/s", 1e-8)
    try:
        yield from _mujoco_figures(rounds)
    except MissingExtraError:
        return


def _mujoco_figures(rounds: int) -> Iterator[Figure]:
    """What Python adds to ``mj_step``, timed within the same steps of a pushed run."""
    config = load_config(EXPERIMENT, {"plant.engine": "mujoco", "duration_s": 1.5})
    recording = Experiment(config).run()
    plant: Any = make_plant(config.plant, recording.robot)
    clock = time.perf_counter
    steps = len(recording.time)
    inside, outside = np.empty((rounds, steps)), np.empty((rounds, steps))
    spent = [0.0]

    def timed(call: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        def timed_call(model: Any, data: Any) -> None:
            began = clock()
            call(model, data)
            spent[0] += clock() - began

        return timed_call

    plant.engine_steps = tuple(map(timed, plant.engine_steps))
    with threadpool_limits(1), no_garbage_collection():
        for round_ in range(rounds):
            plant.reset(recording.robot.q_nominal, np.zeros(recording.robot.model.nv))
            for i in range(steps):
                torques, spent[0] = recording.torques[i], 0.0
                began = clock()
                plant.step(torques)
                whole = clock() - began
                inside[round_, i], outside[round_, i] = spent[0], whole - spent[0]
    engine_us, python_us = (1e6 * float(np.median(t.min(axis=0))) for t in (inside, outside))
    yield Figure("mj_step", engine_us, "us")
    yield Figure("MuJoCo plant, Python over mj_step", python_us / engine_us, "1", 0.5)


def lying_figures(rounds: int) -> Iterator[Figure]:
    """Steps of the Pinocchio plant while a robot that was pushed over comes to lie."""
    for robot in LYING_ROBOTS:
        times = Timing.of(np.array([_lying_steps(robot) for _ in range(rounds)]))
        name = f"Pinocchio plant step, {robot} lying"
        yield Figure(name, times.median, "us", LYING_US)
        yield Figure(f"{name}, p99", times.p99, "us", LYING_P99_US)


def _lying_steps(robot: str) -> list[float]:
    """CPU times (s) of the steps after the posture was lost; the same steps whenever called."""
    impulse = TOPPLING * ankle_limit(load_robot(robot), np.array([1.0, 0.0, 0.0]))
    push = {"type": "half_sine", "direction": [1.0, 0.0, 0.0], "time_s": 0.1, "duration_s": 0.02}
    changes = {
        "controller": {"law": "joint_pd"},
        "pushes": [push | {"impulse_Ns": impulse}],
        "stop_after_fall_s": LYING_S,
        "reference": None,
    }
    experiment = Experiment(load_config(f"{robot}_push", changes))
    plant: Any = experiment.plant
    step, times, clock = plant.step, [], time.thread_time

    def timed(*args: Any) -> None:
        began = clock()
        step(*args)
        times.append(clock() - began)

    plant.step = timed
    fell_s = experiment.run().end.time_s
    assert fell_s is not None
    return times[round(fell_s / plant.dt) :]


def loop_figures(seconds: float, rounds: int) -> Iterator[Figure]:
    """Simulated time over CPU time of a pushed run at 1 kHz, recording included; best of rounds.

    One thread simulates, so on an idle machine the CPU time is the elapsed time.
    """
    for engine, target in REAL_TIME.items():
        config = load_config(EXPERIMENT, {"plant.engine": engine, "duration_s": seconds})
        factors = []
        for _ in range(rounds):
            try:
                experiment = Experiment(config)
            except MissingExtraError:
                break
            began = time.process_time()
            experiment.run()
            factors.append(seconds / (time.process_time() - began))
        if factors:
            name = f"closed loop, {engine}"
            yield Figure(name, max(factors), "x real time", target, at_least=True)
