"""What a campaign tries, part by part, the most important first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from lib.measured_runs import (
    VARIANTS,
    Case,
    Runs,
    Started,
    below,
    bisect,
    edge,
    grid,
    holds,
    limit_share,
    once,
)

from balance.robots import robot_files

OTHERS = ("talos", "icub", "g1", "romeo", "human")
ROBOTS = ("toro", *OTHERS)
ENGINES = ("pinocchio", "mujoco")
TARGET = {"toro": 1.15}  # of the ankle limit, that the capture law shall recover
TARGET_OF_OTHERS = 1.05
FIRST_TRIED = 0.8  # of the recovery limit
SPOTS = (0.1, 0.2, 0.3, 0.4)  # small pushes that are tried as well
STARTS = {
    "momentum": 0.8, "whole_body_qp": 0.85, "hierarchical": 0.7, "ott2011": 0.8,
    "virtual_model": 0.8, "joint_pd": 0.6,
}  # fmt: skip
DISTURBED: tuple[dict[str, object], ...] = (
    {"world": "mass +5 %"}, {"world": "mass -5 %"}, {"world": "delay 2 ms"},
    {"world": "friction 0.6"}, {"place": "hip +5 cm"}, {"place": "hip -5 cm"},
    {"duration_s": 0.1}, {"duration_s": 0.3},
    *({"world": "sensors", "seed": seed} for seed in range(5)),
    *({"world": "sensors, CoP margin 5 mm", "seed": seed} for seed in range(5)),
)  # fmt: skip
CLAIMS = (
    ("toro", 67.5, "hip"), ("toro", 95.0, "hip"), ("toro", 0.0, "hip +2 cm"),
    ("toro", 90.0, "hip +2 cm"), ("toro, arms locked", 90.0, "hip"),
    ("g1, knees straight", 0.0, "hip"), ("g1, knees straight", 180.0, "hip"),
)  # fmt: skip
MOST_CLAIMED = 1.25  # of the ankle limit
AROUND = tuple(30.0 * i for i in range(12))
ROUND = {"toro": tuple(15.0 * i for i in range(24))}
HALF_ROUND = {"toro": ROUND["toro"][:13]}
HALF_ROUND_OF_OTHERS = AROUND[:7]  # the other directions are mirror images
FEW = (0.0, 60.0, 90.0, 120.0, 180.0)
LARGEST_ELSEWHERE = {"hip": 0.8, "chest": 0.8, "head": 0.6}  # of the ankle limit, tried at first
SIDES_ELSEWHERE = 2  # of each place and duration on each robot
PLACES, DURATIONS_S = ("hip", "chest", "head"), (0.02, 0.1, 0.5)
RANDOM_RUNS, SEED = 600, 21
RANDOM_LAWS = ("capture", "momentum", "whole_body_qp", "hierarchical", "ott2011", "virtual_model")


def period_s(robot: str) -> float:
    """The control period of the main tables, s: at 2 ms wrench laws let the human's feet slip."""
    return 0.001 if robot in ("toro", "human") else 0.002


def half_round(robot: str) -> tuple[float, ...]:
    """The directions that are scanned, degrees."""
    return HALF_ROUND.get(robot, HALF_ROUND_OF_OTHERS)


def whole_round(robot: str) -> tuple[float, ...]:
    """All directions of the main tables, degrees."""
    return ROUND.get(robot, AROUND)


def cells(
    robots: tuple[str, ...], law: str, engines: tuple[str, ...] = ENGINES, *, whole: bool = False
) -> Iterator[Case]:
    """Half round, or the whole of it, robot by robot."""
    for robot in robots:
        for engine in engines:
            for azimuth in whole_round(robot) if whole else half_round(robot):
                yield Case(robot, law, azimuth, engine=engine, period_s=period_s(robot))


def target(robot: str) -> float:
    """What the capture law shall recover at least, of the ankle limit."""
    return TARGET.get(robot, TARGET_OF_OTHERS)


def limits_of(runs: Runs, robots: tuple[str, ...], engine: str, half: int = 0) -> Iterator[Started]:
    """From most of the recovery limit on in the first engine, from what that gave in the other.

    In the second ``half`` of the round from what the first engine gave to the mirror image.
    """
    for robot in robots:
        ahead = half_round(robot)
        for azimuth in [a for a in whole_round(robot) if a not in ahead] if half else ahead:
            cell = Case(robot, "capture", azimuth, engine=engine, period_s=period_s(robot))
            like = replace(
                cell, engine=ENGINES[0], azimuth_deg=360.0 - azimuth if half else azimuth
            )
            start = _known(runs, like, FIRST_TRIED * limit_share(cell))
            holes = robot == "toro" and engine == ENGINES[0] and not half
            yield cell, partial(edge, grid(start), beyond=2 if holes else 1)


def _known(runs: Runs, cell: Case, otherwise: float) -> float:
    """The largest push of a cell that is known to be recovered."""
    return max((size for size, good in runs.tried(cell).items() if good), default=otherwise)


def small_pushes(runs: Runs, robots: tuple[str, ...]) -> Iterator[Started]:
    for cell in cells(robots, "capture"):
        yield cell, partial(below, runs, cell, spots=SPOTS)


def disturbed(runs: Runs, engine: str) -> Iterator[Started]:
    for keys in DISTURBED:
        for azimuth in AROUND:
            yield Case("toro", "capture", azimuth, engine=engine, **keys), partial(once, 1.0)


