"""Our own protocol, version 1: the largest recovered push over the ankle limit, cell by cell.

Its cells never change; whatever would change them is another version.  :data:`FROZEN` is all that a
result depends on beside robot, law and engine, and its hash stands in every result.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from balance.analysis.limits.recovery import recovery_limit
from balance.errors import BalanceError, ConfigError
from balance.recordings.metrics import ankle_limit
from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.studies.directions import from_angles
from balance.studies.protocols.base import CHESTS, height_of, place, scattered
from balance.studies.protocols.interface import Condition, Finding, Indicators, ProtocolConfig
from balance.studies.store import Row

FROZEN: dict[str, Any] = {
    "name": "balance_v1",
    "azimuths_deg": [22.5 * i for i in range(16)],
    "places": ["hip", "chest"],
    "durations_s": [0.02, 0.1, 0.3],
    "worlds": {
        "clean": {"plant.friction": 0.8},
        "disturbed": {
            "plant.friction": 0.6,
            "state": "estimated",
            "sensors": {"preset": "default", "delay_s": 0.002},
        },
    },
    "mass_scale": {"disturbed": [1.05, 0.95, 1.05]},
    "seeds": 3,
    "push": {"type": "half_sine", "time_s": 0.1},
    "scatter": "direction within 2 degrees, point within 10 mm across and upwards, by seed",
    "levels": [round(0.05 * i, 2) for i in range(1, 61)],
    "first_guess": 0.7,
    "passed": "recovered",
    "chests": {name: list(chest) for name, chest in CHESTS.items()},
}
HASH = hashlib.sha256(json.dumps(FROZEN, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Cell:
    """One place, duration, direction and world."""

    world: str
    place: str
    duration_s: float
    azimuth_deg: float

    @property
    def name(self) -> str:
        """For example ``clean hip 20 ms 90 deg``."""
        milliseconds = f"{1e3 * self.duration_s:g}"
        return f"{self.world} {self.place} {milliseconds} ms {self.azimuth_deg:g} deg"


def all_cells() -> list[Cell]:
    """The cells of this version."""
    return [
        Cell(world, where, duration, azimuth)
        for world in FROZEN["worlds"]
        for where in FROZEN["places"]
        for duration in FROZEN["durations_s"]
        for azimuth in FROZEN["azimuths_deg"]
    ]


class BalanceV1:
    """The largest recovered push over the ankle limit, in 192 frozen cells."""

    class Config(ProtocolConfig):
        """Keys of `balance_v1`."""

        cells: Annotated[tuple[str, ...], Field(min_length=1)] = ("*",)
        """Patterns of names of cells; anything but all of them is a partial result, which is not
        ranked. Example: ['clean hip 20 ms *']."""
        chest: str | None = None
        """Body of the chest of a robot of your own; that of robots that ship is frozen."""

    def __init__(self, config: Config, robot: Robot) -> None:
        self.config, self.robot = config, robot
        if config.chest is not None and robot.name in CHESTS:
            raise ConfigError(
                f"'chest' = '{config.chest}': the chest of robot '{robot.name}' is frozen "
                f"('{CHESTS[robot.name][0]}'); leave the key out"
            )
        self.cells = [
            cell
            for cell in all_cells()
            if any(fnmatch.fnmatchcase(cell.name, pattern) for pattern in config.cells)
        ]
        if not self.cells:
            raise ConfigError(
                f"'cells' = {list(config.cells)} names no cell; a cell is called "
                f"'{all_cells()[0].name}', and * stands for anything"
            )
        self.places = {
            "hip": place(robot, "hip", None, "hip"),
            "chest": place(robot, "chest", config.chest, "chest"),
        }

    @property
    def partial(self) -> bool:
        """Whether cells were left out."""
        return len(self.cells) < len(all_cells())

    def ankle_Ns(self, cell: Cell) -> float:
        """The ankle limit in the direction of a cell."""
        return ankle_limit(self.robot, np.array(from_angles(cell.azimuth_deg, 0.0).vector))

    def conditions(self) -> list[Condition]:
        """Each cell and seed; a search starts where a neighbour ended.

        The first seed of a cell follows the direction before it, or the clean cell; the other seeds
        follow the first.
        """
        levels = tuple(FROZEN["levels"])
        first = sum(x <= FROZEN["first_guess"] for x in levels) - 1
        names = {cell.name for cell in self.cells}
        found = []
        for number, cell in enumerate(self.cells):
            before = self.cells[number - 1] if number else None
            clean = Cell("clean", cell.place, cell.duration_s, cell.azimuth_deg)
            for seed in range(FROZEN["seeds"]):
                after = None
                if seed > 0:
                    after = f"{cell.name}, seed 0"
                elif cell != clean and clean.name in names:
                    after = f"{clean.name}, seed 0"
                elif before is not None and _beside(before, cell):
                    after = f"{before.name}, seed 0"
                facts = {"cell": cell.name, "seed": seed}
                name = f"{cell.name}, seed {seed}"
                found.append(Condition(name, levels, 1, facts, guess=first, after=after))
        return found

    def experiment(self, condition: Condition, level: float, run: int) -> dict[str, Any]:
        """One push of a cell."""
        cell = next(one for one in self.cells if one.name == condition.facts["cell"])
        seed = condition.facts["seed"]
        body, above = self.places[cell.place]
        heading = from_angles(cell.azimuth_deg, 0.0).vector
        direction, offset = scattered(0, seed, heading)
        push = {
            **FROZEN["push"],
            "body": body,
            "point_m": [offset[0], offset[1], offset[2] + above],
            "direction": direction,
            "impulse_Ns": level * self.ankle_Ns(cell),
            "duration_s": cell.duration_s,
        }
        keys: dict[str, Any] = {"seed": seed, "pushes": [push], **FROZEN["worlds"][cell.world]}
        scales = FROZEN["mass_scale"].get(cell.world)
        if scales is not None:
            keys["mismatch"] = {"mass_scale": scales[seed]}
        return keys

    def passed(self, rows: Sequence[Row]) -> bool:
        """Whether the push was recovered."""
        return all(row["outcome"] == "recovered" for row in rows)

    @staticmethod
    def measure(recording: Recording) -> dict[str, Any]:
        """Nothing beside what every run tells."""
        return {}

    def limits(self, findings: Sequence[Finding]) -> dict[str, list[float]]:
        """For each cell the largest level recovered, by seed; 0 where none was."""
        found: dict[str, list[float]] = {cell.name: [] for cell in self.cells}
        for finding in findings:
            at = finding.margin
            found[finding.condition.facts["cell"]].append(0.0 if at is None else at.value)
        return found

    def recovery_fractions(self) -> dict[str, float | None]:
        """For each cell the recovery limit without a step, over the ankle limit."""
        return {cell.name: self._recovery(cell) for cell in self.cells}

    def _recovery(self, cell: Cell) -> float | None:
        body, above = self.places[cell.place]
        try:
            found = recovery_limit(
                self.robot,
                from_angles(cell.azimuth_deg, 0.0).vector,
                height_m=height_of(self.robot, body, above),
                duration_s=cell.duration_s,
                friction=FROZEN["worlds"][cell.world]["plant.friction"],
            )
        except BalanceError:
            return None
        return found.impulse_Ns / self.ankle_Ns(cell)

    def report(self, findings: Sequence[Finding]) -> list[Indicators]:
        """The score of all cells and of each world."""
        limits = self.limits(findings)
        steps = steps_taken(findings)
        lines = []
        for name, cells in groups(limits):
            summary = score(cells)
            line: Indicators = {
                "cells": name,
                "score": summary.mean,
                "95 % interval": f"{summary.low:.3f} to {summary.high:.3f}",
                "weakest cell": summary.weakest,
                "its limit": summary.least,
                "runs with steps": steps,
                "partial": "yes" if self.partial else "no",
            }
            lines.append(line)
        return lines


@dataclass(frozen=True)
class Score:
    """Mean over cells and seeds, its 95 % interval over seeds, and the weakest cell."""

    mean: float
    low: float
    high: float
    weakest: str
    least: float


T_95 = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
"""Student's t for a two-sided 95 % interval, by the number of values."""


