"""Rotation vector phi = theta n (RobotDynamicsETH (2.47), (2.104)-(2.107))."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from balance.rotations.chart import Chart
from balance.rotations.quaternion import quaternion_from_matrix
from balance.rotations.so3 import GENERATORS, Array, check_regular, skew
from balance.rotations.stumpff import stumpff, stumpff_derivative, stumpff_second_derivative


class RotationVector(Chart):
    """chi = phi in rad.

    Differs: RobotDynamicsETH (2.104)-(2.107) exclude |phi| = 0.  Written with Stumpff functions of
    |phi|^2 the same formulas hold there too, without cancellation.
    """

    name = "rotation_vector"
    coordinates = ("phi_x", "phi_y", "phi_z")

    def inverse(self, chi_AB: ArrayLike) -> Array:
        """The opposite vector."""
        return -self.check(chi_AB)

    def _to_matrix(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.48) with theta n = phi: 1 + c_1 [phi]x + c_2 [phi]x^2."""
        s, cross = _square(chi)
        return np.eye(3) + stumpff(1, s) * cross + stumpff(2, s) * cross @ cross

    def _from_matrix(self, R: Array) -> Array:
        """Vector of length in [0, pi]; at pi its largest component is positive."""
        xyzw = quaternion_from_matrix(R, check=False)
        v, w = xyzw[..., :3], xyzw[..., 3:]
        sine = np.linalg.norm(v, axis=-1, keepdims=True)
        tiny = sine < 1e-150  # the squares in the norm underflow; sin x = x holds long before
        ratio = 2.0 * np.arctan2(sine, w) / np.where(tiny, 1.0, sine)
        return np.where(tiny, 2.0, ratio) * v

    def _rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.104), (2.106)."""
        s, cross = _square(chi)
        return np.eye(3) + stumpff(2, s) * cross + stumpff(3, s) * cross @ cross

    def _inverse_rate_map(self, chi: Array) -> Array:
        """RobotDynamicsETH (2.105), (2.107).

        The factor (1 - theta sin / (2 (1 - cos))) / theta^2 equals (c_3 - 2 c_4) / (2 c_2).  The
        map is singular at |phi| = 2 pi, 4 pi, ..., where c_2 = 0.
        """
        s, cross = _square(chi)
        half_sine = np.where(s < 1.0, 1.0, np.sin(0.5 * np.sqrt(s)))  # regular up to 2 pi
        check_regular(self.name, half_sine[..., 0, 0], "its length is a multiple of 2 pi")
        factor = (stumpff(3, s) - 2.0 * stumpff(4, s)) / (2.0 * stumpff(2, s))
        return np.eye(3) - 0.5 * cross + factor * cross @ cross

    def _partials(self, chi: Array) -> Array:
        s, cross = _square(chi)
        square = cross @ cross
        s, cross, square = s[..., None], cross[..., None, :, :], square[..., None, :, :]
        s_i = 2.0 * chi[..., None, None]
        by_phi = s_i * (stumpff_derivative(1, s) * cross + stumpff_derivative(2, s) * square)
        by_phi += stumpff(1, s) * GENERATORS + stumpff(2, s) * _anticommutator(GENERATORS, cross)
        return np.moveaxis(by_phi, -3, -1)

    def _partials_rate(self, chi: Array, chi_dot: Array) -> Array:
        s, cross = _square(chi)
        s, cross = s[..., None], cross[..., None, :, :]
        cross_dot = skew(chi_dot)[..., None, :, :]
        square, square_dot = cross @ cross, _anticommutator(cross, cross_dot)
        s_i, s_i_dot = 2.0 * chi[..., None, None], 2.0 * chi_dot[..., None, None]
        s_dot = 2.0 * (chi * chi_dot).sum(axis=-1)[..., None, None, None]
        first = stumpff_derivative(1, s), stumpff_derivative(2, s)
        second = stumpff_second_derivative(1, s), stumpff_second_derivative(2, s)
        by_phi = s_i_dot * (first[0] * cross + first[1] * square)
        by_phi += s_i * s_dot * (second[0] * cross + second[1] * square)
        by_phi += s_i * (first[0] * cross_dot + first[1] * square_dot)
        by_phi += s_dot * (first[0] * GENERATORS + first[1] * _anticommutator(GENERATORS, cross))
        by_phi += stumpff(2, s) * _anticommutator(GENERATORS, cross_dot)
        return np.moveaxis(by_phi, -3, -1)


def _square(phi: Array) -> tuple[Array, Array]:
    """|phi|^2 with two axes appended, and [phi]x."""
    return (phi * phi).sum(axis=-1)[..., None, None], skew(phi)


def _anticommutator(a: Array, b: Array) -> Array:
    return a @ b + b @ a
