"""YAML schema of the drives."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive

PerJoint = NonNegative | dict[str, NonNegative]
"""One number for all joints, or numbers by joint name and zero for the rest."""


class SpeedTorqueConfig(Strict):
    """The largest torque falls linearly with speed, from full to none.

    Speeds are fractions of the joint's rated speed in the URDF.  Braking torque is not affected.
    """

    full_until: NonNegative = 0.5
    none_from: Positive = 1.0

    @model_validator(mode="after")
    def _ordered(self) -> SpeedTorqueConfig:
        if self.full_until >= self.none_from:
            raise ValueError(
                f"full_until = {self.full_until:g} must be below none_from = {self.none_from:g}"
            )
        return self


class ActuatorsConfig(Strict):
    """How torques differ from what the law commands; all off by default.

    ``lag_s`` is the time constant of a first-order lag, ``coulomb_Nm`` dry friction,
    ``rotor_inertia`` reflected inertia in kg m^2, ``resolution_Nm`` the step of the command, and
    ``dropped_share`` the probability that the command of a control period does not arrive, so that
    the one before stays.  Torque limits and viscous friction belong to ``plant``.
    """

    lag_s: NonNegative = 0.0
    speed_torque: SpeedTorqueConfig | None = None
    coulomb_Nm: PerJoint = 0.0
    rotor_inertia: PerJoint = 0.0
    resolution_Nm: NonNegative = 0.0
    dropped_share: Annotated[float, Field(ge=0, lt=1)] = 0.0
