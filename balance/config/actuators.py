"""YAML schema of the drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive

PerJoint = NonNegative | dict[str, NonNegative]
"""One number for all joints, or numbers by joint name and zero for the rest."""


class SpeedTorqueConfig(Strict):
    """The largest torque that drives a joint falls linearly with its speed, from full to none.

    Speeds are fractions of the joint's rated speed.  Braking torque is not affected.
    """

    full_until: NonNegative = 1.0
    none_from: Positive = 1.2

    @model_validator(mode="after")
    def _ordered(self) -> SpeedTorqueConfig:
        if self.full_until >= self.none_from:
            raise ValueError(
                f"full_until = {self.full_until:g} must be below none_from = {self.none_from:g}"
            )
        return self


def _none_in_words(value: Any) -> Any:
    # Whatever is None is left out of a result's config, and would come back as the default.
    if value is None or value == "none":
        return "none"
    if not isinstance(value, Mapping | SpeedTorqueConfig):
        raise ValueError("it must be a mapping of full_until and none_from, or none")
    return value


SpeedTorque = Annotated[SpeedTorqueConfig | Literal["none"], BeforeValidator(_none_in_words)]
"""A curve, or ``none`` (also ``null``): full torque at any speed."""


class ActuatorsConfig(Strict):
    """How torques differ from what the law commands; all but ``speed_torque`` is off by default.

    ``lag_s`` is the time constant of a first-order lag, ``coulomb_Nm`` dry friction,
    ``rotor_inertia`` reflected inertia in kg m^2, ``resolution_Nm`` the step of the command, and
    ``dropped_share`` the probability that the command of a control period does not arrive, so that
    the one before stays.  Torque limits and viscous friction belong to ``plant``.
    """

    lag_s: NonNegative = 0.0
    speed_torque: SpeedTorque = SpeedTorqueConfig()
    coulomb_Nm: PerJoint = 0.0
    rotor_inertia: PerJoint = 0.0
    resolution_Nm: NonNegative = 0.0
    dropped_share: Annotated[float, Field(ge=0, lt=1)] = 0.0

    @property
    def exact_at_low_speed(self) -> bool:
        """Whether a slow joint gets the torque that the law commands."""
        return self.model_copy(update={"speed_torque": "none"}) == PERFECT_DRIVES


def _left_out(value: Any) -> Any:
    return {} if value is None else value


Actuators = Annotated[ActuatorsConfig, BeforeValidator(_left_out)]
"""The section of an experiment; ``null`` is as good as leaving it out."""

PERFECT_DRIVES = ActuatorsConfig(speed_torque="none")
"""What the law commands, at any speed."""