def claims() -> Iterator[Case]:
    """Where the claims made for the law of version 0.1 were found not to hold."""
    for robot, azimuth, place in CLAIMS:
        yield Case(robot, "capture", azimuth, period_s=period_s(robot), place=place)


def claimed(runs: Runs) -> Iterator[Started]:
    for cell in claims():
        start = min(FIRST_TRIED * limit_share(cell), MOST_CLAIMED)
        yield cell, partial(edge, grid(start))
        if cell.robot in VARIANTS:
            yield cell, partial(below, runs, cell, spots=SPOTS)


def other_laws(runs: Runs, laws: tuple[str, ...], azimuths: tuple[float, ...] | None = None,
               engine: str = "pinocchio") -> Iterator[Started]:  # fmt: skip
    for law in laws:
        for cell in cells(ROBOTS, law, (engine,)):
            if azimuths is None or cell.azimuth_deg in azimuths:
                yield cell, partial(bisect, STARTS[law])


def elsewhere() -> Iterator[Case]:
    """Pushes at other places and of other durations, each to sides drawn at random."""
    for side in range(SIDES_ELSEWHERE):
        rng = np.random.default_rng([SEED, side])
        for robot in ROBOTS:
            for place in PLACES:
                for duration in DURATIONS_S:
                    yield Case(
                        robot,
                        "momentum",
                        round(float(rng.uniform(0.0, 360.0)), 1),
                        period_s=period_s(robot),
                        duration_s=duration,
                        place=place,
                    )


def momentum_elsewhere(runs: Runs) -> Iterator[Started]:
    for cell in elsewhere():
        yield cell, partial(holds, LARGEST_ELSEWHERE[cell.place], step=0.2)


def capture_elsewhere(runs: Runs) -> Iterator[Started]:
    """Whether the capture law recovers the largest that the momentum law did."""
    for cell in elsewhere():
        known = [size for size, good in runs.tried(cell).items() if good]
        if known:
            yield replace(cell, law="capture"), partial(holds, max(known))


def world(runs: Runs) -> Iterator[Started]:
    """What bodies that touch and drives with a top speed cost; both are in the main tables."""
    for name in ("neither", "drives", "bodies"):
        for azimuth in HALF_ROUND["toro"]:
            cell = Case("toro", "capture", azimuth)
            start = _known(runs, cell, target("toro"))
            yield replace(cell, world=name), partial(edge, start, beyond=1)


def slow_steps(runs: Runs) -> Iterator[Started]:
    for robot in OTHERS:
        for azimuth in FEW:
            for period in (0.004, 0.001):
                cell = Case(robot, "capture", azimuth, period_s=period)
                yield cell, partial(edge, target(robot))


def at_random(runs: Runs) -> Iterator[Started]:
    """Pushes of random size, side and duration, on random robots, under random laws."""
    for number in range(RANDOM_RUNS):
        rng = np.random.default_rng([SEED, number])
        law = str(rng.choice(RANDOM_LAWS, p=(0.5, 0.1, 0.1, 0.1, 0.1, 0.1)))
        cell = Case(
            str(rng.choice(sorted(robot_files()))), law, float(rng.uniform(0.0, 360.0)),
            engine=str(rng.choice(ENGINES)), period_s=0.002,
            duration_s=float(rng.choice((0.02, 0.1, 0.2), p=(0.7, 0.15, 0.15))),
        )  # fmt: skip
        size = float(rng.uniform(0.4, 1.5 if law == "capture" else 1.0))
        yield cell, partial(once, size)


PARTS: dict[str, Callable[[Runs], Iterator[Started]]] = {
    "toro": lambda runs: limits_of(runs, ("toro",), "pinocchio"),
    "others": lambda runs: limits_of(runs, OTHERS, "pinocchio"),
    "momentum": lambda runs: other_laws(runs, ("momentum",)),
    "whole_body_qp": lambda runs: other_laws(runs, ("whole_body_qp",)),
    "toro_mujoco": lambda runs: limits_of(runs, ("toro",), "mujoco"),
    "others_mujoco": lambda runs: limits_of(runs, OTHERS, "mujoco"),
    "disturbed": lambda runs: disturbed(runs, "pinocchio"),
    "momentum_elsewhere": momentum_elsewhere,
    "elsewhere": capture_elsewhere,
    "toro_mirrored": lambda runs: limits_of(runs, ("toro",), "pinocchio", 1),
    "others_mirrored": lambda runs: limits_of(runs, OTHERS, "pinocchio", 1),
    "disturbed_mujoco": lambda runs: disturbed(runs, "mujoco"),
    "toro_below": lambda runs: small_pushes(runs, ("toro",)),
    "claims": claimed,
    "steps": slow_steps,
    "world": world,
    "laws": lambda runs: other_laws(
        runs, ("hierarchical", "ott2011", "virtual_model", "joint_pd"), FEW
    ),
    "random": at_random,
    "others_below": lambda runs: small_pushes(runs, OTHERS),
    "toro_mujoco_mirrored": lambda runs: limits_of(runs, ("toro",), "mujoco", 1),
    "others_mujoco_mirrored": lambda runs: limits_of(runs, OTHERS, "mujoco", 1),
    "momentum_mujoco": lambda runs: other_laws(runs, ("momentum",), FEW, "mujoco"),
    "whole_body_qp_mujoco": lambda runs: other_laws(runs, ("whole_body_qp",), FEW, "mujoco"),
}
