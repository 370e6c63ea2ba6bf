"""A user's own engine: what it gives is checked, and what it raises ends the run in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.config.user_code import FOREIGN, shown_name, told
from balance.errors import BalanceError, ConfigError
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.wrapper import PlantWrapper

Array = NDArray[np.float64]


class ForeignPlant(PlantWrapper):
    """An engine that we do not know: every step may fail, which ends the run, not the program."""

    def __init__(self, make: Any, config: PlantConfig, robot: Robot, ground: Any) -> None:
        self._name = shown_name(config.engine)
        where = f"plant.engine = '{config.engine}'"
        self._torque_range = np.full((2, robot.model.nv - 6), [[-np.inf], [np.inf]])
        try:
            super().__init__(make(config, robot, ground))
            self._check(config, robot, where)
            needed = ("torque_range", "remember", "go_back")
            self._goes_back = all(hasattr(self.plant, name) for name in needed)
        except BalanceError:
            raise
        except FOREIGN as error:
            raise ConfigError(f"{where} cannot be made: {told(error, make)}") from None

    def _check(self, config: PlantConfig, robot: Robot, where: str) -> None:
        """What the loop reads of it must be there, and have the robot's shape."""
        model = robot.model
        shapes = {
            "q": (model.nq,),
            "v": (model.nv,),
            "contact_wrenches": (len(robot.soles), 6),
            "joint_damping": (model.nv - 6,),
        }
        for name, shape in shapes.items():
            found = np.shape(getattr(self.plant, name))
            if found != shape:
                raise ConfigError(
                    f"{where}: its '{name}' has the shape {found}; robot '{robot.name}' needs "
                    f"{shape}"
                )
        if abs(self.dt - config.step_s) > 1e-12:
            raise ConfigError(f"{where}: its 'dt' is {self.dt}, not plant.step_s = {config.step_s}")

    @property
    def torque_range(self) -> Array:
        """Least and largest torque of each joint (2, nj), N m."""
        return self.plant.torque_range if self._goes_back else self._torque_range

    def remember(self) -> bool:
        """Keep the state for ``go_back``; False if the engine cannot."""
        return self._goes_back and bool(self._ask(self.plant.remember))

    def go_back(self) -> None:
        """Be again where ``remember`` was called."""
        self._ask(self.plant.go_back)

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step ``dt``."""
        self._ask(self.plant.step, np.clip(torques, *self.torque_range), impulses)

    def _ask(self, method: Any, *given: Any) -> Any:
        """What a method of the engine says; it may raise anything."""
        try:
            return method(*given)
        except FOREIGN as error:
            raise RuntimeError(f"engine '{self._name}': {told(error, self.plant)}") from None
