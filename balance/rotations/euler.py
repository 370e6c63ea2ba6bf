"""Euler angles about three successive axes: ZYX, XYZ, ZYZ, ZXZ (RobotDynamicsETH (2.32)-(2.45))."""

from __future__ import annotations

import numpy as np

from balance.rotations.chart import Chart
from balance.rotations.matrix import elementary_rotation
from balance.rotations.so3 import GENERATORS, Array, check_regular

# Where the two entries that define the first angle are below this, they are round-off.
_ROUND_OFF = 1e-15


class EulerAngles(Chart):
    """R = C_i(chi_1) C_j(chi_2) C_k(chi_3), each about an axis of the frame rotated so far.

    ``axes`` (i, j, k) are 0, 1, 2 for x, y, z.  With t = e_j x e_k every formula below is the same
    for the four sequences; written out for one of them it is the printed one.
    """

    def __init__(self, axes: tuple[int, int, int]) -> None:
        self.axes = axes
        letters = ["xyz"[axis] for axis in axes]
        self.name = "euler_" + "".join(letters)
        proper = axes[0] == axes[2]
        self.coordinates = (
            (f"{letters[0]}1", letters[1], f"{letters[2]}2") if proper else tuple(letters)
        )
        unit = np.eye(3)
        self._e_i, self._e_j, self._e_k = (unit[axis] for axis in axes)
        self._t = np.cross(self._e_j, self._e_k)
        # C_j(chi_2) e_k = cos e_k + sin t; this is its part that C_i(chi_1) turns.
        self._turned = self._t if proper else self._e_k
        self._G_i, self._G_j, self._G_k = (GENERATORS[axis] for axis in axes)

    def _to_matrix(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.33), (2.37), (2.41), (2.44)."""
        C_i, C_j, C_k = self._factors(chi)
        return C_i @ C_j @ C_k

    def _from_matrix(self, R: Array) -> Array:
        """RobotDynamicsETH (2.35), (2.39), (2.42), (2.45); first and third angle in (-pi, pi].

        The middle angle is in [-pi/2, pi/2] for ZYX and XYZ, in [0, pi] for ZYZ and ZXZ.  At the
        singularity, where only the sum or difference of the others is defined, the first is zero.

        Differs: the third angle is read after the first rotation has been undone, so an error of
        the first, large near the singularity, is made good by the third and R is recovered to
        machine precision everywhere.
        """
        w = R @ self._e_k
        sine, cosine = w @ np.cross(self._e_i, self._turned), w @ self._turned
        singular = np.hypot(sine, cosine) < _ROUND_OFF
        first = np.where(singular, 0.0, np.arctan2(sine, cosine))
        rest = np.swapaxes(elementary_rotation(self.axes[0], first), -1, -2) @ R
        u, row = rest @ self._e_k, rest[..., self.axes[1], :]
        second = np.arctan2(u @ self._t, u @ self._e_k)
        third = np.arctan2(row @ self._t, row @ self._e_j)
        return np.stack([first, second, third], axis=-1)

    def _rate_map(self, chi: Array) -> Array:
        """The three axes in the fixed frame; RobotDynamicsETH (2.86), (2.88), (2.90), (2.92)."""
        return np.stack(self._fixed_axes(chi), axis=-1)

    def _inverse_rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.87), (2.89), (2.91), (2.93), as the dual basis of the three axes."""
        a, b, c = self._fixed_axes(chi)
        bc = np.cross(b, c)
        determinant = (a * bc).sum(axis=-1)
        check_regular(self.name, determinant, "the first and third axis are parallel")
        rows = np.stack([bc, np.cross(c, a), np.cross(a, b)], axis=-2)
        return rows / determinant[..., None, None]

    def _partials(self, chi: Array) -> Array:
        C_i, C_j, C_k = self._factors(chi)
        R = C_i @ C_j @ C_k
        return np.stack([self._G_i @ R, C_i @ self._G_j @ C_j @ C_k, R @ self._G_k], axis=-1)

    def _partials_rate(self, chi: Array, chi_dot: Array) -> Array:
        C_i, C_j, C_k = self._factors(chi)
        first, second, third = (chi_dot[..., n, None, None] for n in range(3))
        C_j_prime = self._G_j @ C_j
        by_second = C_i @ C_j_prime @ C_k
        R_dot = first * self._G_i @ C_i @ C_j @ C_k + second * by_second
        R_dot = R_dot + third * C_i @ C_j @ C_k @ self._G_k
        by_second_dot = first * self._G_i @ by_second + third * by_second @ self._G_k
        by_second_dot = by_second_dot + second * C_i @ self._G_j @ C_j_prime @ C_k
        return np.stack([self._G_i @ R_dot, by_second_dot, R_dot @ self._G_k], axis=-1)

    def _factors(self, chi: Array) -> list[Array]:
        return [elementary_rotation(axis, chi[..., n]) for n, axis in enumerate(self.axes)]

    def _fixed_axes(self, chi: Array) -> tuple[Array, Array, Array]:
        """The axes of the three rotations in the fixed frame; RobotDynamicsETH (2.83)-(2.85)."""
        C_i, C_j, _ = self._factors(chi)
        first = np.broadcast_to(self._e_i, chi.shape)
        return first, C_i @ self._e_j, C_i @ C_j @ self._e_k
