"""Unit quaternions as a chart of SO(3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from balance.errors import ChartError
from balance.rotations.chart import Chart
from balance.rotations.quaternion import (
    quaternion_from_matrix,
    quaternion_inverse,
    quaternion_product,
    quaternion_to_matrix,
    split_quaternion,
)
from balance.rotations.so3 import GENERATORS, Array, skew


class Quaternion(Chart):
    """Unit quaternions as a chart: four coordinates, one constraint xi^T xi = 1."""

    def __init__(self, *, scalar_first: bool) -> None:
        self.scalar_first = scalar_first
        self.name = "quaternion_scalar_first" if scalar_first else "quaternion"
        self.coordinates = ("w", "x", "y", "z") if scalar_first else ("x", "y", "z", "w")

    def compose(self, chi_AB: ArrayLike, chi_BC: ArrayLike) -> Array:
        """Quaternion product; RobotDynamicsETH (2.57)."""
        return quaternion_product(
            self.check(chi_AB), self.check(chi_BC), scalar_first=self.scalar_first
        )

    def inverse(self, chi_AB: ArrayLike) -> Array:
        """Conjugate; RobotDynamicsETH (2.56)."""
        return quaternion_inverse(self.check(chi_AB), scalar_first=self.scalar_first)

    def _to_matrix(self, chi: Array) -> Array:
        return quaternion_to_matrix(chi, scalar_first=self.scalar_first)

    def _from_matrix(self, R: Array) -> Array:
        return quaternion_from_matrix(R, scalar_first=self.scalar_first, check=False)

    def _rate_map(self, chi: Array) -> Array:
        """E = 2 H(xi); RobotDynamicsETH (2.96)-(2.98)."""
        v, w = split_quaternion(chi, self.scalar_first)
        of_vector = skew(v) + w[..., None] * np.eye(3)
        parts = [-v[..., None], of_vector] if self.scalar_first else [of_vector, -v[..., None]]
        return 2.0 * np.concatenate(parts, axis=-1)

    def _inverse_rate_map(self, chi: Array) -> Array:
        """E^-1 = 1/2 H(xi)^T; RobotDynamicsETH (2.99)."""
        return 0.25 * np.swapaxes(self._rate_map(chi), -1, -2)

    def _partials(self, chi: Array) -> Array:
        """Derivatives of RobotDynamicsETH (2.54): 2 w 1 + 2 [v]x by the scalar part and
        2 w [e_i]x - 2 v_i 1 + 2 (e_i v^T + v e_i^T) by the vector part.
        """
        v, w = split_quaternion(chi, self.scalar_first)
        one = np.eye(3)
        by_w = 2.0 * (w[..., None] * one + skew(v))
        outer = one[:, :, None] * v[..., None, None, :]  # e_i v^T, i first
        by_v = 2.0 * (w[..., None, None] * GENERATORS + outer + np.swapaxes(outer, -1, -2))
        by_v -= 2.0 * v[..., None, None] * one
        by_w = by_w[..., None, :, :]
        stacked = np.concatenate([by_w, by_v] if self.scalar_first else [by_v, by_w], axis=-3)
        return np.moveaxis(stacked, -3, -1)

    def _partials_rate(self, chi: Array, chi_dot: Array) -> Array:
        return self._partials(chi_dot)

    def _constraint(self, chi: Array) -> Array:
        """xi^T xi - 1; Bouyarmane2012 (28)."""
        return (chi * chi).sum(axis=-1, keepdims=True) - 1.0

    def _constraint_rows(self, chi: Array) -> Array:
        return chi[..., None, :]

    def _constraint_text(self) -> str:
        return "x^2 + y^2 + z^2 + w^2 = 1"

    def _project(self, chi: Array) -> Array:
        norm = np.linalg.norm(chi, axis=-1, keepdims=True)
        if np.any(norm == 0.0):
            raise ChartError("a zero quaternion cannot be normalised; it stands for no rotation")
        return chi / norm
