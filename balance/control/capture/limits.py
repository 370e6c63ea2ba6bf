"""Ends of the joints' ranges as bounds on accelerations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.free_motion import FreeMotion
from balance.robots import Robot

Array = NDArray[np.float64]

LOOKAHEAD_S = 0.15  # within this time a joint must be able to come to rest before its end
MARGIN_RAD = 0.02  # kept from the end
STRONGEST = 300.0  # rad/s^2; no harder braking is asked for
FAR = 150.0  # rad/s^2; a joint whose bounds are wider needs none


class JointLimits:
    """Bounds under which no joint would be past its end after ``LOOKAHEAD_S``."""

    def __init__(self, robot: Robot) -> None:
        self._lower = robot.model.lowerPositionLimit[7:] + MARGIN_RAD
        self._upper = robot.model.upperPositionLimit[7:] - MARGIN_RAD

    def rows(self, free: FreeMotion, joints: Array, rates: Array) -> tuple[Array, Array]:
        """C and d with C x >= d where the bounds of the joints near an end are kept."""
        ahead = joints + LOOKAHEAD_S * rates
        upper = np.maximum((self._upper - ahead) * 2.0 / LOOKAHEAD_S**2, -STRONGEST)
        lower = np.minimum((self._lower - ahead) * 2.0 / LOOKAHEAD_S**2, STRONGEST)
        near = np.flatnonzero((upper < FAR) | (lower > -FAR))
        Z = np.zeros((len(near), free.n_x))
        Z[:, : free.n_y] = free.Z[6 + near]
        a_0 = free.a_0[6 + near]
        return np.concatenate([Z, -Z]), np.concatenate([lower[near] - a_0, a_0 - upper[near]])
