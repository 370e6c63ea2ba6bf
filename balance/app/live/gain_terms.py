"""Gains in physical terms: natural frequency and damping ratio of CoM and base, axis by axis.

The momentum law makes the CoM obey m x'' + m K_D x' + K_P x = 0 and, for small angles, the base
I theta'' + I D theta' + K_R theta = 0 with I the locked inertia about the CoM; so

    omega^2 = K_P / m,  zeta = K_D / (2 omega)   and   omega^2 = K_R / I,  zeta = D / (2 omega).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import GainsConfig
from balance.control.parts.gains import gain_matrices
from balance.robots import Robot

Array = NDArray[np.float64]

RAW = ("K_P", "K_D", "K_R", "D")
PHYSICAL = ("com_frequency", "com_damping", "base_frequency", "base_damping")


@dataclass(frozen=True)
class GainTerms:
    """Diagonals of the four gains (4, 3) for one robot, in raw units: N/m, 1/s, N m, 1/s."""

    raw: Array
    inertia: Array
    """Mass three times, then the locked inertia about x, y, z (2, 3)."""

    @classmethod
    def of(cls, gains: GainsConfig, robot: Robot) -> GainTerms:
        """The gains that act on a robot."""
        raw = np.array([np.diag(matrix) for matrix in gain_matrices(gains, robot)])
        data = robot.model.createData()
        pin.ccrba(robot.model, data, robot.q_nominal, np.zeros(robot.model.nv))
        locked = np.diag(np.array(data.Ig.inertia))
        return cls(raw, np.array([np.full(3, robot.mass), locked]))

    @property
    def physical(self) -> Array:
        """Frequencies in Hz and damping ratios (4, 3), in the order of ``PHYSICAL``."""
        omega = np.sqrt(self.raw[[0, 2]] / self.inertia)
        damping = self.raw[[1, 3]] / (2.0 * omega)
        return np.array(
            [omega[0] / (2.0 * np.pi), damping[0], omega[1] / (2.0 * np.pi), damping[1]]
        )

    def with_raw(self, kind: int, axis: int, value: float) -> GainTerms:
        """Another value of one raw gain."""
        raw = self.raw.copy()
        raw[kind, axis] = value
        return GainTerms(raw, self.inertia)

    def with_physical(self, kind: int, axis: int, value: float) -> GainTerms:
        """Another frequency at the same damping ratio, or another damping ratio."""
        terms = self.physical
        terms[kind, axis] = value
        part = kind // 2
        omega = 2.0 * np.pi * terms[2 * part, axis]
        raw = self.raw.copy()
        raw[2 * part, axis] = self.inertia[part, axis] * omega**2
        raw[2 * part + 1, axis] = 2.0 * terms[2 * part + 1, axis] * omega
        return GainTerms(raw, self.inertia)

    def gains(self) -> GainsConfig:
        """As they are written in an experiment's file."""
        K_P, K_D, K_R, D = (tuple(map(float, row)) for row in self.raw)
        return GainsConfig.model_validate({"K_P": K_P, "K_D": K_D, "K_R": K_R, "D": D})
