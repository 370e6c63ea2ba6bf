"""Gains as matrices, scaled to the robot at hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.config import Gains, gain_matrix
from balance.robots import Robot

Array = NDArray[np.float64]


def gain_matrices(gains: Gains, robot: Robot) -> tuple[Array, Array, Array, Array]:
    """K_P (N/m), K_D (1/s), K_R (N m) and D (1/s) as 3 x 3 matrices.

    A robot of mass m and CoM height z falls with the time constant sqrt(z / g).  Gains designed for
    (m_0, z_0) keep their meaning on another robot when time is measured in that unit, length in z
    and mass in m: stiffness scales with m / z, damping rates with sqrt(1 / z) and rotational
    stiffness with m z.
    """
    K_P, K_D = gain_matrix(gains.K_P), gain_matrix(gains.K_D)
    K_R, D = gain_matrix(gains.K_R), gain_matrix(gains.D)
    if gains.designed_for is None:
        return K_P, K_D, K_R, D
    mass = robot.mass / gains.designed_for.mass_kg
    size = float(robot.com()[2]) / gains.designed_for.com_height_m
    rate = size**-0.5
    return mass / size * K_P, rate * K_D, mass * size * K_R, rate * D
