"""DYSTURBANCE, quasi-static force: a pendulum presses harder and harder until the robot falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from balance.studies.protocols.dysturbance import Dysturbance, DysturbanceConfig, over
from balance.studies.protocols.interface import Condition, Finding, Indicators, fell
from balance.studies.workers import INDICATOR

Rate = Annotated[float, Field(gt=0, le=300)]


class Ramp(Dysturbance):
    """What both quasi-static tests share: every rate is run, and each run ends with the fall."""

    measured = ""

    def conditions_at(self, rates: tuple[float, ...]) -> list[Condition]:
        """One for each side; its levels are the rates."""
        return [
            Condition(side, tuple(sorted(rates)), self.config.runs, {"side": side}, search=False)
            for side in self.config.sides
        ]

    def lines(
        self, findings: Sequence[Finding], rate: str, name: str, unit: str
    ) -> list[Indicators]:
        """What was withstood before the fall began, by side and rate, and the least of all."""
        found: list[Indicators] = []
        least: list[float] = []
        for finding in findings:
            side = finding.condition.facts["side"]
            factor = self.factors(side)
            scale = factor.force if unit == "N" else factor.displacement
            for level in finding.levels:
                rows = [row for row in level.rows if f"{INDICATOR}{self.measured}" in row]
                values = [float(row[f"{INDICATOR}{self.measured}"]) for row in rows]
                mean = sum(values) / len(values) if values else None
                line: Indicators = {
                    "side": side,
                    rate: level.value,
                    f"{name} [{unit}]": mean,
                    f"{name}, human [{unit}]": over(mean, scale),
                    f"least [{unit}]": min(values, default=None),
                    "falls": sum(map(fell, level.rows)),
                    "runs": len(level.rows),
                }
                found.append(line)
                least += values
        if len(found) > 1 and least:
            found.append({"side": "all", f"least [{unit}]": min(least)})
        return found


class RampForce(Ramp):
    """A pendulum presses with a force that grows steadily, until the robot falls."""

    measured = "steady_force_N"

    class Config(DysturbanceConfig):
        """Keys of `dysturbance_ramp_force`."""

        rates_N_s: Annotated[tuple[Rate, ...], Field(min_length=1)] = (30.0, 100.0, 300.0)
        """By how much the force grows in a second, up to 300 N/s [N/s]."""

    config: Config

    def conditions(self) -> list[Condition]:
        """One for each side."""
        return self.conditions_at(self.config.rates_N_s)

    def motion(self, condition: Condition, level: float) -> Mapping[str, Any]:
        """A ramp of force."""
        return {"type": "ramp_force", "rate_N_s": level}

    def report(self, findings: Sequence[Finding]) -> list[Indicators]:
        """The force withstood."""
        return self.lines(findings, "rate [N/s]", "force", "N")
