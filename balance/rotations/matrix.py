"""The rotation matrix itself as a chart: nine coordinates, six constraints."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from balance.errors import ChartError
from balance.rotations.chart import Chart
from balance.rotations.so3 import Array, check_rotation_matrix, nearest_rotation, skew

# Entries (i <= j) of the symmetric matrix R^T R - 1: each once, so the six are independent.
_ROWS, _COLUMNS = np.triu_indices(3)
_UNIT_MATRICES: Final[Array] = np.eye(9).reshape(3, 3, 9)


def elementary_rotation(axis: int, angle: ArrayLike) -> Array:
    """C_x, C_y or C_z (``axis`` 0, 1, 2) of ``angle`` in rad; RobotDynamicsETH (2.26)-(2.28)."""
    if axis not in (0, 1, 2):
        raise ChartError(f"axis is {axis!r}; it must be 0, 1 or 2 for x, y or z")
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((*c.shape, 3, 3))
    matrix[..., axis, axis] = 1.0
    matrix[..., i, i] = matrix[..., j, j] = c
    matrix[..., j, i] = s
    matrix[..., i, j] = -s
    return matrix


class RotationMatrix(Chart):
    """chi = R.ravel(), row by row: (R_xx, R_xy, R_xz, R_yx, ...)."""

    name = "rotation_matrix"
    coordinates = tuple(f"R_{i}{j}" for i in "xyz" for j in "xyz")

    def compose(self, chi_AB: ArrayLike, chi_BC: ArrayLike) -> Array:
        """R_AC = R_AB R_BC; RobotDynamicsETH (2.31)."""
        return self._flat(self.to_matrix(chi_AB) @ self.to_matrix(chi_BC))

    def inverse(self, chi_AB: ArrayLike) -> Array:
        """R_BA = R_AB^T; RobotDynamicsETH (2.23)."""
        return self._flat(np.swapaxes(self.to_matrix(chi_AB), -1, -2))

    def _to_matrix(self, chi: Array) -> Array:
        return chi.reshape(*chi.shape[:-1], 3, 3).copy()

    def _from_matrix(self, R: Array) -> Array:
        return self._flat(R)

    def _rate_map(self, chi: Array) -> Array:
        """[omega]x = dR/dt R^T, RobotDynamicsETH (2.72), with the skew part of the right side.

        That is omega = 1/2 sum_i R_i x dR_i/dt over the columns, the pseudo-inverse of
        dR_i/dt = omega x R_i.
        """
        return 0.5 * np.swapaxes(self._inverse_rate_map(chi), -1, -2)

    def _inverse_rate_map(self, chi: Array) -> Array:
        """dR_i/dt = omega x R_i = -[R_i]x omega for each column i; RobotDynamicsETH (2.72)."""
        columns = np.swapaxes(self._to_matrix(chi), -1, -2)
        per_column = -skew(columns)  # (..., column, row, omega)
        return np.swapaxes(per_column, -3, -2).reshape(*chi.shape, 3)

    def _partials(self, chi: Array) -> Array:
        return np.broadcast_to(_UNIT_MATRICES, (*chi.shape[:-1], 3, 3, 9)).copy()

    def _partials_rate(self, chi: Array, chi_dot: Array) -> Array:
        return np.zeros((*chi.shape[:-1], 3, 3, 9))

    def _check_domain(self, chi: Array) -> Array:
        """The six constraints do not see the sign of the determinant."""
        check_rotation_matrix(self._to_matrix(chi))
        return chi

    def _constraint(self, chi: Array) -> Array:
        """The six independent entries of R^T R - 1; Bouyarmane2012, Table II.

        Differs: the table counts the symmetric entries twice; here each appears once, so that the
        constraint Jacobian has full row rank and the multipliers are unique.
        """
        R = self._to_matrix(chi)
        return (np.swapaxes(R, -1, -2) @ R - np.eye(3))[..., _ROWS, _COLUMNS]

    def _constraint_rows(self, chi: Array) -> Array:
        """Row (i, j): 1/2 (R_i . dR_j + R_j . dR_i), over columns i <= j."""
        R = self._to_matrix(chi)
        rows = np.zeros((*chi.shape[:-1], 6, 3, 3))
        for row, (i, j) in enumerate(zip(_ROWS, _COLUMNS, strict=True)):
            rows[..., row, :, j] += 0.5 * R[..., :, i]
            rows[..., row, :, i] += 0.5 * R[..., :, j]
        return rows.reshape(*chi.shape[:-1], 6, 9)

    def _constraint_text(self) -> str:
        return "R^T R = 1"

    def _project(self, chi: Array) -> Array:
        return self._flat(nearest_rotation(self._to_matrix(chi)))

    @staticmethod
    def _flat(R: Array) -> Array:
        return R.reshape(*R.shape[:-2], 9).copy()
