"""A plant around another one: what both have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from balance.simulation.plants.interface import Plant, Touch

Array = NDArray[np.float64]


class PlantWrapper:
    """Passes everything but ``step`` on to the plant inside."""

    def __init__(self, plant: Plant) -> None:
        self.plant, self.dt = plant, plant.dt

    @property
    def q(self) -> Array:
        """True configuration (nq,)."""
        return self.plant.q

    @property
    def v(self) -> Array:
        """True velocity (nv,)."""
        return self.plant.v

    @property
    def time(self) -> float:
        """Simulated time in s."""
        return self.plant.time

    @property
    def contact_wrenches(self) -> Array:
        """Measured wrench of each sole (k, 6)."""
        return self.plant.contact_wrenches

    @property
    def touches(self) -> Sequence[Touch]:
        """What touched in the last step besides the soles."""
        return getattr(self.plant, "touches", ())

    @property
    def joint_damping(self) -> Array:
        """Viscous friction of each joint (nj,), N m s/rad."""
        return self.plant.joint_damping

    @property
    def torque_range(self) -> Array:
        """Least and largest torque of each joint (2, nj), N m."""
        return self.plant.torque_range

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one surface."""
        self.plant.set_friction(surface, friction)

    def reset(self, q: Array, v: Array) -> None:
        """Start again at time zero from a state."""
        self.plant.reset(q, v)

    def remember(self) -> bool:
        """Keep the state for ``go_back``; False if the engine cannot."""
        return self.plant.remember()

    def go_back(self) -> None:
        """Be again where ``remember`` was called."""
        self.plant.go_back()
