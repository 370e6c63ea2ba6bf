"""Forces with which contacts are to press on what they touch; RobotDynamicsETH (3.111)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from balance.config.tasks import WANTED_FORCES, WantedForceConfig
from balance.control.parts.free_motion import FreeMotion
from balance.errors import ConfigError, known_names
from balance.robots import Robot
from balance.robots.contact_rows import ContactRows

Array = NDArray[np.float64]


class WantedForces:
    """Chosen components of contact forces, as conditions on x of :class:`FreeMotion`.

    A contact that presses with a force is pressed back by as much, along z out of its plane, and
    that is the component of its wrench, which acts on the robot.
    """

    def __init__(self, wanted: Mapping[str, WantedForceConfig], robot: Robot) -> None:
        names, slices = [sole.name for sole in robot.soles], ContactRows(robot.soles).slices
        rows: list[int] = []
        values: list[float] = []
        for name, force in wanted.items():
            # The soles of a robot are called by their side; its other contacts by their own names.
            own = name if name in names else f"{name} sole"
            if own not in names:
                raise ConfigError(
                    f"'controller.{WANTED_FORCES}.{name}': robot '{robot.name}' does not stand on "
                    f"'{name}'{known_names(name, names)}"
                )
            first = slices[names.index(own)].start
            if force.normal_N is not None:
                rows.append(first + 2)
                values.append(force.normal_N)
            if force.along_N is not None:
                rows += [first, first + 1]
                values += [-part for part in force.along_N]
        self.rows, self.values = np.array(rows, dtype=np.intp), np.array(values)

    def conditions(self, free: FreeMotion) -> tuple[Array, Array]:
        """A (n, n_x) and b (n,), N: the forces are as wanted where A x = b."""
        return free.F[self.rows], self.values - free.f_0[self.rows]
