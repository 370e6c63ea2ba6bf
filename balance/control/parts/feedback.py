"""Springs and dampers on a point and an orientation: the right sides of Garofalo2015 (36), (39).

    force  = offset - K_P (x - x_d) - K_D y
    torque = R_d tau_P - D w,     tau_P = -2 (delta K_R eps + eps x K_R eps)

with x the point, y and w linear and angular rates, and (delta, eps) the quaternion of R_d^T R_B.
The spring's torque is minus the gradient of V = 2 eps^T K_R eps.

Differs: (36) and (39) as printed subtract tau_P, which would push away from the desired
orientation; here it is added.  Its cross product has the printed sign in the axes of the desired
frame, so R_d turns it to world axes.

As one product with the state: the torque of the spring is quadratic in the base's quaternion u,
every entry of it a weighted sum of the products u_i u_j; the sign of u does not matter.  So both
lines are linear in z = (x, y, w, all 16 u_i u_j, 1), and a law needs one product with a matrix
(6, 26) that changes only with the setpoint:

    [force ]   [ -K_P  -K_D   0   0         offset + K_P x_d ]
    [torque] = [  0     0    -D   spring    0                ] z
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.setpoints import Desired
from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import dot_into

Array = NDArray[np.float64]


class Feedback:
    """Force and torque of springs to a desired point and orientation, and of dampers to rest."""

    def __init__(self, K_P: Array, K_D: Array, K_R: Array, D: Array, offset: Array) -> None:
        self._K_P, self._K_R, self._offset = K_P, K_R, offset
        self._map, self._state = np.zeros((6, 26)), np.ones(26)
        self._squares = self._state[9:25].reshape(4, 4)
        self._map[:3, :3], self._map[:3, 3:6], self._map[3:, 6:9] = -K_P, -K_D, -D
        self._desired: Desired | None = None

    def wrench(self, desired: Desired, point: Array, rates: Array, quaternion: Array) -> Array:
        """Force and torque (6,), N and N m in world axes; ``rates`` (6,) are linear, angular.

        ``quaternion`` (x, y, z, w) is that of the base.  A desired velocity is not subtracted.
        """
        if desired is not self._desired:
            self._aim(desired)
        return product(self._map, self._state, self._squares, point, rates, quaternion)

    def _aim(self, desired: Desired) -> None:
        """Write the columns of the matrix that change with the setpoint."""
        self._map[:3, 25] = self._offset + self._K_P.dot(desired.com)
        self._map[3:, 9:25] = spring_map(self._K_R, desired.quaternion, desired.rotation)
        self._desired = desired


@compiled
def product(
    matrix: Array, z: Array, squares: Array, point: Array, rates: Array, quaternion: Array
) -> Array:
    """``matrix`` times z, which is written anew; ``squares`` (4, 4) are its products u_i u_j."""
    z[:3] = point
    z[3:9] = rates
    row = quaternion.reshape(1, 4)
    dot_into(row.T, row, squares)
    return matrix.dot(z)


def spring_map(K_R: Array, desired: Array, R_d: Array) -> Array:
    """(3, 16) matrix that takes the products u_i u_j, row by row, to R_d tau_P.

    With z = (eps, delta) the quaternion of R_d^T R_B, which is linear in u, component k of
    tau_P = -2 (delta K_R eps + eps x K_R eps) is -2 z^T S_k z.
    """
    x, y, z, w = desired
    relative = np.empty((4, 4))
    relative[:3, :3] = w * np.eye(3) - pin.skew(desired[:3])
    relative[:3, 3] = -desired[:3]
    relative[3] = x, y, z, w
    S = np.zeros((3, 4, 4))
    S[:, :3, 3] = K_R
    for i, axis in enumerate(np.eye(3)):
        S[:, i, :3] = pin.skew(axis).dot(K_R)
    in_u = relative.T @ S @ relative
    return np.asarray(-2.0 * R_d.dot(in_u.reshape(3, 16)))
