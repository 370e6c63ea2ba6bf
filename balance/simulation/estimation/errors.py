"""Errors of an estimated base and what the filter thinks of them, for many instants at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from balance.simulation.estimation.invariant_filter import POSITION, ROTATION, VELOCITY

Array = NDArray[np.float64]


def base_errors(estimates: Array, truths: Array) -> Array:
    """Errors (n, 9) of base states (n, 13): position, rotation vector, velocity; world axes.

    A state is position, quaternion, linear and angular velocity in base axes.
    """
    R_est, R = Rotation.from_quat(estimates[:, 3:7]), Rotation.from_quat(truths[:, 3:7])
    turn = (R_est * R.inv()).as_rotvec()
    velocity = R_est.apply(estimates[:, 7:10]) - R.apply(truths[:, 7:10])
    return np.concatenate([estimates[:, :3] - truths[:, :3], turn, velocity], axis=1)


def plain_stds(spreads: Array) -> Array:
    """Standard deviations (n, 9) of the errors of position, rotation and velocity, world axes.

    ``spreads`` (n, 87) are position, velocity and the covariance (9, 9) of the invariant errors of
    the body.  To first order p_est - p = xi_p - p x xi_R, and alike for v.
    """
    n = len(spreads)
    T = np.zeros((n, 9, 9))
    T[:, 0:3, POSITION] = T[:, 3:6, ROTATION] = T[:, 6:9, VELOCITY] = np.eye(3)
    T[:, 0:3, ROTATION] = -_skew(spreads[:, :3])
    T[:, 6:9, ROTATION] = -_skew(spreads[:, 3:6])
    covariances = T @ spreads[:, 6:].reshape(n, 9, 9) @ T.transpose(0, 2, 1)
    return np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 0.0))


def _skew(a: Array) -> Array:
    """Matrices (n, 3, 3) of the cross products with vectors (n, 3)."""
    zero = np.zeros(len(a))
    rows = [zero, -a[:, 2], a[:, 1], a[:, 2], zero, -a[:, 0], -a[:, 1], a[:, 0], zero]
    return np.stack(rows, axis=1).reshape(-1, 3, 3)
