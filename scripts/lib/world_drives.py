"""What the drives' top speed changes: for a wrist, a robot that flails, and shipped experiments."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from lib.tables import stamp, write_table
from numpy.typing import NDArray

import balance
from balance.config import PlantConfig
from balance.config.actuators import ActuatorsConfig
from balance.experiment import Experiment
from balance.robots import Robot, load_robot
from balance.simulation.drives import ActuatedPlant
from balance.simulation.plants import make_plant
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.wrapper import PlantWrapper

Array = NDArray[np.float64]

PAGE, COMMAND = "docs/world_measured.md", "scripts/world drives"
ENGINES = ("pinocchio", "mujoco")
NAMES = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo"}
STEPS_S = (2e-3, 1e-3, 2.5e-4)
WRIST = "left_wrist"
DRIVEN_S = 0.2
FLAILING_S, HELD_S, SEEDS = 1.0, 0.02, 3  # one draw of torques lasts HELD_S
FITS_NM = 1e-6
PAPER, CAPTURE = "toro_push", "toro_capture"
CONFIGS = Path(__file__).resolve().parents[2] / "configs"


class Meter(PlantWrapper):
    """A plant that counts its steps and tells the torques of the last, its own friction aside."""

    def __init__(self, plant: Any) -> None:
        super().__init__(plant)
        self._friction = plant.joint_damping.copy()
        self.torques = np.zeros_like(self._friction)
        self.steps = 0

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance the plant by one time step."""
        added = self.joint_damping - self._friction
        given = np.clip(torques, *self.torque_range)
        self.plant.step(torques, impulses)
        self.torques = given - added * self.v[6:]
        self.steps += 1


def drives() -> None:
    """Write the tables of the section on drives."""
    with ProcessPoolExecutor() as pool:
        wrist_table(pool)
        flailing_table(pool)
        experiment_table(pool)


def wrist_table(pool: ProcessPoolExecutor) -> None:
    tasks = list(product(ENGINES, STEPS_S))
    found = pool.map(wrist, *zip(*tasks, strict=True))
    rows = [
        [NAMES[engine], f"{1e3 * dt:g}", *(f"{ratio:.3f}" for ratio in ratios)]
        for (engine, dt), ratios in zip(tasks, found, strict=True)
    ]
    head = ["engine", "step [ms]", "one step without a curve, speed / rated", "0.2 s with it"]
    write_table(PAGE, "wrist", head, rows, stamp(COMMAND))


def wrist(engine: str, dt: float) -> tuple[float, float]:
    """The wrist of a robot that floats under its full torque: speeds over rated."""
    robot = floating(load_robot("toro"))
    joint = robot.joint_names.index(WRIST)
    torques = np.zeros(robot.model.nv - 6)
    torques[joint] = robot.effort_limits[joint]
    ratios = []
    for curve, seconds in (("none", dt), (None, DRIVEN_S)):
        plant, _ = driven(robot, engine, dt, curve)
        fastest = 0.0
        for _ in range(round(seconds / dt)):
            plant.step(torques)
            fastest = max(fastest, plant.v[6 + joint])
        ratios.append(fastest / robot.rated_speeds[joint])
    return ratios[0], ratios[1]


def floating(robot: Robot) -> Robot:
    """Without weight, high above the ground, all joints in the middle of their range."""
    model = robot.model.copy()
    model.gravity.linear = np.zeros(3)
    q = robot.q_nominal.copy()
    q[2] += 5.0
    q[7:] = 0.5 * (model.lowerPositionLimit[7:] + model.upperPositionLimit[7:])
    return dataclasses.replace(robot, model=model, q_nominal=q)


def driven(robot: Robot, engine: str, dt: float, curve: str | None) -> tuple[ActuatedPlant, Meter]:
    """A plant behind drives, with the curve that is the default or with none."""
    meter = Meter(make_plant(PlantConfig.model_validate({"engine": engine, "step_s": dt}), robot))
    keys = {} if curve is None else {"speed_torque": curve}
    config = ActuatorsConfig.model_validate(keys)
    return ActuatedPlant(meter, config, robot, 1, np.random.SeedSequence(0)), meter


def flailing_table(pool: ProcessPoolExecutor) -> None:
    tasks = list(product(ENGINES, STEPS_S, (True, False), range(SEEDS)))
    found = dict(zip(tasks, pool.map(flail, *zip(*tasks, strict=True)), strict=True))
    rows = []
    for engine, dt in product(ENGINES, STEPS_S):
        cells = [NAMES[engine], f"{1e3 * dt:g}"]
        for grounded in (True, False):
            of = np.array([found[engine, dt, grounded, seed] for seed in range(SEEDS)])
            unfit, most = 100.0 * of[:, 0].sum() / of[:, 2].sum(), of[:, 1].sum() / of[:, 2].sum()
            cells += [f"{unfit:.2f}", f"{most:.2f}"]
        rows.append(cells)
    head = ["engine", "step [ms]", "on the floor: no branch fits [% of steps]", "tries a step",
            "in the air: no branch fits [%]", "tries a step"]  # fmt: skip
    write_table(PAGE, "flailing", head, rows, stamp(COMMAND))


