"""One physics engine per file, all with the same ``step(torques, impulses)``."""

from __future__ import annotations

from balance.config import ENGINES, PlantConfig
from balance.robots import Robot
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.foreign_plant import ForeignPlant
from balance.simulation.plants.interface import BodyImpulse, Plant

__all__ = ["BodyImpulse", "Plant", "make_plant"]


def make_plant(config: PlantConfig, robot: Robot, ground: GroundMotion | None = None) -> Plant:
    """The simulated robot that ``config`` describes, on ground that moves or rests."""
    engine = ENGINES.find(config.engine, "plant.engine")
    if engine.code is not None:
        return ForeignPlant(engine.target, config, robot, ground)
    plant: Plant = engine.target(config, robot, ground)
    return plant
