"""YAML schema of what all pushes have in common."""

from __future__ import annotations

from typing import Literal

from balance.config.schema import Strict
from balance.config.values import Direction, NonNegative, Vector3


class PushConfig(Strict):
    """Where and when a push acts: on ``body`` at ``point_m`` of its frame, from ``time_s`` on.

    ``type`` is its name in the registry, whose class adds its own keys in ``Config``.
    """

    type: str
    body: str | None = None
    point_m: Vector3 = (0.0, 0.0, 0.0)
    direction: Direction
    axes: Literal["world", "body"] = "world"
    time_s: NonNegative
