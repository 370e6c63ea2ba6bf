"""What the laws share that feed back velocities where the momentum law feeds back momenta."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot

Array = NDArray[np.float64]


def velocity_gains(K_D: Array, D: Array, robot: Robot) -> tuple[Array, Array]:
    """Gains on velocities, N s/m and N m s/rad, from those on momenta, both in 1/s.

    With m the mass and I = S^2 the locked inertia about the CoM in the nominal posture they are
    m K_D and S D S: symmetric positive definite, and with the joints locked they slow the robot
    down at rates that are the eigenvalues of K_D and D, as K_D p and D l do.  (D I, which is what D
    on the momentum comes to, has those rates too but is not symmetric.)

    What faces S D S is the inertia of the base with its joints free, which is less than I.  On a
    robot with a light pelvis below a waist that yields (G1) the gains of Table 1 need a control
    rate of 2 kHz.
    """
    model, data = robot.model, robot.model.createData()
    pin.ccrba(model, data, robot.q_nominal, np.zeros(model.nv))
    moments, axes = np.linalg.eigh(data.Ig.inertia)
    S = (axes * np.sqrt(moments)) @ axes.T
    return robot.mass * K_D, S @ D @ S
