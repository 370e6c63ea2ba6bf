"""RoboCup's push recovery, our variant: the robot stands, where the league's walks in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, field_validator

from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.studies.protocols.base import checked_body, height_of, scattered
from balance.studies.protocols.dysturbance import Dysturbance
from balance.studies.protocols.indicators import robocup_score, rope_drop
from balance.studies.protocols.interface import (
    Condition,
    Finding,
    Indicators,
    ProtocolConfig,
    fell,
)
from balance.studies.store import Row

Pulled = Annotated[float, Field(gt=0, le=0.75)]
LEVELS = tuple(round(0.05 * i, 2) for i in range(1, 16))
GUESS = 4
BOTTLES_KG = (3.0, 5.0, 10.0)
ENDS = {"front": (-1.0, 0.0, 0.0), "back": (1.0, 0.0, 0.0)}


class RobocupStanding:
    """A bottle on a rope hits a standing robot, three times from the front and from the back."""

    class Config(ProtocolConfig):
        """Keys of `robocup_standing`."""

        bottle_kg: float = 3.0
        """Mass of the bottle: 3, 5 or 10."""
        rope_m: Annotated[float, Field(ge=1.5, le=2)] = 1.5
        """Length of the rope, 1.5 to 2 m."""
        pulled: Annotated[tuple[Pulled, ...], Field(min_length=1)] = LEVELS
        """How far the bottle is pulled back, along the ground, over the rope's length, up to 0.75
        [-]."""
        pushes: Annotated[int, Field(ge=3, le=100)] = 3
        """From each end."""
        body: str | None = None
        """Body that is hit, at the height of the CoM; the robot's push body if not given."""
        seed: Annotated[int, Field(ge=0)] = 0
        """Decides placements and noise."""

        @field_validator("bottle_kg")
        @classmethod
        def _filled(cls, bottle_kg: float) -> float:
            if bottle_kg not in BOTTLES_KG:
                raise ValueError("a bottle has 3, 5 or 10 kg")
            return bottle_kg

    def __init__(self, config: Config, robot: Robot) -> None:
        self.config, self.robot = config, robot
        body = robot.push_body if config.body is None else config.body
        self.body = checked_body(robot, body, "body")
        self.com_m = float(robot.com()[2])
        self.above = self.com_m - height_of(robot, self.body, 0.0)

    def conditions(self) -> list[Condition]:
        """From the front and from the back."""
        levels = tuple(sorted(self.config.pulled))
        return [
            Condition(end, levels, self.config.pushes, {"from": end}, guess=GUESS) for end in ENDS
        ]

    def experiment(self, condition: Condition, level: float, run: int) -> dict[str, Any]:
        """A point mass on a rope that stays taut, without friction."""
        config = self.config
        direction, offset = scattered(config.seed, run, ENDS[condition.facts["from"]])
        drop = rope_drop(config.rope_m, level * config.rope_m)
        return {
            "seed": config.seed + run,
            "pendulum": {
                "body": self.body,
                "point_m": [offset[0], offset[1], offset[2] + self.above],
                "direction": direction,
                "motion": {"type": "fall", "energy_J": config.bottle_kg * 9.81 * drop},
                "time_s": 0.1,
                "length_m": config.rope_m,
                "mass_kg": config.bottle_kg,
                "rod_kg_m": 0.0,
                "friction_Nm": 0.0,
            },
        }

    def passed(self, rows: Sequence[Row]) -> bool:
        """Whether the robot stood after every push."""
        return not any(map(fell, rows))

    @staticmethod
    def measure(recording: Recording) -> dict[str, Any]:
        """What a pendulum's hit came to."""
        return Dysturbance.measure(recording)

    def report(self, findings: Sequence[Finding]) -> list[Indicators]:
        """The score M from each end, and of the robot: the smaller of the two."""
        config, lines, scores = self.config, list[Indicators](), []
        for finding in findings:
            at = finding.margin
            score = 0.0
            if at is not None:
                drop = rope_drop(config.rope_m, at.value * config.rope_m)
                score = robocup_score(
                    drop, config.bottle_kg, self.com_m, self.com_m, self.robot.mass
                )
            scores.append(score)
            lines.append(
                {
                    **finding.condition.facts,
                    "bottle [kg]": config.bottle_kg,
                    "rope [m]": config.rope_m,
                    "pulled back [m]": None if at is None else at.value * config.rope_m,
                    "score M": score,
                    "runs": sum(len(one.rows) for one in finding.levels),
                }
            )
        lines.append({"from": "both", "score M": min(scores)})
        return lines
