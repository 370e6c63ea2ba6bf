"""YAML schema of what all pushes have in common."""

from __future__ import annotations

from typing import Literal

from balance.config.schema import Strict
from balance.config.values import Direction, NonNegative, Vector3


class PushConfig(Strict):
    """Where and when a push acts; its kind adds keys of its own."""

    type: str
    """Kind of push: force, half_sine, impulse, pendulum, or FILE.py:NAME for your own."""
    body: str | None = None
    """The body that is pushed; the robot's `push_body` if not given."""
    point_m: Vector3 = (0.0, 0.0, 0.0)
    """Where on the body, in the body's axes."""
    direction: Direction
    """Which way it pushes, x forwards, y to the left; its length does not matter [-].
    Example: [0, 1, 0]."""
    axes: Literal["world", "body"] = "world"
    """Whether `direction` is in the axes of the world or of the body."""
    time_s: NonNegative
    """When it begins."""
