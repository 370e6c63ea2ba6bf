"""One physics engine per file, all with the same ``step(torques, impulses)``."""

from __future__ import annotations

from balance.config import Plant as PlantConfig
from balance.errors import MissingExtraError
from balance.robots import Robot
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.interface import BodyImpulse, Plant

__all__ = ["BodyImpulse", "Plant", "make_plant"]


def make_plant(config: PlantConfig, robot: Robot, ground: GroundMotion | None = None) -> Plant:
    """The simulated robot that ``config`` describes, on ground that moves or rests."""
    if config.engine == "mujoco":
        try:
            from balance.simulation.plants.mujoco_plant import MujocoPlant
        except ModuleNotFoundError as error:
            if error.name != "mujoco":
                raise
            raise MissingExtraError("mujoco", "mujoco") from None
        return MujocoPlant(config, robot, ground)
    from balance.simulation.plants.pinocchio_plant import PinocchioPlant

    return PinocchioPlant(config, robot, ground)
