"""Springs and dampers on a point and an orientation: the right sides of Garofalo2015 (36), (39).

    force  = offset - K_P (x - x_d) - K_D y
    torque = R_d tau_P - D w,     tau_P = -2 (delta K_R eps + eps x K_R eps)

with x the point, y and w linear and angular rates, and (delta, eps) the quaternion of R_d^T R_B.
The spring's torque is minus the gradient of V = 2 eps^T K_R eps.

Differs: (36) and (39) as printed subtract tau_P, which would push away from the desired
orientation; here it is added.  Its cross product has the printed sign in the axes of the desired
frame, so R_d turns it to world axes.

As one product with the state: the torque of the spring is linear in the axes b_i of the base, the
columns of R_B.  With the columns n_i of N = R_d (tr(K_R)/2 E - K_R), K_R symmetric,

    R_d tau_P = sum_i b_i x n_i,

for [tau_P]x = T R^T - R T, where R = R_d^T R_B and T = tr(K_R)/2 E - K_R.  So both lines are linear
in z = (x, y, w, b_1, b_2, b_3, 1), and a law needs one product with a matrix (6, 19) that changes
only with the setpoint:

    [force ]   [ -K_P  -K_D   0   0         offset + K_P x_d ]
    [torque] = [  0     0    -D   spring    0                ] z
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.setpoints import Desired
from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]


class Feedback:
    """Force and torque of springs to a desired point and orientation, and of dampers to rest."""

    def __init__(self, K_P: Array, K_D: Array, K_R: Array, D: Array, offset: Array) -> None:
        self._K_P, self._K_R, self._offset = K_P, K_R, offset
        self._map, self._state = np.zeros((6, 19)), np.ones(19)
        self._axes = self._state[9:18].reshape(3, 3)
        self._map[:3, :3], self._map[:3, 3:6], self._map[3:, 6:9] = -K_P, -K_D, -D
        self._desired: Desired | None = None

    def wrench(self, desired: Desired, point: Array, rates: Array, R_WB: Array) -> Array:
        """Force and torque (6,), N and N m in world axes; ``rates`` (6,) are linear, angular.

        ``R_WB`` (3, 3) has the base's axes.  A desired velocity is not subtracted.
        """
        if desired is not self._desired:
            self._aim(desired)
        return product(self._map, self._state, self._axes, point, rates, R_WB)

    def _aim(self, desired: Desired) -> None:
        """Write the columns of the matrix that change with the setpoint."""
        self._map[:3, 18] = self._offset + self._K_P.dot(desired.com)
        self._map[3:, 9:18] = spring_map(self._K_R, desired.rotation)
        self._desired = desired


@compiled
def product(matrix: Array, z: Array, axes: Array, point: Array, rates: Array, R_WB: Array) -> Array:
    """``matrix`` times z, which is written anew; ``axes`` (3, 3) are the b_i of it."""
    z[:3] = point
    z[3:9] = rates
    axes[...] = R_WB.T
    return matrix.dot(z)


def spring_map(K_R: Array, R_d: Array) -> Array:
    """(3, 9) matrix that takes the axes of the base, one after the other, to R_d tau_P."""
    N = R_d.dot(0.5 * np.trace(K_R) * np.eye(3) - K_R)
    return np.hstack([-pin.skew(n) for n in N.T])
