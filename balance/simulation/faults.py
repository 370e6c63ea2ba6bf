"""A plant on which something breaks: a drive gets weak, a joint locks, ground turns slippery."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from balance.config.faults import Fault, LockedJointConfig, SlipperyConfig, WeakJointConfig
from balance.errors import ConfigError, known_names
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse, Plant
from balance.simulation.plants.wrapper import PlantWrapper

Array = NDArray[np.float64]

LOCK_DAMPING = 1e6  # N m s/rad; taken implicitly, so a locked joint creeps but never shakes


class FaultyPlant(PlantWrapper):
    """A plant that is used like the one inside of it until its faults begin."""

    def __init__(
        self, plant: Plant, faults: Sequence[Fault], robot: Robot, friction: float
    ) -> None:
        """``friction`` is the coefficient of sound ground."""
        super().__init__(plant)
        self._robot, self._friction = robot, friction
        self._locks: list[tuple[float, int]] = []
        self._slips: list[tuple[float, int, float]] = []
        self._weak: list[tuple[float, int, float]] = []
        for index, fault in enumerate(faults):
            key = f"faults.{index}"
            if isinstance(fault, WeakJointConfig):
                joint = self._joint(fault.joint, key)
                self._weak.append((fault.time_s, joint, fault.torque_Nm))
            elif isinstance(fault, LockedJointConfig):
                self._locks.append((fault.time_s, self._joint(fault.joint, key)))
            elif isinstance(fault, SlipperyConfig):
                surface = self._surface(fault.surface, key)
                self._slips.append((fault.time_s, surface, fault.friction))
        self._damping, self._torques = plant.joint_damping.copy(), plant.torque_range.copy()

    def _joint(self, name: str, key: str) -> int:
        names = self._robot.joint_names
        if name not in names:
            raise ConfigError(
                f"'{key}.joint' = '{name}': robot '{self._robot.name}' has no such joint"
                f"{known_names(name, names)}"
            )
        return names.index(name)

    def _surface(self, name: str, key: str) -> int:
        names = [surface.name for surface in self._robot.soles]
        if name not in names:
            raise ConfigError(f"'{key}.surface' = '{name}' bears no load{known_names(name, names)}")
        return names.index(name)

    def reset(self, q: Array, v: Array) -> None:
        """Start again at time zero from a state, with nothing broken yet."""
        self.plant.joint_damping[:], self.plant.torque_range[:] = self._damping, self._torques
        for surface in range(len(self._robot.soles)):
            self.plant.set_friction(surface, self._friction)
        super().reset(q, v)

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step under joint torques (nj,) and pushes (N s)."""
        now = self.plant.time + 0.5 * self.dt
        for begin, joint, most in self._weak:
            if begin < now <= begin + self.dt:
                limits = self.plant.torque_range[:, joint]
                limits[:] = np.clip(limits, -most, most)
        for begin, joint in self._locks:
            if now > begin:
                self.plant.joint_damping[joint] = LOCK_DAMPING
        for begin, surface, friction in self._slips:
            if begin < now <= begin + self.dt:
                self.plant.set_friction(surface, friction)
        self.plant.step(torques, impulses)
