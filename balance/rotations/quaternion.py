"""Unit quaternions: algebra and rotation matrices (RobotDynamicsETH 2.4.5).

Every function takes ``scalar_first``: False (the default, as in Pinocchio and SciPy) means
(x, y, z, w), True (as in RobotDynamicsETH and Bouyarmane2012) means (w, x, y, z).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from balance.errors import ChartError
from balance.rotations.so3 import (
    CONSTRAINT_TOLERANCE,
    GENERATORS,
    Array,
    as_floats,
    check_rotation_matrix,
    skew,
)


def _outer_product_map() -> Array:
    """Matrix (16, 9) of the part of 4 xi xi^T, xi = (x, y, z, w), that is linear in R.

    Solving RobotDynamicsETH (2.54) for the products of components gives
    4 xi xi^T = 1 + (a linear map of R), row by row.
    """
    of_R = np.zeros((4, 4, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        of_R[i, i] = -np.eye(3)
        of_R[i, i, i, i] = 1.0
        of_R[i, j] = of_R[j, i] = np.abs(GENERATORS[k])
        of_R[i, 3] = of_R[3, i] = GENERATORS[i]
    of_R[3, 3] = np.eye(3)
    return of_R.reshape(16, 9)


_OUTER_MAP_T: Final[Array] = _outer_product_map().T.copy()
_OUTER_OFFSET: Final[Array] = np.eye(4).ravel()


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
    xyzw = xyzw.reshape(*R.shape[:-2], 4)
    return np.roll(xyzw, 1, axis=-1) if scalar_first else xyzw


def quaternion_to_matrix(xi: ArrayLike, *, scalar_first: bool = False) -> Array:
    """Rotation matrix (..., 3, 3) of unit quaternions (..., 4); RobotDynamicsETH (2.54).

    Differs: Bouyarmane2012 (11) replaces w^2 - |v|^2 by 2 w^2 - 1, which is the same on the unit
    sphere; but only this homogeneous form has partial derivatives that give no angular velocity to
    a change of the norm.
    """
    v, w = split_quaternion(_check_unit(xi), scalar_first)
    diagonal = (w * w - (v * v).sum(axis=-1, keepdims=True))[..., None] * np.eye(3)
    return diagonal + 2.0 * w[..., None] * skew(v) + 2.0 * v[..., :, None] * v[..., None, :]


def quaternion_product(xi_AB: ArrayLike, xi_BC: ArrayLike, *, scalar_first: bool = False) -> Array:
    """xi_AC = xi_AB (x) xi_BC; RobotDynamicsETH (2.57)."""
    v1, w1 = split_quaternion(xi_AB, scalar_first)
    v2, w2 = split_quaternion(xi_BC, scalar_first)
    w = w1 * w2 - (v1 * v2).sum(axis=-1, keepdims=True)
    v = w1 * v2 + w2 * v1 + np.cross(v1, v2)
    return join_quaternion(v, w, scalar_first)


def quaternion_inverse(xi: ArrayLike, *, scalar_first: bool = False) -> Array:
    """Inverse (conjugate) of unit quaternions; RobotDynamicsETH (2.56)."""
    v, w = split_quaternion(_check_unit(xi), scalar_first)
    return join_quaternion(-v, w, scalar_first)


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
    r = as_floats("a vector", r_B)
    if r.ndim == 0 or r.shape[-1] != 3:
        raise ChartError(f"a vector has shape (..., 3), not {r.shape}")
    pure = join_quaternion(r, np.zeros((*r.shape[:-1], 1)), scalar_first)
    half = quaternion_product(xi_AB, pure, scalar_first=scalar_first)
    inverse = quaternion_inverse(xi_AB, scalar_first=scalar_first)
    rotated = quaternion_product(half, inverse, scalar_first=scalar_first)
    return split_quaternion(rotated, scalar_first)[0]


def split_quaternion(xi: ArrayLike, scalar_first: bool) -> tuple[Array, Array]:
    """Vector part (..., 3) and scalar part (..., 1)."""
    xi = _check_shape(xi)
    return (xi[..., 1:], xi[..., :1]) if scalar_first else (xi[..., :3], xi[..., 3:])


def join_quaternion(vector: Array, scalar: Array, scalar_first: bool) -> Array:
    """Quaternion (..., 4) from its vector part (..., 3) and scalar part (..., 1)."""
    return np.concatenate([scalar, vector] if scalar_first else [vector, scalar], axis=-1)


def _check_shape(xi: ArrayLike) -> Array:
    xi = as_floats("a quaternion", xi)
    if xi.ndim == 0 or xi.shape[-1] != 4:
        raise ChartError(f"a quaternion has shape (..., 4), not {xi.shape}")
    return xi


def _check_unit(xi: ArrayLike) -> Array:
    xi = _check_shape(xi)
    error = np.abs((xi * xi).sum(axis=-1) - 1.0)
    if not np.all(error <= CONSTRAINT_TOLERANCE):  # also true for NaN
        norm = np.linalg.norm(xi, axis=-1).ravel()[int(np.argmax(error))]
        raise ChartError(
            f"a quaternion has norm {norm:.6g}; a rotation needs norm 1 "
            f"(to {CONSTRAINT_TOLERANCE:g}), so normalise it first"
        )
    return xi
