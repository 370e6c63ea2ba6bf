"""YAML schema of the pendulum that hits, shakes or presses the robot: a body of its own."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive, Vector3

GRAVITY = 9.81
"""Of the pendulum, m/s^2."""
AFTER_HIT_S = 0.2  # for a fall that friction delays, and the hit itself


class FallConfig(Strict):
    """The pendulum is let go at rest and falls."""

    type: Literal["fall"]
    """`fall`."""
    energy_J: Positive
    """Its potential energy when it is let go. Example: 10."""


class SineForceConfig(Strict):
    """Its motor gives a torque that would be a force of this kind at the tip."""

    type: Literal["sine_force"]
    """`sine_force`."""
    amplitude_N: Positive
    """Largest force to either side. Example: 50."""
    frequency_hz: Positive
    """Cycles per second. Example: 1.0."""
    cycles: Annotated[int, Field(ge=1, le=100)] = 3
    """How many."""


class SineAngleConfig(Strict):
    """Its motor makes it swing like this, whatever force that takes."""

    type: Literal["sine_angle"]
    """`sine_angle`."""
    amplitude_deg: Positive
    """Largest angle to either side. Example: 2."""
    frequency_hz: Positive
    """Cycles per second. Example: 1.0."""
    cycles: Annotated[int, Field(ge=1, le=100)] = 3
    """How many."""


class RampForceConfig(Strict):
    """Its motor presses harder and harder."""

    type: Literal["ramp_force"]
    """`ramp_force`."""
    rate_N_s: Positive
    """By how much the force at the tip grows in a second [N/s]. Example: 100."""
    largest_N: Positive = 1000.0
    """Force at which it lets go."""


class RampAngleConfig(Strict):
    """Its motor turns it steadily, whatever force that takes."""

    type: Literal["ramp_angle"]
    """`ramp_angle`."""
    rate_deg_s: Positive
    """How fast it turns [degrees/s]. Example: 10."""
    largest_deg: Annotated[float, Field(gt=0, le=90)] = 60.0
    """Angle at which it lets go."""


Motion = Annotated[
    FallConfig | SineForceConfig | SineAngleConfig | RampForceConfig | RampAngleConfig,
    Field(discriminator="type"),
]


class PadConfig(Strict):
    """The pad between the pendulum's tip and the robot: F = k d (1 + a d')."""

    stiffness: Positive = 5e4
    """Force per depth, k [N/m]."""
    damping: NonNegative = 0.05
    """Share by which the force grows with the speed of compression, a [s/m]."""


class PendulumConfig(Strict):
    """A pendulum beside the robot; when it hangs, its tip touches the point of the body."""

    body: str | None = None
    """The body that it touches; the robot's push body if not given."""
    point_m: Vector3 = (0.0, 0.0, 0.0)
    """Where on the body, in its axes."""
    direction: Vector3
    """Level direction, in world axes, in which it pushes [-]. Example: [1, 0, 0]."""
    motion: Motion
    """What it does. Example: {type: fall, energy_J: 10}."""
    time_s: NonNegative = 0.0
    """When it is let go, or its motor begins."""
    length_m: Positive = 1.0
    """From its axis to its tip."""
    mass_kg: NonNegative = 5.0
    """Mass added at its tip."""
    rod_kg_m: NonNegative = 4.13
    """Mass of its rod per length."""
    friction_Nm: NonNegative = 2.29
    """Constant torque of its axis against any motion."""
    attached: bool = False
    """Whether the tip also pulls, as it must to shake; else it can only push."""
    caught: bool = True
    """Whether a falling one is caught where it comes to rest after its hit."""
    pad: PadConfig = PadConfig()
    """What is between tip and robot."""

    @model_validator(mode="after")
    def _possible(self) -> PendulumConfig:
        problems = []
        x, y, z = self.direction
        if z != 0.0 or math.hypot(x, y) == 0.0:
            problems.append(
                f"direction = [{x:g}, {y:g}, {z:g}]: a pendulum pushes along a level direction"
            )
        if self.mass_kg + self.rod_kg_m == 0.0:
            problems.append("mass_kg and rod_kg_m are both 0: the pendulum has no mass")
        elif isinstance(self.motion, FallConfig) and self.motion.energy_J > 2.0 * self.weight_Nm:
            problems.append(
                f"motion.energy_J = {self.motion.energy_J:g}: a pendulum of {self.length_m:g} m "
                f"with {self.mass_kg:g} kg holds at most {2.0 * self.weight_Nm:.4g} J; make it "
                "longer or heavier"
            )
        if problems:
            raise ValueError(*problems)
        return self

    @property
    def weight_Nm(self) -> float:
        """Torque of gravity when it is level: (M + rho L / 2) g L, N m."""
        return (self.mass_kg + 0.5 * self.rod_kg_m * self.length_m) * GRAVITY * self.length_m

    @property
    def inertia(self) -> float:
        """About its axis: M L^2 + rho L^3 / 3, kg m^2."""
        return self.mass_kg * self.length_m**2 + self.rod_kg_m * self.length_m**3 / 3.0

    @property
    def release_rad(self) -> float:
        """Angle from hanging at which a falling one is let go: E = W (1 - cos theta)."""
        assert isinstance(self.motion, FallConfig)
        return math.acos(max(-1.0, 1.0 - self.motion.energy_J / self.weight_Nm))

    @property
    def fall_s(self) -> float:
        """Time of the fall without friction: sqrt(I / W) K(sin(theta / 2)), by Gauss' mean."""
        large, small = 1.0, max(math.cos(0.5 * self.release_rad), 1e-3)
        while large - small > 1e-12:
            large, small = 0.5 * (large + small), math.sqrt(large * small)
        return math.sqrt(self.inertia / self.weight_Nm) * 0.5 * math.pi / large

    @property
    def end_s(self) -> float:
        """When what it does on its own is over; a falling one hits just before."""
        motion = self.motion
        if isinstance(motion, FallConfig):
            return self.time_s + self.fall_s + AFTER_HIT_S
        if isinstance(motion, SineForceConfig | SineAngleConfig):
            return self.time_s + motion.cycles / motion.frequency_hz
        if isinstance(motion, RampForceConfig):
            return self.time_s + motion.largest_N / motion.rate_N_s
        return self.time_s + motion.largest_deg / motion.rate_deg_s