def score(limits: Mapping[str, Sequence[float]]) -> Score:
    """The score of some cells: the mean over cells for each seed, then over seeds."""
    table = np.array(list(limits.values()))
    seeds = table.mean(axis=0)
    mean = float(seeds.mean())
    half = T_95[len(seeds)] * float(seeds.std(ddof=1)) / math.sqrt(len(seeds))
    cells = table.mean(axis=1)
    weakest = int(np.argmin(cells))
    return Score(mean, mean - half, mean + half, list(limits)[weakest], float(cells[weakest]))


def groups(
    limits: Mapping[str, Sequence[float]],
) -> Iterator[tuple[str, dict[str, Sequence[float]]]]:
    """All cells, then those of each world that has some."""
    yield "all", dict(limits)
    for world in FROZEN["worlds"]:
        cells = {name: x for name, x in limits.items() if name.startswith(f"{world} ")}
        if cells:
            yield world, cells


def _beside(before: Cell, cell: Cell) -> bool:
    """Whether two cells differ in their direction only."""
    same = (cell.world, cell.place, cell.duration_s)
    return (before.world, before.place, before.duration_s) == same


def steps_taken(findings: Sequence[Finding]) -> int:
    """Recovered runs at the limits in which the robot stepped."""
    rows = [row for one in findings if one.margin for row in one.margin.rows]
    return sum(bool(row.get("steps")) for row in rows)
