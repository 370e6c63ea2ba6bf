"""The rotational spring between the base and its desired orientation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def relative_quaternion(desired: Array, actual: Array) -> tuple[float, Array]:
    """Scalar and vector part of the quaternion of R_d^T R_B, with the scalar not negative.

    Both arguments are unit quaternions (x, y, z, w).
    """
    ax, ay, az, aw = (-desired[0], -desired[1], -desired[2], desired[3])
    bx, by, bz, bw = actual
    w = aw * bw - ax * bx - ay * by - az * bz
    vector = np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )
    return (w, vector) if w >= 0.0 else (-w, -vector)


def spring_torque(K_R: Array, delta: float, eps: Array) -> Array:
    """Restoring torque (3,) in the axes of the desired frame, N m; tau_P below Garofalo2015 (39).

    It is minus the gradient of V = 2 eps^T K_R eps.

    Differs: (39) as printed subtracts tau_P, which would push away from the desired orientation;
    here it is added.  The cross product has its printed sign in the axes of the desired frame, so
    the caller rotates the result by R_d to get world axes.
    """
    stretched = K_R.dot(eps)
    ex, ey, ez = eps
    sx, sy, sz = stretched
    cross = np.array([ey * sz - ez * sy, ez * sx - ex * sz, ex * sy - ey * sx])
    return -2.0 * (delta * stretched + cross)


def rotation_vector(delta: float, eps: Array) -> Array:
    """Angle times axis (3,) of a unit quaternion with non-negative scalar part, rad."""
    sine = float(np.sqrt(eps @ eps))
    if sine < 1e-12:
        return 2.0 * eps
    return (2.0 * np.arctan2(sine, delta) / sine) * eps
