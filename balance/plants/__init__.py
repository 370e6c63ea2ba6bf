"""One physics engine per file, all with the same ``step(torques, impulses)``."""

from __future__ import annotations

from balance.config import Plant as PlantConfig
from balance.plants.interface import BodyImpulse, Plant
from balance.robots import Robot

__all__ = ["BodyImpulse", "Plant", "make_plant"]


def make_plant(config: PlantConfig, robot: Robot) -> Plant:
    """The simulated robot that ``config`` describes."""
    from balance.plants.pinocchio_plant import PinocchioPlant

    return PinocchioPlant(config, robot)
