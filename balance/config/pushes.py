"""YAML schema of the pushes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from balance.config.schema import Strict
from balance.config.values import Direction, NonNegative, Positive, Vector3


class PushBase(Strict):
    """Where and when a push acts: on ``body`` at ``point_m`` of its frame, from ``time_s`` on."""

    body: str | None = None
    point_m: Vector3 = (0.0, 0.0, 0.0)
    direction: Direction
    axes: Literal["world", "body"] = "world"
    time_s: NonNegative


class ForcePush(PushBase):
    """A constant force for a while."""

    type: Literal["force"]
    force_N: Positive
    duration_s: Positive


class HalfSinePush(PushBase):
    """A force that rises and falls as half a sine and adds up to ``impulse_Ns``."""

    type: Literal["half_sine"]
    impulse_Ns: Positive
    duration_s: Positive


class ImpulsePush(PushBase):
    """An impulse: within one simulation step, or spread evenly over ``duration_s``."""

    type: Literal["impulse"]
    impulse_Ns: Positive
    duration_s: NonNegative = 0.0


class PendulumPush(PushBase):
    """A hit by a point mass with kinetic energy ``energy_J`` and coefficient of restitution.

    The impulse follows from the robot's effective mass at the hit point; it is delivered as half a
    sine over ``duration_s``.
    """

    type: Literal["pendulum"]
    mass_kg: Positive
    energy_J: Positive
    restitution: Annotated[float, Field(ge=0, le=1)]
    duration_s: Positive


Push = Annotated[ForcePush | HalfSinePush | ImpulsePush | PendulumPush, Field(discriminator="type")]
