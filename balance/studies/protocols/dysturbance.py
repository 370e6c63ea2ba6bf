"""What the five tests of the EUROBENCH testbed DYSTURBANCE share: its pendulum beside the robot.

Facts of the testbed are from its protocol's description and Monteleone et al. 2022: a rod of
4.13 kg/m of 0.5, 1 or 1.2 m, 1 to 5 kg added at its tip, an axis 1.2 to 2 m above the ground, at
least 10 runs for each condition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from balance.errors import ConfigError
from balance.recordings.judging import judge
from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.studies.protocols.base import (
    SIDES,
    checked_body,
    half_base,
    height_of,
    scattered,
)
from balance.studies.protocols.indicators import Factors, factors
from balance.studies.protocols.interface import (
    Condition,
    Finding,
    Indicators,
    Level,
    ProtocolConfig,
    fell,
    few_falls,
)
from balance.studies.store import Row
from balance.studies.workers import INDICATOR

LENGTHS_M = (1.2, 1.0, 0.5)
LOWEST_AXIS_M, HIGHEST_AXIS_M = 1.2, 2.0
START_S = 0.1
STEADY_S = 0.1  # for which a force must act to count as one that presses

Array = NDArray[np.float64]
Side = Literal["frontal", "lateral"]


class DysturbanceConfig(ProtocolConfig):
    """Keys that the five tests share."""

    sides: Annotated[tuple[Side, ...], Field(min_length=1)] = ("frontal", "lateral")
    """Directions: frontal pushes forwards, lateral to the left."""
    runs: Annotated[int, Field(ge=10, le=1000)] = 10
    """Of each level."""
    body: str | None = None
    """The body that the pendulum touches; the robot's push body if not given."""
    added_kg: Annotated[float, Field(ge=1, le=5)] = 5.0
    """Mass added at the pendulum's tip."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Decides placements and noise."""


class LadderConfig(DysturbanceConfig):
    """Keys of the three tests that search for the largest level withstood."""

    stop_failed: bool = False
    """Whether a level ends with the fall after which it has failed, whatever its other runs would
    give; what is withstood stays the same."""


class Dysturbance:
    """One of the tests; what varies is a subclass's."""

    Config: type[DysturbanceConfig] = DysturbanceConfig
    attached = False

    def __init__(self, config: DysturbanceConfig, robot: Robot) -> None:
        self.config, self.robot = config, robot
        body = robot.push_body if config.body is None else config.body
        self.body = checked_body(robot, body, "body")
        self.height = height_of(robot, self.body, 0.0)
        fitting = [x for x in LENGTHS_M if LOWEST_AXIS_M <= self.height + x <= HIGHEST_AXIS_M]
        if not fitting:
            raise ConfigError(
                f"'body' = '{self.body}': robot '{robot.name}' has it {self.height:.2f} m above "
                f"the ground, where no pendulum of {', '.join(f'{x:g}' for x in LENGTHS_M)} m hits "
                f"from an axis {LOWEST_AXIS_M:g} to {HIGHEST_AXIS_M:g} m high"
            )
        self.length = fitting[0]

    def factors(self, side: str) -> Factors:
        """What makes figures of this robot count as a human's."""
        robot = self.robot
        return factors(robot.mass, half_base(robot, side), float(robot.com()[2]), side)

    def motion(self, condition: Condition, level: float) -> Mapping[str, Any]:
        """What the pendulum does."""
        raise NotImplementedError

    def experiment(self, condition: Condition, level: float, run: int) -> dict[str, Any]:
        """The pendulum beside the robot, placed a little differently for each run."""
        direction, offset = scattered(self.config.seed, run, SIDES[condition.facts["side"]])
        return {
            "seed": self.config.seed + run,
            "pendulum": {
                "body": self.body,
                "point_m": offset,
                "direction": direction,
                "motion": dict(self.motion(condition, level)),
                "time_s": START_S,
                "length_m": self.length,
                "mass_kg": self.config.added_kg,
                "attached": self.attached,
            },
        }

    def passed(self, rows: Sequence[Row]) -> bool:
        """Whether fewer than 30 % fell."""
        return few_falls(rows)

    def line(self, finding: Finding) -> Indicators:
        """What a line of a report begins with."""
        at, failed = finding.margin, finding.failed
        return {
            **finding.condition.facts,
            "largest level withstood": None if at is None else at.value,
            "smallest level failed": None if failed is None else failed.value,
            "falls there": None if failed is None else sum(map(fell, failed.rows)),
            "runs": sum(len(one.rows) for one in finding.levels),
        }

    def over_conditions(self, findings: Sequence[Finding]) -> list[Indicators]:
        """The last line of a report on several conditions: the smallest level that any failed."""
        failed = [one.failed.value for one in findings if one.failed is not None]
        if len(findings) < 2 or not failed:
            return []
        return [{"side": "all", "smallest level failed": min(failed)}]

    @staticmethod
    def measure(recording: Recording) -> dict[str, Any]:
        """Largest force, its impulse and way until the robot began to fall, and the energies."""
        history = recording.pendulum
        assert history is not None
        until = withstood_until(recording)
        kept = history.time < until
        dt = recording.config.plant.step_s
        return {
            "peak_force_N": float(np.max(history.force, where=kept, initial=0.0)),
            "steady_force_N": largest_mean(history.force[kept], round(STEADY_S / dt)),
            "impulse_Ns": float(history.force[kept].sum() * dt),
            "way_m": float(np.max(history.way, where=kept, initial=0.0)),
            "robot_work_J": history.work_J,
            "pad_J": history.pad_loss_J,
            "friction_J": history.friction_J,
            "return_J": history.left_J if history.return_J is None else history.return_J,
        }


def largest_mean(values: Array, count: int) -> float:
    """Largest mean of so many values in a row; 0 of fewer."""
    if values.size < count:
        return 0.0
    sums = np.cumsum(np.concatenate([[0.0], values]))
    return float((sums[count:] - sums[:-count]).max() / count)


def withstood_until(recording: Recording) -> float:
    """When a robot began to fall, s; infinity if it stands."""
    verdict = judge(recording)
    if verdict.outcome not in ("fell", "aborted"):
        return math.inf
    when = verdict.began_s if verdict.began_s is not None else verdict.time_s
    return math.inf if when is None else when


def mean_of(level: Level | None, name: str) -> float | None:
    """Mean over the runs of a level that did not fall; None if there are none."""
    if level is None:
        return None
    values = [row.get(f"{INDICATOR}{name}") for row in level.rows if not fell(row)]
    known = [value for value in values if value is not None and math.isfinite(value)]
    return float(np.mean(known)) if known else None


def over(value: float | None, factor: float) -> float | None:
    """A figure as a human's."""
    return None if value is None else value / factor
