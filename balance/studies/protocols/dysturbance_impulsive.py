"""DYSTURBANCE, impulsive: a pendulum falls against the robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from balance.config.pendulum import FallConfig, PendulumConfig
from balance.errors import ConfigError
from balance.robots import Robot
from balance.studies.protocols.base import SIDES
from balance.studies.protocols.dysturbance import Dysturbance, LadderConfig, mean_of, over
from balance.studies.protocols.indicators import absorbed
from balance.studies.protocols.interface import Condition, Finding, Indicators

Energy = Annotated[float, Field(gt=0, le=200)]
LEVELS_J = (
    0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 21, 25, 30, 35, 40, 50, 60, 70, 80, 100, 120,
    150, 200,
)  # fmt: skip
GUESS_J_KG = 0.15  # of the robot's mass: about what ankles alone can catch


class Impulsive(Dysturbance):
    """A pendulum falls against the robot with rising energy."""

    class Config(LadderConfig):
        """Keys of `dysturbance_impulsive`."""

        levels_J: Annotated[tuple[Energy, ...], Field(min_length=1)] = LEVELS_J
        """Energies, from 0 to 200 J, in rising order; those that the pendulum cannot hold when let
        go below level are left out."""

    config: Config

    def __init__(self, config: Config, robot: Robot) -> None:
        super().__init__(config, robot)
        weight = PendulumConfig(
            direction=SIDES["frontal"],
            motion=FallConfig(type="fall", energy_J=1e-3),
            length_m=self.length,
            mass_kg=config.added_kg,
        ).weight_Nm
        self.levels = tuple(sorted(x for x in config.levels_J if x <= weight))
        if not self.levels:
            raise ConfigError(
                f"'levels_J': a pendulum of {self.length:g} m with {config.added_kg:g} kg holds "
                f"{weight:.4g} J at most, and all levels are above; give lower ones"
            )

    def conditions(self) -> list[Condition]:
        """One for each side."""
        guess = max(sum(x <= GUESS_J_KG * self.robot.mass for x in self.levels) - 1, 0)
        runs, stop = self.config.runs, self.config.stop_failed
        return [
            Condition(side, self.levels, runs, {"side": side}, guess=guess, stop_failed=stop)
            for side in self.config.sides
        ]

    def motion(self, condition: Condition, level: float) -> Mapping[str, Any]:
        """It falls."""
        return {"type": "fall", "energy_J": level}

    def report(self, findings: Sequence[Finding]) -> list[Indicators]:
        """Peak force, impulse and absorbed energy of the hardest hit withstood, by side."""
        lines = []
        for finding in findings:
            at, factor = finding.margin, self.factors(finding.condition.facts["side"])
            line = self.line(finding)
            force = mean_of(at, "peak_force_N")
            line |= {
                "energy [J]": None if at is None else at.value,
                "energy, human [J]": over(None if at is None else at.value, factor.energy),
                "peak force [N]": force,
                "peak force, human [N]": over(force, factor.force),
                "impulse [N s]": mean_of(at, "impulse_Ns"),
                "absorbed [J]": None,
                "absorbed, human [J]": None,
                "absorbed share": None,
                "of it in the pad [J]": mean_of(at, "pad_J"),
            }
            back, friction = mean_of(at, "return_J"), mean_of(at, "friction_J")
            if at is not None and back is not None and friction is not None:
                taken, share = absorbed(at.value, back, friction)
                line["absorbed [J]"], line["absorbed share"] = taken, share
                line["absorbed, human [J]"] = taken / factor.energy
            lines.append(line)
        return lines + self.over_conditions(findings)
