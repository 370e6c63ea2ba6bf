"""YAML schema of what breaks during a run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive


class SensorDropoutConfig(Strict):
    """The law gets no measurement (NaN) for a while."""

    type: Literal["sensor_dropout"]
    """`sensor_dropout`."""
    time_s: NonNegative
    """When it begins."""
    duration_s: Positive
    """How long it lasts."""


class WeakJointConfig(Strict):
    """A drive gives no more than ``torque_Nm``; the law does not know."""

    type: Literal["weak_joint"]
    """`weak_joint`."""
    joint: str
    """Name of the joint."""
    torque_Nm: NonNegative
    """The most that its drive still gives."""
    time_s: NonNegative = 0.0
    """When it begins."""


class LockedJointConfig(Strict):
    """A joint sticks where it is; the law does not know."""

    type: Literal["locked_joint"]
    """`locked_joint`."""
    joint: str
    """Name of the joint."""
    time_s: NonNegative = 0.0
    """When it begins."""


class SlipperyConfig(Strict):
    """The ground under one surface gets another friction coefficient; the law does not know."""

    type: Literal["slippery"]
    """`slippery`."""
    surface: str
    """Name of the contact surface."""
    friction: Positive
    """The new coefficient [-]."""
    time_s: NonNegative = 0.0
    """When it begins."""


Fault = Annotated[
    SensorDropoutConfig | WeakJointConfig | LockedJointConfig | SlipperyConfig,
    Field(discriminator="type"),
]
