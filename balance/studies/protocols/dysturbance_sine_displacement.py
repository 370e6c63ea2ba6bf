"""DYSTURBANCE, sinusoidal displacement: a pendulum fixed to the robot takes it along."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from balance.studies.protocols.dysturbance_sine_force import Sine, SineConfig
from balance.studies.protocols.interface import Condition

Angle = Annotated[float, Field(gt=0, le=30)]
LEVELS_DEG = (
    0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 10.0,
    12.0, 15.0, 20.0, 25.0, 30.0,
)  # fmt: skip
GUESS_SHARE = 0.1  # of the CoM's height; rather too much: a level that fails takes few runs


class SineDisplacement(Sine):
    """A pendulum fixed to the robot swings with rising amplitude, whatever force that takes."""

    class Config(SineConfig):
        """Keys of `dysturbance_sine_displacement`."""

        levels_deg: Annotated[tuple[Angle, ...], Field(min_length=1)] = LEVELS_DEG
        """Amplitudes of the pendulum's angle, up to 30 degrees."""

    config: Config

    def conditions(self) -> list[Condition]:
        """One for each side and frequency."""
        way = GUESS_SHARE * float(self.robot.com()[2])
        return self.conditions_at(self.config.levels_deg, math.degrees(way / self.length))

    def motion(self, condition: Condition, level: float) -> Mapping[str, Any]:
        """A sine of angle."""
        return {
            "type": "sine_angle",
            "amplitude_deg": level,
            "frequency_hz": condition.facts["frequency [Hz]"],
            "cycles": self.config.cycles,
        }
