"""YAML schema of the simulated robot and ground."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive


class SoftConfig(Strict):
    """Spring and damper at each corner of a soft contact."""

    stiffness: Positive = 2e5
    """Of the spring [N/m]."""
    damping: Positive = 1e3
    """Of the damper [N s/m]."""


class PlantConfig(Strict):
    """The simulated robot and ground."""

    engine: str = "pinocchio"
    """Name of the physics engine: pinocchio, mujoco, or FILE.py:NAME for your own."""
    step_s: Annotated[float, Field(gt=0, le=0.01)] = 0.001
    """Length of a simulation step."""
    friction: Positive = 0.8
    """Coulomb friction coefficient of every contact with the ground [-]."""
    joint_damping: NonNegative | dict[str, NonNegative] = 0.0
    """Viscous friction of the joints [N m s/rad]: one number, or one for each joint named."""
    contact: Literal["hard", "soft", "welded"] = "hard"
    """How soles touch: rigid with Coulomb friction, by springs and dampers, or welded to the
    ground."""
    soft: SoftConfig = SoftConfig()
    """Springs and dampers of `contact: soft`."""
    contact_tolerance: Annotated[float, Field(gt=0, le=1e-4)] = 1e-9
    """Accuracy to which the contact problem of a step is solved [-]."""
    collisions: Literal["none", "ground", "all"] = "all"
    """What bodies touch besides the soles: nothing, the ground and other planes, or these and each
    other."""
    torque_limits: bool = True
    """Whether the drives cut torques at the limits of the URDF."""
    bookkeeping: bool = False
    """Count momentum and energy in every step, and abort a run whose books do not balance."""

    @model_validator(mode="after")
    def _has_books(self) -> PlantConfig:
        if self.bookkeeping and self.engine != "pinocchio":
            raise ValueError(f"bookkeeping needs engine: pinocchio; engine is {self.engine}")
        return self
