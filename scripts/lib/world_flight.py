"""How far the engines' steps keep momentum in flight: a table of docs/world_measured.md."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pinocchio as pin
from lib.tables import stamp, write_table

from balance.config import PlantConfig
from balance.robots import Robot, load_robot
from balance.simulation.plants import make_plant

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "samples"))
from blocks import block

PAGE, COMMAND = "docs/world_measured.md", "scripts/world momentum"
ENGINES = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo"}
STEPS_S = (1e-3, 2.5e-4)
FLIGHT_S = 0.5
ROBOTS, SEEDS = ("toro", "g1", "talos"), 3
BOX = "a box that turns at 7 rad/s"
SPEEDS: Mapping[str, float] = {BOX: 0.0, "joints up to 2 rad/s": 2.0, "joints up to 10 rad/s": 10.0}
BOX_VELOCITY = np.array([1.0, 2.0, 0.5, 5.0, 3.0, -4.0])  # m/s, rad/s
Flight = tuple[str, str, int, str, float]
"""Kind of motion, robot, seed, engine, step."""


def momentum() -> None:
    """Write how far linear and angular momentum drift."""
    flights = [
        (kind, robot, seed)
        for kind, speed in SPEEDS.items()
        for robot, seed in (product(ROBOTS, range(SEEDS)) if speed else [("box", 0)])
    ]
    tasks = [(*flight, engine, dt) for flight, engine, dt in product(flights, ENGINES, STEPS_S)]
    with ProcessPoolExecutor() as pool:
        found = dict(zip(tasks, pool.map(drift, tasks), strict=True))
    rows = []
    for kind, (engine, name) in product(SPEEDS, ENGINES.items()):
        cells = [kind, name]
        for dt in STEPS_S:
            of = [
                both for task, both in found.items() if (task[0], *task[3:]) == (kind, engine, dt)
            ]
            cells += [span([both[i] for both in of]) for i in (0, 1)]
        rows.append(cells)
    head = ["motion", "engine"]
    head += [f"{what}, {1e3 * dt:g} ms" for dt in STEPS_S for what in ("linear", "angular")]
    write_table(PAGE, "drift", head, rows, stamp(COMMAND))


def span(values: list[float]) -> str:
    """From the smallest to the largest; those of rounding as a power of ten."""
    least, most = min(values), max(values)
    if most < 1e-9:
        return f"below {10.0 ** np.ceil(np.log10(most)):.0e}"
    texts = [f"{100.0 * value:.2g}" for value in (least, most)]
    return " to ".join(dict.fromkeys(texts)) + " %"


def drift(task: Flight) -> tuple[float, float]:
    """How far linear and angular momentum about the CoM get from their start, relative."""
    kind, name, seed, engine, dt = task
    config = PlantConfig.model_validate({"engine": engine, "step_s": dt, "collisions": "none"})
    with tempfile.TemporaryDirectory() as folder:
        if kind == BOX:
            robot, v = block(Path(folder), (0.3, 0.2, 0.1)), BOX_VELOCITY
        else:
            robot = load_robot(name)
            v = np.random.default_rng(seed).uniform(-1.0, 1.0, robot.model.nv)
            v[6:] *= SPEEDS[kind]
        floating = weightless(robot)
        plant = make_plant(config, floating)
    plant.reset(floating.q_nominal, v)
    model, data, momenta = floating.model, floating.model.createData(), []
    for _ in range(round(FLIGHT_S / dt)):
        momenta.append(np.array(pin.computeCentroidalMomentum(model, data, plant.q, plant.v)))
        plant.step(np.zeros(model.nv - 6))
    changes = (np.array(momenta) - momenta[0]).reshape(-1, 2, 3)
    sizes = np.linalg.norm(momenta[0].reshape(2, 3), axis=1)
    linear, angular = np.linalg.norm(changes, axis=2).max(axis=0) / sizes
    return float(linear), float(angular)


def weightless(robot: Robot) -> Robot:
    """The robot 3 m up, without gravity and without end stops."""
    model = robot.model.copy()
    model.gravity = pin.Motion.Zero()
    model.lowerPositionLimit = np.full(model.nq, -np.inf)
    model.upperPositionLimit = np.full(model.nq, np.inf)
    q = robot.q_nominal.copy()
    q[2] += 3.0
    return dataclasses.replace(robot, model=model, q_nominal=q)
