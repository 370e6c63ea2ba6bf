"""Angle and axis: chi = (theta, n) with |n| = 1 (RobotDynamicsETH (2.46)-(2.50))."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from balance.errors import ChartError
from balance.rotations.chart import Chart
from balance.rotations.quaternion import quaternion_from_matrix
from balance.rotations.so3 import GENERATORS, Array, check_regular, skew


class AngleAxis(Chart):
    """chi = (theta in rad, n_x, n_y, n_z)."""

    name = "angle_axis"
    coordinates = ("theta", "n_x", "n_y", "n_z")

    def inverse(self, chi_AB: ArrayLike) -> Array:
        """The same angle about the opposite axis."""
        return self.check(chi_AB) * np.array([1.0, -1.0, -1.0, -1.0])

    def _to_matrix(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.48): cos 1 + sin [n]x + (1 - cos) n n^T."""
        theta, n = chi[..., 0, None, None], chi[..., 1:]
        versine = 2.0 * np.sin(0.5 * theta) ** 2  # 1 - cos without cancellation
        return np.cos(theta) * np.eye(3) + np.sin(theta) * skew(n) + versine * _outer(n, n)

    def _from_matrix(self, R: Array) -> Array:
        """Angle in [0, pi]; the axis is x at the identity, and its largest component is positive
        at pi.

        Differs: RobotDynamicsETH (2.49)-(2.50) lose half of the digits near 0 and pi; here both
        come from the unit quaternion.
        """
        xyzw = quaternion_from_matrix(R, check=False)
        v, w = xyzw[..., :3], xyzw[..., 3:]
        length = np.linalg.norm(v, axis=-1, keepdims=True)
        identity = length == 0.0
        n = np.where(identity, [1.0, 0.0, 0.0], v / np.where(identity, 1.0, length))
        return np.concatenate([2.0 * np.arctan2(length, w), n], axis=-1)

    def _rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.102)."""
        theta, n = chi[..., 0, None, None], chi[..., 1:]
        by_n = np.sin(theta) * np.eye(3) + 2.0 * np.sin(0.5 * theta) ** 2 * skew(n)
        return np.concatenate([n[..., None], by_n], axis=-1)

    def _inverse_rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.103), with sin / (1 - cos) = cot(theta / 2)."""
        theta, n = chi[..., 0, None, None], chi[..., 1:]
        half_sine = np.sin(0.5 * theta)
        check_regular(self.name, half_sine[..., 0, 0], "at the identity every axis will do")
        n_cross = skew(n)
        n_rate = -0.5 * (np.cos(0.5 * theta) / half_sine * n_cross @ n_cross + n_cross)
        return np.concatenate([n[..., None, :], n_rate], axis=-2)

    def _partials(self, chi: Array) -> Array:
        theta, n = chi[..., 0, None, None], chi[..., 1:]
        c, s = np.cos(theta), np.sin(theta)
        by_theta = -s * np.eye(3) + c * skew(n) + s * _outer(n, n)
        by_n = s[..., None] * GENERATORS + (1.0 - c[..., None]) * _symmetric(n)
        return _stack(by_theta, by_n)

    def _partials_rate(self, chi: Array, chi_dot: Array) -> Array:
        theta, n = chi[..., 0, None, None], chi[..., 1:]
        theta_dot, n_dot = chi_dot[..., 0, None, None], chi_dot[..., 1:]
        c, s = np.cos(theta), np.sin(theta)
        by_theta = theta_dot * (-c * np.eye(3) - s * skew(n) + c * _outer(n, n))
        by_theta += c * skew(n_dot) + s * (_outer(n, n_dot) + _outer(n_dot, n))
        c, s, theta_dot = c[..., None], s[..., None], theta_dot[..., None]
        by_n = theta_dot * (c * GENERATORS + s * _symmetric(n)) + (1.0 - c) * _symmetric(n_dot)
        return _stack(by_theta, by_n)

    def _constraint(self, chi: Array) -> Array:
        n = chi[..., 1:]
        return (n * n).sum(axis=-1, keepdims=True) - 1.0

    def _constraint_rows(self, chi: Array) -> Array:
        return (chi * np.array([0.0, 1.0, 1.0, 1.0]))[..., None, :]

    def _constraint_text(self) -> str:
        return "|n| = 1"

    def _project(self, chi: Array) -> Array:
        length = np.linalg.norm(chi[..., 1:], axis=-1, keepdims=True)
        if np.any(length == 0.0):
            raise ChartError("a zero axis cannot be normalised; it stands for no direction")
        return np.concatenate([chi[..., :1], chi[..., 1:] / length], axis=-1)


def _outer(a: Array, b: Array) -> Array:
    return a[..., :, None] * b[..., None, :]


def _symmetric(u: Array) -> Array:
    """e_i u^T + u e_i^T for i = x, y, z, stacked before the matrix axes."""
    outer = np.eye(3)[:, :, None] * u[..., None, None, :]
    return outer + np.swapaxes(outer, -1, -2)


def _stack(by_theta: Array, by_n: Array) -> Array:
    """Derivatives by theta (..., 3, 3) and by n (..., 3, 3, 3) as (..., 3, 3, 4)."""
    return np.moveaxis(np.concatenate([by_theta[..., None, :, :], by_n], axis=-3), -3, -1)