def flail(engine: str, dt: float, grounded: bool, seed: int) -> tuple[int, int, int]:
    """Random torques: steps in which a joint is off its curve, steps tried, steps made."""
    robot = load_robot("toro")
    robot = robot if grounded else floating(robot)
    plant, meter = driven(robot, engine, dt, None)
    rng, off, count = np.random.default_rng(seed), 0, round(FLAILING_S / dt)
    for step in range(count):
        if step % round(HELD_S / dt) == 0:
            wanted = robot.effort_limits * rng.uniform(-1.0, 1.0, robot.model.nv - 6)
        plant.step(wanted)
        off += np.abs(meter.torques - on_curve(robot, wanted, plant.v[6:])).max() > FITS_NM
    return off, meter.steps, count


def on_curve(robot: Robot, wanted: Array, velocities: Array) -> Array:
    """What the drives give at these velocities by default, as the YAML schema says it."""
    curve = ActuatorsConfig().speed_torque
    assert not isinstance(curve, str)
    speed = np.sign(wanted) * velocities / robot.rated_speeds
    share = np.clip((curve.none_from - speed) / (curve.none_from - curve.full_until), 0.0, 1.0)
    return np.asarray(np.sign(wanted) * np.minimum(np.abs(wanted), share * robot.effort_limits))


def experiment_table(pool: ProcessPoolExecutor) -> None:
    """Every shipped experiment with and without the curve; those that it changes are shown."""
    tasks = [(path.stem, ENGINES[0]) for path in sorted(CONFIGS.glob("*.yaml"))]
    tasks += [(PAPER, ENGINES[1]), (CAPTURE, ENGINES[1])]
    found = dict(zip(tasks, pool.map(with_and_without, *zip(*tasks, strict=True)), strict=True))
    shipped = [one for (_, engine), one in found.items() if engine == ENGINES[0]]
    rows = [
        [f"`{name}`", NAMES[engine], *changed_cells(one)]
        for (name, engine), one in found.items()
        if not one["same"]
    ]
    papers = " and ".join(
        f"{1e3 * one['with']['peak_com_error_m']:.2f} mm with a largest speed of "
        f"{one['with']['max_joint_speed_ratio']:.2f} of rated in {NAMES[engine]}"
        for engine in ENGINES
        for one in [found[PAPER, engine]]
    )
    text = (
        f"Of the {len(shipped)} shipped experiments (Pinocchio) "
        f"{sum(one['without']['outcome'] == one['with']['outcome'] for one in shipped)} keep their "
        f"outcome with the curve, and {sum(one['same'] for one in shipped)} are the same bit for "
        f"bit; the others are in the table. The paper's push: {papers}. The steps that "
        f"`{CAPTURE}` takes back and repeats are {retried(found[CAPTURE, ENGINES[0]])} of all in "
        f"Pinocchio, {retried(found[CAPTURE, ENGINES[1]])} in MuJoCo."
    )
    head = ["experiment", "engine", "outcome without / with curve", "largest CoM error [mm]",
            "driven speed / rated", "by the hit"]  # fmt: skip
    write_table(PAGE, "curve", head, rows, text, stamp(COMMAND))


def changed_cells(one: dict[str, Any]) -> Iterable[str]:
    both = [one[key] for key in ("without", "with")]
    yield " / ".join(dict.fromkeys(str(summary["outcome"]) for summary in both))
    yield " / ".join(f"{1e3 * summary['peak_com_error_m']:.2f}" for summary in both)
    for key in ("max_driven_speed_ratio", "max_hit_speed_ratio"):
        yield " / ".join(f"{summary[key]:.2f}" if summary[key] else "none" for summary in both)


def retried(one: dict[str, Any]) -> str:
    return f"{100.0 * one['repeated']:.1f} %"


def with_and_without(name: str, engine: str) -> dict[str, Any]:
    """Summaries of both runs, whether they are the same, and the share of repeated steps."""
    keys: dict[str, Any] = {"plant.engine": engine}
    plain = balance.run(name, overrides={**keys, "actuators.speed_torque": "none"})
    experiment = Experiment(balance.load_config(name, keys))
    actuated: Any = experiment.plant
    while not isinstance(actuated, ActuatedPlant):
        actuated = actuated.plant
    meter = Meter(actuated.plant)
    actuated.plant = meter
    limited = experiment.run()
    made = round(limited.time[-1] / meter.dt)
    same = len(plain.time) == len(limited.time) and bool(np.array_equal(plain.v, limited.v))
    return {
        "without": plain.summary(), "with": limited.summary(), "same": same,
        "repeated": (meter.steps - made) / made,
    }  # fmt: skip
