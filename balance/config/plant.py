"""YAML schema of the simulated robot and ground."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive


class SoftConfig(Strict):
    """Spring and damper at each corner of a soft contact: N/m and N s/m."""

    stiffness: Positive = 2e5
    damping: Positive = 1e3


class PlantConfig(Strict):
    """The simulated robot and ground.

    ``engine`` is its name in the registry; ``joint_damping`` is viscous joint friction in
    N m s/rad, one number or one per joint name.  ``collisions`` says what bodies touch besides the
    soles: nothing, the ground and other planes, or these and each other.  With ``bookkeeping``
    momentum and energy are counted in every step; a run whose books do not balance is aborted.
    """

    engine: str = "pinocchio"
    step_s: Annotated[float, Field(gt=0, le=0.01)] = 0.001
    friction: Positive = 0.8
    joint_damping: NonNegative | dict[str, NonNegative] = 0.0
    contact: Literal["hard", "soft", "welded"] = "hard"
    soft: SoftConfig = SoftConfig()
    contact_tolerance: Annotated[float, Field(gt=0, le=1e-4)] = 1e-9
    collisions: Literal["none", "ground", "all"] = "all"
    torque_limits: bool = True
    bookkeeping: bool = False

    @model_validator(mode="after")
    def _has_books(self) -> PlantConfig:
        if self.bookkeeping and self.engine != "pinocchio":
            raise ValueError(f"bookkeeping needs engine: pinocchio; engine is {self.engine}")
        return self
