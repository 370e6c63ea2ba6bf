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
    """`ramp`."""
    start_s: NonNegative
    """When the move begins."""
    duration_s: Positive
    """How long it takes."""
    translation_m: Vector3 = (0.0, 0.0, 0.0)
    """How far the ground moves, in world axes."""
    tilt_deg: Tilt = (0.0, 0.0)
    """How far it turns about x (left side up) and y (front down)."""


class SwingConfig(Strict):
    """Whole cycles of a cosine, from rest to the full move and back to rest."""

    type: Literal["swing"]
    """`swing`."""
    start_s: NonNegative
    """When the moves begin."""
    frequency_hz: Positive
    """Cycles in a second."""
    cycles: Annotated[int, Field(ge=1)] = 1
    """How many cycles."""
    translation_m: Vector3 = (0.0, 0.0, 0.0)
    """How far the ground moves, in world axes."""
    tilt_deg: Tilt = (0.0, 0.0)
    """How far it turns about x (left side up) and y (front down)."""


Motion = Annotated[RampConfig | SwingConfig, Field(discriminator="type")]


class GroundConfig(Strict):
    """The true ground, of which the law knows nothing.

    Surfaces with a plane of their own in ``stance`` are not on the ground. Soft ground is
    ``plant.contact: soft``.
    """

    tilt_deg: Tilt = (0.0, 0.0)
    """How far it is turned about the origin: about x (left side up) and y (front down)."""
    heights_m: dict[str, float] = Field(default_factory=dict)
    """How much the ground is raised under single soles, by their names."""
    motion: tuple[Motion, ...] = ()
    """Moves of the ground over time."""

    @model_validator(mode="after")
    def _says_something(self) -> GroundConfig:
        if not any(self.tilt_deg) and not self.heights_m and not self.motion:
            raise ValueError("it changes nothing; give tilt_deg, heights_m or motion")
        return self
