"""The numbers that a page can set: their bounds, steps and first values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from balance.errors import InputError


@dataclass(frozen=True)
class Range:
    """A slider: bounds, step and first value."""

    low: float
    high: float
    step: float
    first: float
    label: str
    hint: str = ""

    def clamp(self, value: object) -> float:
        """``value`` inside the bounds; what is no number at all is an error."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{self.label} = {value!r}: a number is needed")
        if not math.isfinite(value):
            raise InputError(f"{self.label} = {value!r}: a finite number is needed")
        return min(max(float(value), self.low), self.high)


RANGES: dict[str, Range] = {
    "impulse": Range(0.5, 60.0, 0.5, 12.0, "Impulse [N s]", "Force times time of a push."),
    "duration": Range(1.0, 500.0, 1.0, 60.0, "Duration [ms]", "The force is half a sine."),
    "angle": Range(-180.0, 180.0, 5.0, 90.0, "Direction [°]", "0 forwards, 90 to the left."),
    "mass": Range(0.5, 20.0, 0.5, 5.0, "Pendulum mass [kg]"),
    "energy": Range(0.5, 60.0, 0.1, 17.4, "Energy [J]", "Kinetic energy before the hit."),
    "restitution": Range(0.0, 1.0, 0.05, 0.3, "Restitution"),
    "gust_impulse": Range(0.5, 20.0, 0.5, 4.0, "Gust, mean impulse [N s]"),
    "gust_pause": Range(0.2, 5.0, 0.1, 1.0, "Pause between gusts, mean [s]"),
    "speed": Range(0.05, 1.0, 0.05, 1.0, "Speed", "Simulated seconds in one second."),
    "friction": Range(0.05, 1.5, 0.05, 0.8, "Friction of the ground", "Coulomb coefficient."),
    "mass_error": Range(-30.0, 30.0, 1.0, 0.0, "Mass error [%]", "Robot against its model."),
    "delay": Range(0.0, 20.0, 0.5, 0.0, "Sensor delay [ms]"),
    "noise": Range(0.0, 10.0, 0.5, 0.0, "Sensor noise", "1 is that of good industrial sensors."),
}

WORLD = ("friction", "mass_error", "delay", "noise")
"""Those that begin a new session."""
