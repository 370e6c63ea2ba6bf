"""A search over the chosen numbers of the capture law: random pushes, and others held out.

Each number is tried below and above what it is, one at a time, on pushes drawn at random on six
robots.  Those that recover most there are tried on pushes that were held out, in both engines.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from lib.kept_runs import code_hash
from lib.measured_plan import ENGINES, ROBOTS, period_s
from lib.measured_runs import Case, limit_share, simulate

from balance.control.capture import law, planner
from balance.dynamics.compiled import NUMBA
from balance.robots.capability import kept, leaning

KEPT = Path(__file__).resolve().parents[2] / "results" / "search" / "capture.jsonl"
SEED = 21
SLOW_STEP_S = 0.004
TRIED, HELD_OUT = 60, 120  # pushes, the same number on each robot
SIZES = 0.75, 0.95  # of the recovery limit
TAKEN_ON = 4  # sets that go on to the pushes that were held out
ERRORS = 2.0  # standard errors by which a set has to be ahead there


@dataclass(frozen=True)
class Number:
    """A chosen number: where it is, and what it is tried at."""

    module: Any
    name: str
    words: str
    tried: tuple[float, ...]

    @property
    def now(self) -> float:
        """What the law has."""
        return float(getattr(self.module, self.name))


NUMBERS = (
    Number(planner, "HORIZON", "horizon, 1/ω", (2.0, 2.9)),
    Number(planner, "LATER_MOMENT", "later moments, share", (0.5, 0.75)),
    Number(planner, "END_SHARE", "ζ at the end, share of the CoP's region", (0.8, 1.0)),
    Number(planner, "LEAN_WEIGHT", "weight of the lean in the plan", (2.5, 10.0)),
    Number(planner, "MOMENT_WEIGHT", "weight of the moment in the plan", (0.1, 0.4)),
    Number(law, "SERVO", "rate back to the shares, ω", (1.4, 2.8)),
    Number(law, "SINK_RATE", "sinking, per share of the region that is free", (1.4, 2.8)),
    Number(law, "LIGHTEST", "least inertia that counts, of the base's", (0.003, 0.03)),
    Number(law, "INSISTENCE", "rate of the integral, ω", (0.12, 0.5)),
    Number(law, "VERTICAL_WEIGHT", "weight of the height", (50.0, 200.0)),
    Number(law, "MOMENT_WEIGHT", "weight of the moment", (10.0, 40.0)),
    Number(leaning, "JOINT_SHARE", "way of a free joint, share", (0.4, 0.65)),
    Number(leaning, "FARTHEST_RAD", "farthest tilt of the base, rad", (0.65, 0.95)),
    Number(leaning, "HELD", "torques that hold a lean, share", (0.7, 0.9)),
    Number(leaning, "SPEED", "joint speeds, of the rated", (1.0, 1.25)),
)
Change = tuple[int, float]
"""Place of a number in ``NUMBERS``, and what it is instead."""
Set = tuple[Change, ...]
NOW: Set = ()


def pushes(count: int, *, held_out: bool = False) -> list[Case]:
    """The first so many of the pushes drawn at random; robots take turns.

    Those held out go by the control steps of the main tables, in both engines.
    """
    cases = []
    for i in range(count):
        rng = np.random.default_rng([SEED, held_out, i])
        robot = ROBOTS[i % len(ROBOTS)]
        case = Case(robot, "capture", round(float(rng.uniform(0.0, 360.0)), 1),
                    period_s=SLOW_STEP_S)  # fmt: skip
        if held_out:
            engine = ENGINES[i // len(ROBOTS) % len(ENGINES)]
            case = replace(case, period_s=period_s(robot), engine=engine)
        size = round(float(rng.uniform(*SIZES)) * limit_share(case), 3)
        cases.append(replace(case, fraction=size))
    return cases


def neighbours() -> Iterator[Set]:
    """Each number at each value, one at a time."""
    for place, number in enumerate(NUMBERS):
        for value in number.tried:
            yield ((place, value),)


def outcomes(changes: Set, cases: Sequence[Case]) -> list[bool]:
    """Which of the pushes are recovered with other numbers, in a process of its own.

    They are not set back, and robots keep what was found out about them by these numbers.
    """
    for place, value in changes:
        setattr(NUMBERS[place].module, NUMBERS[place].name, value)
    if any(NUMBERS[place].module is leaning for place, _ in changes):
        found = kept._code()  # what is on disk is of other numbers
        kept._code = lambda: f"{found} {changes}"
    if NUMBA is not None:  # weights are constants of what is compiled, and of what it keeps
        law.plan_rows = NUMBA.njit(error_model="numpy")(law.plan_rows.py_func)
    return [simulate(case)["outcome"] == "recovered" for case in cases]


class Search:
    """What was found, kept in a file: no set is tried twice with one code on the same pushes."""

    def __init__(self, path: Path = KEPT) -> None:
        self.path, self.code = path, code_hash("capture")
        self._found: dict[tuple[str, str], list[bool]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            row = json.loads(line)
            if row["code"] == self.code:
                self._found[row["pushes"], row["set"]] = [one == "1" for one in row["recovered"]]

    def of(self, sets: Iterable[Set], cases: Sequence[Case], workers: int) -> dict[Set, list[bool]]:
        """Outcomes of each set, simulated where they are not known."""
        name, wanted = f"{zlib.crc32(repr(cases).encode()):08x}", list(sets)
        missing = [one for one in wanted if (name, repr(one)) not in self._found]
        with ProcessPoolExecutor(workers, max_tasks_per_child=1) as pool:
            answers = pool.map(partial(outcomes, cases=cases), missing)
            for one, good in zip(missing, answers, strict=True):
                self._keep(name, one, good)
                print(f"{words(one)}: {sum(good)} of {len(good)}", flush=True)
        return {one: self._found[name, repr(one)] for one in wanted}

    def _keep(self, name: str, one: Set, good: list[bool]) -> None:
        self._found[name, repr(one)] = good
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join("01"[recovered] for recovered in good)
        row = {"code": self.code, "pushes": name, "set": repr(one), "recovered": text}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def words(changes: Set) -> str:
    """A set in words."""
    if not changes:
        return "as it is"
    return ", ".join(f"{NUMBERS[place].words}: {value:g}" for place, value in changes)


def ahead(good: Sequence[bool], before: Sequence[bool]) -> tuple[int, float]:
    """By how many pushes a set is ahead of another one, and the standard error of that."""
    differences = np.subtract(good, before, dtype=int)
    return int(differences.sum()), sqrt(float(np.abs(differences).sum()))
