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
    """Speed up to which the torque is full, over the rated speed [-]."""
    none_from: Positive = 1.2
    """Speed from which there is none, over the rated speed [-]."""

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

    Torque limits and viscous friction belong to ``plant``.
    """

    lag_s: NonNegative = 0.0
    """Time constant of a first-order lag of the torque."""
    speed_torque: SpeedTorque = SpeedTorqueConfig()
    """How the largest torque falls with the joint's speed; `none`: full torque at any speed."""
    coulomb_Nm: PerJoint = 0.0
    """Dry friction: one number, or one for each joint that is named."""
    rotor_inertia: PerJoint = 0.0
    """Reflected inertia of the rotors [kg m^2]: one number, or one for each joint that is named."""
    resolution_Nm: NonNegative = 0.0
    """Step in which torques can be commanded."""
    dropped_share: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Probability that a command is lost, so that the one before stays [-]."""

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
