"""YAML schema of ground that is not the level, resting floor that the law expects."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive, Vector3

MAX_TILT_DEG = 45.0

Tilt = Annotated[
    tuple[
        Annotated[float, Field(ge=-MAX_TILT_DEG, le=MAX_TILT_DEG)],
        Annotated[float, Field(ge=-MAX_TILT_DEG, le=MAX_TILT_DEG)],
    ],
    Field(),
]
"""Angles in degrees about the world's x axis (left side up) and y axis (front down)."""


class RampConfig(Strict):
    """Half a cycle of a cosine, from rest to the full move, which stays."""

    type: Literal["ramp"]
    start_s: NonNegative
    duration_s: Positive
    translation_m: Vector3 = (0.0, 0.0, 0.0)
    tilt_deg: Tilt = (0.0, 0.0)


class SwingConfig(Strict):
    """Whole cycles of a cosine, from rest to the full move and back to rest."""

    type: Literal["swing"]
    start_s: NonNegative
    frequency_hz: Positive
    cycles: Annotated[int, Field(ge=1)] = 1
    translation_m: Vector3 = (0.0, 0.0, 0.0)
    tilt_deg: Tilt = (0.0, 0.0)


Motion = Annotated[RampConfig | SwingConfig, Field(discriminator="type")]


class GroundConfig(Strict):
    """The true ground, of which the law knows nothing.

    ``tilt_deg`` turns it about the origin; ``heights_m`` raises the ground under single soles;
    ``motion`` adds moves as functions of time.  Surfaces with a plane of their own in ``stance``
    are not on the ground.  Soft ground is ``plant.contact: soft``.
    """

    tilt_deg: Tilt = (0.0, 0.0)
    heights_m: dict[str, float] = Field(default_factory=dict)
    motion: tuple[Motion, ...] = ()

    @model_validator(mode="after")
    def _says_something(self) -> GroundConfig:
        if not any(self.tilt_deg) and not self.heights_m and not self.motion:
            raise ValueError("it changes nothing; give tilt_deg, heights_m or motion")
        return self
