"""Numbers for joints: one for all, or by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.errors import ConfigError, known_names
from balance.robots import Robot

Array = NDArray[np.float64]


def joint_values(value: float | dict[str, float], robot: Robot, key: str) -> Array:
    """One number per actuated joint; joints that a mapping does not name get zero.

    ``key`` says in errors where the value comes from.
    """
    names = robot.joint_names
    if not isinstance(value, dict):
        return np.full(len(names), float(value))
    for name in value:
        if name not in names:
            raise ConfigError(
                f"{key} names a joint '{name}' that robot '{robot.name}' lacks"
                f"{known_names(name, names)}"
            )
    return np.array([value.get(name, 0.0) for name in names])
