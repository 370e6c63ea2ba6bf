"""Skew matrices and checks shared by every rotation chart; all work over any leading axes."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from balance.errors import ChartError

Array = NDArray[np.float64]

CONSTRAINT_TOLERANCE: Final = 1e-6
"""Largest entry of R^T R - 1, or of |quaternion|^2 - 1, that is still taken as a rotation."""

SINGULARITY_MARGIN: Final = 1.5e-8
"""A rate map whose determinant is smaller than this (the root of the machine precision) has lost
half of its digits; its inverse is refused."""


def skew(u: ArrayLike) -> Array:
    """Matrix [u]x of shape (..., 3, 3) with [u]x w = u x w; RobotDynamicsETH (2.73)."""
    u = np.asarray(u, dtype=float)
    matrix = np.zeros((*u.shape, 3))
    matrix[..., 2, 1] = u[..., 0]
    matrix[..., 0, 2] = u[..., 1]
    matrix[..., 1, 0] = u[..., 2]
    matrix[..., 1, 2] = -u[..., 0]
    matrix[..., 2, 0] = -u[..., 1]
    matrix[..., 0, 1] = -u[..., 2]
    return matrix


GENERATORS: Final[Array] = skew(np.eye(3))
"""The three matrices [e_i]x, stacked in the first axis."""


def unskew(matrix: ArrayLike) -> Array:
    """Vector u of shape (..., 3) whose [u]x is the skew part of ``matrix``."""
    m = np.asarray(matrix, dtype=float)
    twice = np.stack(
        [
            m[..., 2, 1] - m[..., 1, 2],
            m[..., 0, 2] - m[..., 2, 0],
            m[..., 1, 0] - m[..., 0, 1],
        ],
        axis=-1,
    )
    return 0.5 * twice


def nearest_rotation(matrix: ArrayLike) -> Array:
    """Rotation closest to ``matrix`` (..., 3, 3) in the Frobenius norm, from its polar factor."""
    m = _check_shape_and_finite(matrix)
    if np.any(np.linalg.det(m) <= 0.0):
        raise ChartError(
            "a matrix with determinant <= 0 has no unique nearest rotation; "
            "pass one that is close to a rotation"
        )
    U, _, Vt = np.linalg.svd(m)
    return U @ Vt


def check_rotation_matrix(matrix: ArrayLike) -> Array:
    """``matrix`` as a float array (..., 3, 3) of rotations; RobotDynamicsETH (2.23)."""
    R = _check_shape_and_finite(matrix)
    error = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3))
    if error.max(initial=0.0) > CONSTRAINT_TOLERANCE:
        where, worst = _largest(error.max(axis=(-1, -2)))
        raise ChartError(
            f"matrix{where} is not orthogonal: R^T R - 1 has an entry of {worst:.3g} (at most "
            f"{CONSTRAINT_TOLERANCE:g} is allowed); take nearest_rotation() of it first"
        )
    determinant = np.linalg.det(R)
    if (determinant < 0.0).any():
        where, _ = _largest(-determinant)
        raise ChartError(
            f"matrix{where} is a reflection (its determinant is -1); a rotation has determinant +1"
        )
    return R


def as_floats(what: str, values: ArrayLike) -> Array:
    """``values`` as a float array, or an error that says ``what`` they should be."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ChartError(f"{what} must be an array of numbers with rows of equal length") from None


def check_coordinates(chart: str, values: ArrayLike, names: tuple[str, ...]) -> Array:
    """``values`` as a finite float array of shape (..., len(names))."""
    chi = as_floats(f"coordinates of chart '{chart}'", values)
    if chi.ndim == 0 or chi.shape[-1] != len(names):
        raise ChartError(
            f"coordinates of chart '{chart}' have shape {chi.shape}; the last axis must have "
            f"{len(names)} entries ({', '.join(names)})"
        )
    if not np.isfinite(chi).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(chi))[0])
        raise ChartError(
            f"coordinate '{names[where[-1]]}' of chart '{chart}' is {chi[where]}; "
            "every coordinate must be finite"
        )
    return chi


def check_regular(chart: str, determinant: Array, reason: str) -> None:
    """Raise if a rate map with this ``determinant`` (...) cannot be inverted."""
    if np.any(np.abs(determinant) < SINGULARITY_MARGIN):
        where, _ = _largest(-np.abs(determinant))
        raise ChartError(
            f"chart '{chart}' is singular{' at sample ' + where if where else ' here'} ({reason}), "
            "so the rates that belong to an angular velocity are not defined; use 'quaternion' or "
            "'rotation_matrix', which have no singularity"
        )


def _check_shape_and_finite(matrix: ArrayLike) -> Array:
    m = as_floats("a rotation matrix", matrix)
    if m.shape[-2:] != (3, 3):
        raise ChartError(f"a rotation matrix has shape (..., 3, 3), not {m.shape}")
    if not np.isfinite(m).all():
        raise ChartError(
            "a rotation matrix has entries that are not finite; check where it is made"
        )
    return m


def _largest(values: Array) -> tuple[str, float]:
    """Index (as text, empty for a single sample) and value of the largest entry."""
    index = np.unravel_index(int(np.argmax(values)), np.shape(values))
    text = f"[{', '.join(str(int(i)) for i in index)}]" if index else ""
    return text, float(values[index])
