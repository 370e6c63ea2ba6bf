"""The limits of a robot to several directions and with several numbers of steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from balance.analysis.limits.recovery import RecoveryLimit, push_height, recovery_limit
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot
from balance.robots.capability.capability import FRICTION


@dataclass(frozen=True)
class DirectionLimit:
    """The ankle limit to an azimuth, and the recovery limits with 0, 1, 2 ... steps."""

    azimuth_deg: float
    ankle_limit_Ns: float
    limits: tuple[RecoveryLimit, ...]


@dataclass(frozen=True)
class LimitTable:
    """The limits of a robot, and the push and the ground that they are for."""

    robot: str
    mass_kg: float
    height_m: float
    duration_s: float
    friction: float
    directions: tuple[DirectionLimit, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def limits_to(
    robot: Robot,
    azimuths_deg: Sequence[float],
    steps: int = 0,
    *,
    height_m: float | None = None,
    duration_s: float = 0.0,
    friction: float = FRICTION,
) -> Iterator[DirectionLimit]:
    """The limits to each azimuth, one after the other."""
    for azimuth in azimuths_deg:
        angle = np.radians(azimuth)
        direction = np.array([round(np.cos(angle), 15), round(np.sin(angle), 15)])
        limits = [
            recovery_limit(
                robot,
                direction,
                count,
                height_m=height_m,
                duration_s=duration_s,
                friction=friction,
            )
            for count in range(steps + 1)
        ]
        yield DirectionLimit(azimuth, ankle_limit(robot, direction), tuple(limits))


def limit_table(
    robot: Robot,
    found: Iterable[DirectionLimit],
    *,
    height_m: float | None = None,
    duration_s: float = 0.0,
    friction: float = FRICTION,
) -> LimitTable:
    """What :func:`limits_to` gave, with what it was asked for."""
    height = push_height(robot) if height_m is None else height_m
    return LimitTable(robot.name, robot.mass, height, duration_s, friction, tuple(found))
