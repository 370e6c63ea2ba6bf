"""Unit quaternions: algebra, rotation matrices, rate maps (RobotDynamicsETH 2.4.5, 2.5.1).

Every function takes ``scalar_first``: False (the default, as in Pinocchio and SciPy) means
(x, y, z, w), True (as in RobotDynamicsETH and Bouyarmane2012) means (w, x, y, z).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from balance.errors import ChartError
from balance.rotations.chart import Chart
from balance.rotations.so3 import GENERATORS, Array, check_rotation_matrix, skew

# xi xi^T is linear in R (solve RobotDynamicsETH (2.54) for the products of components):
# 4 xi xi^T = _OUTER_OFFSET + _OUTER_MAP R.ravel(), with xi = (x, y, z, w).
_OUTER_OFFSET: Final[Array] = np.eye(4).ravel()
_OUTER_MAP: Final[Array] = np.zeros((4, 4, 3, 3))
for _i in range(3):
    _j, _k = (_i + 1) % 3, (_i + 2) % 3
    _OUTER_MAP[_i, _i] = -np.eye(3)
    _OUTER_MAP[_i, _i, _i, _i] = 1.0
    _OUTER_MAP[_i, _j] = _OUTER_MAP[_j, _i] = np.abs(GENERATORS[_k])
    _OUTER_MAP[_i, 3] = _OUTER_MAP[3, _i] = GENERATORS[_i]
_OUTER_MAP[3, 3] = np.eye(3)
_OUTER_MAP_T: Final[Array] = _OUTER_MAP.reshape(16, 9).T.copy()


def quaternion_from_matrix(
    R: ArrayLike, *, scalar_first: bool = False, check: bool = True
) -> Array:
    """Unit quaternion (..., 4) with w >= 0 of rotation matrices (..., 3, 3).

    At an angle of exactly pi, where w = 0, the largest component is positive.  ``check=False``
    skips the test that R is a rotation, for control loops.

    Differs: RobotDynamicsETH (2.55) takes each component from its own square root, which loses
    half of the digits of small components and their sign at pi.  Here the four products with the
    largest component are used (Shepperd's method), which is accurate everywhere.
    """
    R = check_rotation_matrix(R) if check else np.asarray(R, dtype=float)
    flat = R.reshape(-1, 9)
    outer = (flat @ _OUTER_MAP_T + _OUTER_OFFSET).reshape(-1, 4, 4)
    largest = outer.reshape(-1, 16)[:, ::5].argmax(axis=1)
    xyzw = outer[np.arange(len(flat)), largest]
    norm = np.sqrt((xyzw * xyzw).sum(axis=1, keepdims=True))
    xyzw /= np.where(xyzw[:, 3:] < 0.0, -norm, norm)
    return _reorder(xyzw.reshape(*R.shape[:-2], 4), scalar_first)


def quaternion_to_matrix(xi: ArrayLike, *, scalar_first: bool = False) -> Array:
    """Rotation matrix (..., 3, 3) of unit quaternions (..., 4); RobotDynamicsETH (2.54)."""
    return _chart(scalar_first).to_matrix(xi)


def quaternion_product(
    xi_AB: ArrayLike, xi_BC: ArrayLike, *, scalar_first: bool = False
) -> Array:
    """xi_AC = xi_AB (x) xi_BC; RobotDynamicsETH (2.57)."""
    v1, w1 = _split(xi_AB, scalar_first)
    v2, w2 = _split(xi_BC, scalar_first)
    w = w1 * w2 - (v1 * v2).sum(axis=-1, keepdims=True)
    v = w1 * v2 + w2 * v1 + np.cross(v1, v2)
    return _join(v, w, scalar_first)


def quaternion_inverse(xi: ArrayLike, *, scalar_first: bool = False) -> Array:
    """Inverse (conjugate) of unit quaternions; RobotDynamicsETH (2.56)."""
    v, w = _split(xi, scalar_first)
    return _join(-v, w, scalar_first)


def quaternion_left_matrix(xi: ArrayLike, *, scalar_first: bool = False) -> Array:
    """M_l (..., 4, 4) with xi (x) zeta = M_l(xi) zeta; RobotDynamicsETH (2.58)-(2.59)."""
    basis = np.broadcast_to(np.eye(4), (*np.shape(xi), 4))
    columns = quaternion_product(np.asarray(xi)[..., None, :], basis, scalar_first=scalar_first)
    return np.swapaxes(columns, -1, -2)


def quaternion_right_matrix(xi: ArrayLike, *, scalar_first: bool = False) -> Array:
    """M_r (..., 4, 4) with zeta (x) xi = M_r(xi) zeta; RobotDynamicsETH (2.60)-(2.61)."""
    basis = np.broadcast_to(np.eye(4), (*np.shape(xi), 4))
    columns = quaternion_product(basis, np.asarray(xi)[..., None, :], scalar_first=scalar_first)
    return np.swapaxes(columns, -1, -2)


def quaternion_rotate(xi_AB: ArrayLike, r_B: ArrayLike, *, scalar_first: bool = False) -> Array:
    """Vector r (..., 3) from the axes of B to those of A; RobotDynamicsETH (2.62)-(2.63)."""
    r = np.asarray(r_B, dtype=float)
    pure = _join(r, np.zeros((*r.shape[:-1], 1)), scalar_first)
    half = quaternion_product(xi_AB, pure, scalar_first=scalar_first)
    inverse = quaternion_inverse(xi_AB, scalar_first=scalar_first)
    vector, _ = _split(quaternion_product(half, inverse, scalar_first=scalar_first), scalar_first)
    return vector


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
        """RobotDynamicsETH (2.54), the form that is homogeneous in xi.

        Differs: Bouyarmane2012 (11) replaces w^2 - |v|^2 by 2 w^2 - 1, which is the same on the
        unit sphere; but only the homogeneous form has partial derivatives that give no angular
        velocity to a change of the norm.
        """
        v, w = _split(chi, self.scalar_first)
        diagonal = (w * w - (v * v).sum(axis=-1, keepdims=True))[..., None] * np.eye(3)
        return diagonal + 2.0 * w[..., None] * skew(v) + 2.0 * v[..., :, None] * v[..., None, :]

    def _from_matrix(self, R: Array) -> Array:
        return quaternion_from_matrix(R, scalar_first=self.scalar_first, check=False)

    def _rate_map(self, chi: Array) -> Array:
        """E = 2 H(xi); RobotDynamicsETH (2.96)-(2.98)."""
        v, w = _split(chi, self.scalar_first)
        of_vector = skew(v) + w[..., None] * np.eye(3)
        parts = [-v[..., None], of_vector] if self.scalar_first else [of_vector, -v[..., None]]
        return 2.0 * np.concatenate(parts, axis=-1)

    def _inverse_rate_map(self, chi: Array) -> Array:
        """E^-1 = 1/2 H(xi)^T; RobotDynamicsETH (2.99)."""
        return 0.25 * np.swapaxes(self._rate_map(chi), -1, -2)

    def _partials(self, chi: Array) -> Array:
        """Derivatives of RobotDynamicsETH (2.54); linear in xi."""
        v, w = _split(chi, self.scalar_first)
        one = np.eye(3)
        by_w = 2.0 * w[..., None] * one + 2.0 * skew(v)
        symmetric = one[:, :, None] * v[..., None, None, :] + one[:, None, :] * v[..., None, :, None]
        by_v = 2.0 * (w[..., None, None] * GENERATORS + symmetric)
        by_v -= 2.0 * v[..., :, None, None] * one
        return np.moveaxis(_join(by_v, by_w[..., None, :, :], self.scalar_first, axis=-3), -3, -1)

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


_SCALAR_LAST: Final = Quaternion(scalar_first=False)
_SCALAR_FIRST: Final = Quaternion(scalar_first=True)


def _chart(scalar_first: bool) -> Quaternion:
    return _SCALAR_FIRST if scalar_first else _SCALAR_LAST


def _split(xi: ArrayLike, scalar_first: bool) -> tuple[Array, Array]:
    """Vector part (..., 3) and scalar part (..., 1)."""
    xi = np.asarray(xi, dtype=float)
    if xi.ndim == 0 or xi.shape[-1] != 4:
        raise ChartError(f"a quaternion has shape (..., 4), not {xi.shape}")
    return (xi[..., 1:], xi[..., :1]) if scalar_first else (xi[..., :3], xi[..., 3:])


def _join(vector: Array, scalar: Array, scalar_first: bool, axis: int = -1) -> Array:
    return np.concatenate([scalar, vector] if scalar_first else [vector, scalar], axis=axis)


def _reorder(xyzw: Array, scalar_first: bool) -> Array:
    return np.roll(xyzw, 1, axis=-1) if scalar_first else xyzw
