"""Runs of a campaign: one push each, described by a few words, kept in a file and never made twice.

A search asks for one size of a push after the other and is told whether it was recovered; what the
file already has is not simulated again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from lib.kept_runs import Case as Case
from lib.kept_runs import Row as Row
from lib.kept_runs import Runs as Runs
from lib.stepping_measures import step_measures

import balance
from balance.recordings.settling import UntilSettled
from balance.robots import Robot, robot_files
from balance.studies.protocols.base import CHESTS

STEP = 0.05  # of the ankle limit, between two sizes of a push
PLACES: dict[str, dict[str, tuple[str, float]]] = {
    "chest": CHESTS,
    "head": {
        "toro": ("head", 0.0), "talos": ("head_2_link", 0.0), "icub": ("head", 0.05),
        "g1": ("torso_link", 0.40), "romeo": ("HeadRollLink", 0.0), "human": ("middle_head", 0.0),
    },
}  # fmt: skip
"""Body and height above its origin, m; other places are at the robot's push body."""
ABOVE = {"hip": 0.0, "hip +2 cm": 0.02, "hip +5 cm": 0.05, "hip -5 cm": -0.05}
ARMS = ("shoulder_1", "shoulder_2", "shoulder_3", "elbow", "forearm_yaw", "wrist")
STRAIGHT = {"hip_pitch_joint": -0.05, "knee_joint": 0.1, "ankle_pitch_joint": -0.05}
SIDES = ("left", "right")
VARIANTS: dict[str, tuple[str, Row]] = {
    "toro, arms locked": ("toro", {"lock": [f"{s}_{j}" for s in SIDES for j in ARMS]}),
    "g1, knees straight": (
        "g1", {"posture": {f"{s}_{j}": q for s in SIDES for j, q in STRAIGHT.items()}}
    ),
}  # fmt: skip
"""Shipped robots with something else: which one, joints that are locked, another posture."""
OWN_ROBOTS = Path(__file__).resolve().parents[2] / "results" / "campaign" / "robots"
WORLDS: dict[str, Row] = {
    "": {},
    "mass +5 %": {"mismatch.mass_scale": 1.05},
    "mass -5 %": {"mismatch.mass_scale": 0.95},
    "delay 2 ms": {"sensors": {"delay_s": 0.002}},
    "friction 0.6": {"plant.friction": 0.6},
    "sensors": {"sensors": {"preset": "default"}, "state": "estimated"},
    "sensors, CoP margin 5 mm": {
        "sensors": {"preset": "default"},
        "state": "estimated",
        "controller.contacts.cop_margin_m": 0.005,
    },
    "sensors, delay, mass": {
        "sensors": {"preset": "default", "delay_s": 0.002},
        "state": "estimated",
        "mismatch.mass_scale": 1.05,
    },
    "neither": {"plant.collisions": "none", "actuators.speed_torque": "none"},
    "bodies": {"actuators.speed_torque": "none"},
    "drives": {"plant.collisions": "none"},
}
STANDS_BEFORE_S = 0.5  # where the state is estimated, so that filters settle


@cache
def robot_file(name: str) -> str:
    """The name of a robot, or the path of a variant's own file, which is written first."""
    if name not in VARIANTS:
        return name
    base, keys = VARIANTS[name]
    source = Path(robot_files()[base])
    tree = yaml.safe_load(source.read_text(encoding="utf-8"))
    if isinstance(tree["urdf"], str):
        tree["urdf"] = str(source.parent / tree["urdf"])
    tree["posture"] |= keys.get("posture", {})
    tree["lock"] = tree.get("lock", {}) | {
        joint: tree["posture"].pop(joint, 0.0) for joint in keys.get("lock", ())
    }
    path = OWN_ROBOTS / f"{name.replace(', ', '_').replace(' ', '_')}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(tree), encoding="utf-8")
    return str(path)


@cache
def robot_named(name: str) -> Robot:
    """A robot, loaded once."""
    return balance.load_robot(robot_file(name))


def push_point(robot: Robot, place: str) -> tuple[str, list[float], float]:
    """Body, point in its axes, and height above the ground of a place that is pushed."""
    body, above = PLACES[place][robot.name] if place in PLACES else ("", ABOVE[place])
    body = body or robot.push_body
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    pose = data.oMf[robot.model.getFrameId(body)]
    return body, (above * pose.rotation[2]).tolist(), float(pose.translation[2]) + above


def config_of(case: Case) -> balance.config.ExperimentConfig:
    """The robot's shipped experiment with another law and push; friction of joints is not told."""
    base = VARIANTS[case.robot][0] if case.robot in VARIANTS else case.robot
    name = "toro_side" if base == "toro" else f"{base}_push"
    shipped = balance.load_config(name).controller.model_dump(exclude_unset=True)
    robot = robot_named(case.robot)
    body, point, _ = push_point(robot, case.place)
    push = {
        "type": "half_sine", "direction": case.direction.tolist(), "body": body, "point_m": point,
        "time_s": STANDS_BEFORE_S if "state" in WORLDS[case.world] else 0.0,
        "duration_s": case.duration_s,
        "impulse_Ns": case.fraction * balance.ankle_limit(robot, case.direction),
    }  # fmt: skip
    controller = {key: shipped[key] for key in ("gains", "contacts") if key in shipped}
    keys = {
        "robot": robot_file(case.robot), "controller": controller | {"law": case.law},
        "pushes": [push],
        "plant.engine": case.engine, "control_period_s": case.period_s, "seed": case.seed,
        "stop_after_fall_s": 0.0, **WORLDS[case.world],
    }  # fmt: skip
    return balance.load_config(name, keys)


