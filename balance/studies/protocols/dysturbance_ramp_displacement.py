"""DYSTURBANCE, quasi-static displacement: a pendulum turns steadily until the robot falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from balance.studies.protocols.dysturbance import DysturbanceConfig
from balance.studies.protocols.dysturbance_ramp_force import Ramp
from balance.studies.protocols.interface import Condition, Finding, Indicators

Rate = Annotated[float, Field(gt=0, le=60)]


class RampDisplacement(Ramp):
    """A pendulum turns steadily against the robot, whatever force that takes, until it falls."""

    measured = "way_m"

    class Config(DysturbanceConfig):
        """Keys of `dysturbance_ramp_displacement`."""

        rates_deg_s: Annotated[tuple[Rate, ...], Field(min_length=1)] = (2.0, 10.0, 60.0)
        """How fast it turns, up to 60 degrees/s [degrees/s]."""

    config: Config

    def conditions(self) -> list[Condition]:
        """One for each side."""
        return self.conditions_at(self.config.rates_deg_s)

    def motion(self, condition: Condition, level: float) -> Mapping[str, Any]:
        """A ramp of angle."""
        return {"type": "ramp_angle", "rate_deg_s": level}

    def report(self, findings: Sequence[Finding]) -> list[Indicators]:
        """The displacement withstood."""
        return self.lines(findings, "rate [deg/s]", "displacement", "m")
