"""DYSTURBANCE, sinusoidal force: a pendulum that is fixed to the robot shakes it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from balance.recordings.recording import Recording
from balance.studies.protocols.dysturbance import (
    Dysturbance,
    LadderConfig,
    mean_of,
    over,
)
from balance.studies.protocols.indicators import (
    Response,
    half_peak_to_peak,
    impedance,
    response,
)
from balance.studies.protocols.interface import Condition, Finding, Indicators

Frequency = Annotated[float, Field(gt=0, le=2)]
Force = Annotated[float, Field(gt=0, le=600)]
LEVELS_N = (
    2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80, 90, 100, 120, 140, 160, 180, 200,
    250, 300, 400, 500, 600,
)  # fmt: skip
GUESS_N_KG = 1.5  # of the robot's mass


class SineConfig(LadderConfig):
    """Keys of both sinusoidal tests."""

    frequencies_hz: Annotated[tuple[Frequency, ...], Field(min_length=1)] = (0.5, 1.0, 2.0)
    """Each is a condition of its own, up to 2 Hz."""
    cycles: Annotated[int, Field(ge=2, le=100)] = 3
    """Of a run; the second one is measured."""


class Sine(Dysturbance):
    """What both sinusoidal tests share."""

    attached = True
    config: SineConfig

    def conditions_at(self, levels: tuple[float, ...], guess: float) -> list[Condition]:
        """One for each side and frequency."""
        levels = tuple(sorted(levels))
        first = max(sum(x <= guess for x in levels) - 1, 0)
        return [
            Condition(
                f"{side}, {frequency:g} Hz",
                levels,
                self.config.runs,
                {"side": side, "frequency [Hz]": frequency},
                guess=first,
                stop_failed=self.config.stop_failed,
            )
            for side in self.config.sides
            for frequency in self.config.frequencies_hz
        ]

    @staticmethod
    def measure(recording: Recording) -> dict[str, Any]:
        """Amplitudes in the second cycle and the robot's response; nothing if it fell before."""
        found = Dysturbance.measure(recording)
        history = recording.pendulum
        assert history is not None
        motion = history.config.motion
        frequency = float(motion.frequency_hz)  # type: ignore[union-attr]
        begin = history.config.time_s + 1.0 / frequency
        rows = (history.time >= begin) & (history.time < begin + 1.0 / frequency)
        end = float(history.time[-1]) if history.time.size else 0.0
        if end < begin + 1.0 / frequency:
            return found
        way, force = history.way[rows], history.force[rows]
        answer = response(way, force, recording.config.plant.step_s, frequency)
        return found | {
            "force_amplitude_N": half_peak_to_peak(force),
            "way_amplitude_m": half_peak_to_peak(way),
            "stiffness_N_m": answer.stiffness,
            "damping_Ns_m": answer.damping,
        }

    def report(self, findings: Sequence[Finding]) -> list[Indicators]:
        """Amplitudes withstood by frequency, and the equivalent impedance of each side."""
        lines = []
        for finding in findings:
            at, side = finding.margin, finding.condition.facts["side"]
            factor = self.factors(side)
            force, way = mean_of(at, "force_amplitude_N"), mean_of(at, "way_amplitude_m")
            line = self.line(finding)
            line |= {
                "force amplitude [N]": force,
                "force amplitude, human [N]": over(force, factor.force),
                "displacement amplitude [m]": way,
                "displacement amplitude, human [m]": over(way, factor.displacement),
                "dynamic stiffness K - I w2 [N/m]": mean_of(at, "stiffness_N_m"),
                "damping D [N s/m]": mean_of(at, "damping_Ns_m"),
            }
            inertia, _, stiffness = impedance(self._responses(findings, side))
            line |= {"inertia I [kg]": inertia, "stiffness K [N/m]": stiffness}
            lines.append(line)
        return lines + self.over_conditions(findings)

    def _responses(self, findings: Sequence[Finding], side: str) -> list[Response]:
        """Of all frequencies of a side at which some level was withstood."""
        found = []
        for finding in findings:
            stiffness = mean_of(finding.margin, "stiffness_N_m")
            damping = mean_of(finding.margin, "damping_Ns_m")
            if finding.condition.facts["side"] == side and stiffness and damping is not None:
                omega = 2.0 * math.pi * finding.condition.facts["frequency [Hz]"]
                found.append(Response(omega, stiffness, damping))
        return found


class SineForce(Sine):
    """A pendulum fixed to the robot shakes it with a sinusoidal force of rising amplitude."""

    class Config(SineConfig):
        """Keys of `dysturbance_sine_force`."""

        levels_N: Annotated[tuple[Force, ...], Field(min_length=1)] = LEVELS_N
        """Amplitudes, up to 600 N."""

    config: Config

    def conditions(self) -> list[Condition]:
        """One for each side and frequency."""
        return self.conditions_at(self.config.levels_N, GUESS_N_KG * self.robot.mass)

    def motion(self, condition: Condition, level: float) -> Mapping[str, Any]:
        """A sine of force."""
        return {
            "type": "sine_force",
            "amplitude_N": level,
            "frequency_hz": condition.facts["frequency [Hz]"],
            "cycles": self.config.cycles,
        }
