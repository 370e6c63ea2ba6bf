"""What is tried of the law that steps, part by part, and what it shall reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from lib.measured_plan import ENGINES, period_s
from lib.measured_runs import Case, Row, Runs, Started, below, bisect, config_of, once, robot_named
from lib.measured_tables import found
from lib.stepping_measures import step_measures

import balance
from balance.recordings.settling import UntilSettled

LAW = "stepping"
ROBOTS = ("toro", "talos", "g1", "human", "icub", "romeo")
MOST = 3.6  # of the ankle limit; no search goes beyond
COARSE = tuple(30.0 * i for i in range(7))
ODD = tuple(15.0 + 30.0 * i for i in range(6))
MIRRORED = tuple(195.0 + 15.0 * i for i in range(11))
DISTURBED_AZIMUTHS, SEEDS = tuple(22.5 * i for i in range(16)), 10
SHARE = 0.8  # of the clean limit, in disturbed runs and trains
TRAIN_PUSHES, TRAIN_EVERY_S, TRAIN_SEED = 20, 4.0, 22
TARGETS = {
    "toro": {"forwards": 2.2, "backwards": 2.6, "oblique": 1.9, "sideways": 1.5},
    "others": {"forwards": 1.9, "backwards": 2.1, "oblique": 1.6, "sideways": 1.3},
}
AIMED = ("talos", "g1", "human")
"""Robots beside `toro` with figures to reach."""


def side(azimuth_deg: float) -> str:
    """Which of the four directions an azimuth belongs to."""
    off = abs((azimuth_deg + 180.0) % 360.0 - 180.0)
    if off <= 20.0 or off >= 160.0:
        return "forwards" if off <= 20.0 else "backwards"
    return "sideways" if 75.0 <= off <= 105.0 else "oblique"


def target(robot: str, azimuth_deg: float) -> float | None:
    """What shall be recovered at least, of the ankle limit; None if nothing is asked."""
    if robot != "toro" and robot not in AIMED:
        return None
    return TARGETS["toro" if robot == "toro" else "others"][side(azimuth_deg)]


def cell_of(robot: str, azimuth_deg: float, engine: str = "pinocchio", **keys: Any) -> Case:
    """A direction of a robot in an engine."""
    return Case(robot, LAW, azimuth_deg, engine=engine, period_s=period_s(robot), **keys)


def limits(robot: str, engine: str, azimuths: tuple[float, ...]) -> Iterator[Started]:
    """The largest push in each direction, from the figure to reach on."""
    for azimuth in azimuths:
        start = target(robot, azimuth) or 1.3
        yield cell_of(robot, azimuth, engine), partial(bisect, start, most=MOST)


def targets(runs: Runs) -> Iterator[Started]:
    """Whether the figures to reach are reached, before anything else."""
    for robot in ("toro", *AIMED):
        for engine in ENGINES:
            for azimuth in COARSE:
                yield cell_of(robot, azimuth, engine), partial(once, target(robot, azimuth) or 1.3)


def holes(runs: Runs, robot: str, engine: str) -> Iterator[Started]:
    """Every size below the largest."""
    for azimuth in (*COARSE, *ODD):
        cell = cell_of(robot, azimuth, engine)
        yield cell, partial(below, runs, cell, spots=(0.2, 0.4))


def no_worse(runs: Runs, robot: str, engine: str) -> Iterator[Started]:
    """Whether `capture` recovers the first push that this law does not."""
    for azimuth in (*COARSE, *ODD):
        cell = cell_of(robot, azimuth, engine)
        failed = [size for size, good in runs.tried(cell).items() if not good]
        if failed:
            yield replace(cell, law="capture"), partial(once, min(failed))


def disturbed(runs: Runs) -> Iterator[Started]:
    """Sensors, estimator, delay and a wrong mass at once, below the clean limit."""
    for seed in range(SEEDS):
        for azimuth in DISTURBED_AZIMUTHS:
            clean = clean_limit(runs, azimuth)
            if clean is not None:
                cell = cell_of("toro", azimuth, world="sensors, delay, mass", seed=seed)
                yield cell, partial(once, round(SHARE * clean, 3))


def clean_limit(runs: Runs, azimuth_deg: float) -> float | None:
    """The limit of `toro` in any direction: the smaller of the two measured beside it."""
    off = abs((azimuth_deg + 180.0) % 360.0 - 180.0)
    known = {a: one for a in (*COARSE, *ODD) if (one := found(runs, cell_of("toro", a)))}
    below_, above = [a for a in known if a <= off], [a for a in known if a >= off]
    if not below_ or not above:
        return None
    return min(known[max(below_)].value, known[min(above)].value)


def train(runs: Runs, engine: str, number: int = 0) -> Row | None:
    """Pushes in random directions, one after the other; None while limits are not known."""
    rng = np.random.default_rng([TRAIN_SEED, number])
    azimuths = np.round(rng.uniform(-180.0, 180.0, TRAIN_PUSHES), 1).tolist()
    sizes = [clean_limit(runs, azimuth) for azimuth in azimuths]
    if None in sizes:
        return None
    robot, pushes = robot_named("toro"), []
    for index, (azimuth, size) in enumerate(zip(azimuths, sizes, strict=True)):
        case = cell_of("toro", azimuth, engine, fraction=SHARE * (size or 0.0))
        push = config_of(case).pushes[0]
        pushes.append(push.model_copy(update={"time_s": TRAIN_EVERY_S * index}))
    base = config_of(cell_of("toro", 0.0, engine, fraction=1.0))
    last = TRAIN_EVERY_S * TRAIN_PUSHES
    config = base.model_copy(update={"pushes": tuple(pushes), "duration_s": last})
    recording = balance.run(config, until=UntilSettled())
    summary = recording.summary()
    ankle = [balance.ankle_limit(robot, push.direction) for push in recording.pushes]
    return {
        "engine": engine,
        "number": number,
        "outcome": summary["outcome"],
        "cause": summary["cause"],
        "time_s": float(recording.time[-1]),
        "largest": max(p.impulse / a for p, a in zip(recording.pushes, ankle, strict=True)),
        **step_measures(recording),
    }


def parts() -> dict[str, Callable[[Runs], Iterator[Started]]]:
    """The parts in their order."""
    found: dict[str, Callable[[Runs], Iterator[Started]]] = {"targets": targets}
    for azimuths, end in ((COARSE, ""), (ODD, "_between")):
        for robot in ROBOTS if not end else ("toro",):
            for engine in ENGINES:
                name = f"{robot}{'' if engine == ENGINES[0] else '_' + engine}{end}"
                found[name] = partial(_limits, robot, engine, azimuths)
    found["disturbed"] = disturbed
    for robot in ROBOTS:
        for engine in ENGINES:
            ending = "" if engine == ENGINES[0] else f"_{engine}"
            found[f"{robot}{ending}_capture"] = partial(no_worse, robot=robot, engine=engine)
            found[f"{robot}{ending}_below"] = partial(holes, robot=robot, engine=engine)
    found["mirrors"] = lambda runs: limits("toro", "pinocchio", MIRRORED)
    return found


def _limits(robot: str, engine: str, azimuths: tuple[float, ...], runs: Runs) -> Iterator[Started]:
    return limits(robot, engine, azimuths)


PARTS = parts()