def simulate(case: Case) -> Row:
    """The case with impulse, outcome and cause; an error of the set-up is an outcome too."""
    impulse = case.fraction * balance.ankle_limit(robot_named(case.robot), case.direction)
    row = asdict(case) | {"impulse_Ns": float(impulse)}
    try:
        recording = balance.run(config_of(case), until=UntilSettled())
    except balance.errors.BalanceError as error:
        return row | {"outcome": "error", "cause": str(error)}
    summary = recording.summary()
    if recording.step is not None:
        row |= step_measures(recording)
    return row | {"outcome": summary["outcome"], "cause": summary["cause"]}


def limit_Ns(case: Case, steps: int = 0) -> float:
    """The recovery limit of such a push, without a step or with some, N s."""
    robot = robot_named(case.robot)
    friction = 0.6 if case.world == "friction 0.6" else 0.8
    height = push_point(robot, case.place)[2]
    return balance.recovery_limit(
        robot, case.direction[:2], steps, height_m=height, duration_s=case.duration_s,
        friction=friction,
    ).impulse_Ns  # fmt: skip


def limit_share(case: Case) -> float:
    """The recovery limit over the ankle limit."""
    return limit_Ns(case) / balance.ankle_limit(robot_named(case.robot), case.direction)


Search = Generator[float, bool, None]
"""Yields sizes of pushes, and is sent whether each was recovered."""


def grid(fraction: float) -> float:
    """The nearest size of a push that is a whole number of steps."""
    return round(round(fraction / STEP) * STEP, 2)


def once(fraction: float) -> Search:
    """One size and no other."""
    yield fraction


def bisect(start: float, step: float = STEP, least: float = 0.1, most: float = 2.0) -> Search:
    """The largest size, if all below it are recovered too: bracketed, then bisected."""
    low, high, size = 0.0, math.inf, start
    while True:
        size = grid(size)
        if (yield size):
            low = size
        else:
            high = size
        if high - low <= step + 1e-9 or low >= most or high <= least:
            return
        if math.isinf(high):
            size = low + 3 * step
        elif low == 0.0:
            size = max(least, high - 3 * step)
        else:
            size = low + step * max(1, round((high - low) / step) // 2)


def edge(target: float, least: float = 0.3, beyond: int = 1) -> Search:
    """Upwards from a size until it was not recovered some times, or down to the first success.

    A size that is recovered beyond a failure is a hole in the range, and seen.
    """
    size, failed = target, 0
    if (yield grid(size)):
        while failed < beyond:
            size += STEP
            failed += not (yield grid(size))
        return
    while size > least + 1e-9:
        size -= STEP
        if (yield grid(size)):
            return


def holds(fraction: float, least: float = 0.1, step: float = STEP) -> Search:
    """A size, and if it was not recovered smaller ones down to the first that was."""
    while not (yield grid(fraction)) and fraction > least + step / 2:
        fraction -= step


def below(runs: Runs, cell: Case, start: float = 0.5, spots: Iterable[float] = ()) -> Search:
    """All sizes up to the largest that is known to be recovered, and some small ones."""
    known = [size for size, good in runs.tried(cell).items() if good]
    for size in (*spots, *np.arange(start, max(known, default=0.0) - 1e-9, STEP)):
        yield grid(float(size))


Started = tuple[Case, Callable[[], Search]]
"""A cell, and what asks for its sizes once its turn has come."""


def carry_out(runs: Runs, searches: Iterable[Started], workers: int) -> None:
    """Run all searches, as many at a time as there are workers, in their order."""
    waiting = iter(searches)
    with ProcessPoolExecutor(workers) as pool:
        busy: dict[Future[Row], tuple[Case, Search]] = {}
        open_ended = True
        while open_ended or busy:
            while open_ended and len(busy) < workers:
                one = next(waiting, None)
                if one is None:
                    open_ended = False
                else:
                    _advance(runs, pool, busy, one[0], one[1](), None)
            if not busy:
                continue
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                cell, search = busy.pop(future)
                row = future.result()
                runs.add(row)
                print(_words(row), flush=True)
                _advance(runs, pool, busy, cell, search, row["outcome"] == "recovered")


def _advance(
    runs: Runs,
    pool: ProcessPoolExecutor,
    busy: dict[Future[Row], tuple[Case, Search]],
    cell: Case,
    search: Search,
    answer: bool | None,
) -> None:
    """Let a search go on through what is known to the first run that is not."""
    for case in _asked(runs, cell, search, answer):
        busy[pool.submit(simulate, case)] = cell, search
        return


def answered(runs: Runs, cell: Case, search: Search, recovers: Callable[[Case], bool]) -> None:
    """Let a search go on to its end, with a rule in the place of simulations."""
    answer: bool | None = None
    while True:
        case = next(_asked(runs, cell, search, answer), None)
        if case is None:
            return
        answer = recovers(case)
        outcome = "recovered" if answer else "fell"
        runs.add(asdict(case) | {"outcome": outcome, "cause": None})


def _asked(runs: Runs, cell: Case, search: Search, answer: bool | None) -> Iterator[Case]:
    try:
        size = next(search) if answer is None else search.send(answer)
        while True:
            case = replace(cell, fraction=size)
            known = runs.recovered(case)
            if known is None:
                yield case
                return
            size = search.send(known)
    except StopIteration:
        return


def _words(row: Row) -> str:
    what = f"{row['robot']} {row['law']} {row['engine']} {1e3 * row['period_s']:g} ms"
    how = f"{row['place']} {1e3 * row['duration_s']:g} ms {row['world']} {row['seed']}"
    return f"{what} {how} {row['azimuth_deg']:g} {row['fraction']:g} {row['outcome']}"
