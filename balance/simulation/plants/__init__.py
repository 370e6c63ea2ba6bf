"""One physics engine per file, all with the same ``step(torques, impulses)``."""

from __future__ import annotations

from balance.config import ENGINES, PlantConfig
from balance.config.user_code import told
from balance.errors import BalanceError, ConfigError
from balance.robots import Robot
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.interface import BodyImpulse, Plant

__all__ = ["BodyImpulse", "Plant", "make_plant"]


def make_plant(config: PlantConfig, robot: Robot, ground: GroundMotion | None = None) -> Plant:
    """The simulated robot that ``config`` describes, on ground that moves or rests."""
    engine = ENGINES.find(config.engine, "plant.engine")
    try:
        plant: Plant = engine.target(config, robot, ground)
    except BalanceError:
        raise
    except Exception as error:
        if engine.code is None:
            raise
        raise ConfigError(
            f"plant.engine = '{config.engine}' cannot be made: {told(error)}"
        ) from None
    return plant
