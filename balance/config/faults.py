"""YAML schema of what breaks during a run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from balance.config.schema import Strict
from balance.config.values import NonNegative, Positive


class SensorDropoutConfig(Strict):
    """The law gets no measurement (NaN) for a while."""

    type: Literal["sensor_dropout"]
    time_s: NonNegative
    duration_s: Positive


class WeakJointConfig(Strict):
    """A drive gives no more than ``torque_Nm``; the law does not know."""

    type: Literal["weak_joint"]
    joint: str
    torque_Nm: NonNegative
    time_s: NonNegative = 0.0


class LockedJointConfig(Strict):
    """A joint sticks where it is; the law does not know."""

    type: Literal["locked_joint"]
    joint: str
    time_s: NonNegative = 0.0


class SlipperyConfig(Strict):
    """The ground under one surface gets another friction coefficient; the law does not know."""

    type: Literal["slippery"]
    surface: str
    friction: Positive
    time_s: NonNegative = 0.0


Fault = Annotated[
    SensorDropoutConfig | WeakJointConfig | LockedJointConfig | SlipperyConfig,
    Field(discriminator="type"),
]
