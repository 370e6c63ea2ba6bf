"""Drives between the commanded torques and a plant.

What a command goes through, in this order: control periods in which it does not arrive, rounding,
a first-order lag, and the limit that falls with speed (:mod:`balance.simulation.speed_curve`): a
lag is that of the drive's electronics, which at speed want more than there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from balance.config.actuators import ActuatorsConfig, SpeedTorqueConfig
from balance.robots import Robot
from balance.robots.joint_values import joint_values
from balance.simulation.plants.interface import BodyImpulse, Plant
from balance.simulation.plants.wrapper import PlantWrapper
from balance.simulation.speed_curve import SpeedCurve

Array = NDArray[np.float64]

STICKING_RAD_S = 1e-4  # speed below which dry friction is viscous


class ActuatedPlant(PlantWrapper):
    """A plant behind imperfect drives; it is used like the plant itself."""

    def __init__(
        self,
        plant: Plant,
        config: ActuatorsConfig,
        robot: Robot,
        substeps: int,
        seeds: np.random.SeedSequence,
    ) -> None:
        """A command stays for ``substeps`` simulation steps, one control period."""
        super().__init__(plant)
        self._config, self._substeps, self._seeds = config, substeps, seeds
        self._lag = TorqueLag(config.lag_s, plant.dt, robot.model.nv - 6)
        curve = config.speed_torque
        self._curve = SpeedCurve(curve, robot) if isinstance(curve, SpeedTorqueConfig) else None
        self._coulomb = joint_values(config.coulomb_Nm, robot, "actuators.coulomb_Nm")
        self._dry = bool(self._coulomb.any())
        self._viscous = plant.joint_damping.copy() if self._dry else self._coulomb
        self._start()

    def _start(self) -> None:
        # A sequence spawns other seeds the second time: a reset shall repeat the run.
        self._arrivals = np.random.default_rng(self._seeds)
        self._steps = 0
        self._command = np.zeros_like(self._coulomb)
        self._lag.torques = None
        if self._curve is not None:
            self._curve.forget()

    @property
    def joint_damping(self) -> Array:
        """Viscous friction of each joint (nj,), N m s/rad."""
        return self._viscous if self._dry else self.plant.joint_damping

    def reset(self, q: Array, v: Array) -> None:
        """Start again at time zero from a state, with the same dropped periods."""
        self._start()
        super().reset(q, v)

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        """Advance by one time step under commanded joint torques (nj,) and pushes (N s)."""
        config, plant = self._config, self.plant
        if self._steps % self._substeps == 0:
            dropped = config.dropped_share > 0.0 and self._arrivals.random() < config.dropped_share
            if self._steps == 0 or not dropped:
                self._command = _rounded(torques, config.resolution_Nm)
        self._steps += 1
        if self._dry:
            plant.joint_damping[:] = self._viscous + self._dry_friction(plant.v[6:])
        torques = self._lag.step(self._command)
        if self._curve is None:
            plant.step(torques, impulses)
        else:
            self._curve.step(plant, torques, impulses)

    def _dry_friction(self, velocities: Array) -> Array:
        """The viscous coefficient (nj,) that gives the dry friction torque at these velocities.

        The plants take viscous friction implicitly, so the torque -f v+ / |v| opposes the motion
        at the end of the step: it brings a joint to rest but never turns it round, and holds it
        there against any torque below f but for creep of less than ``STICKING_RAD_S``.
        """
        return np.asarray(self._coulomb / np.maximum(np.abs(velocities), STICKING_RAD_S))


class TorqueLag:
    """First-order lag T dtau/dt = tau_c - tau, exact for a command that is constant over a step."""

    def __init__(self, time_constant: float, dt: float, n: int) -> None:
        self._n = n
        ratio = dt / time_constant if time_constant > 0.0 else math.inf
        self._left = math.exp(-ratio)
        self._mean_left = -math.expm1(-ratio) / ratio if ratio < math.inf else 0.0
        self.torques: Array | None = None
        """Torques (nj,) at the end of the last step, N m; None before the first command."""

    def step(self, command: Array) -> Array:
        """Mean torques (nj,) over one step.

        The first command finds the drives settled at it: a robot that stands is held by them.
        """
        if self._left == 0.0:
            return command
        missing = (command if self.torques is None else self.torques) - command
        self.torques = command + self._left * missing
        return np.asarray(command + self._mean_left * missing)


def _rounded(torques: Array, step: float) -> Array:
    return torques if step == 0.0 else step * np.round(torques / step)
