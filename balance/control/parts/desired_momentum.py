"""How fast the desired angular momentum l_d = I_l omega_d changes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.control.parts.setpoints import Desired

Array = NDArray[np.float64]


def desired_angular_momentum_rate(
    model: pin.Model, data: pin.Data, q: Array, v: Array, desired: Desired
) -> Array:
    """dI_l/dt omega_d + I_l d omega_d/dt (3,), N m in world axes; ``data`` is overwritten.

    The columns of A_l for the base's rotation are I_l R_WB, whose derivative gives dI_l/dt =
    dA_l/dt R_WB^T - I_l [omega x], with omega the angular velocity of the base in world axes.
    """
    pin.dccrba(model, data, q, v)
    R_WB, inertia = data.oMi[1].rotation, data.Ig.inertia
    inertia_rate = data.dAg[3:, 3:6].dot(R_WB.T) - inertia.dot(pin.skew(R_WB.dot(v[3:6])))
    return np.asarray(
        inertia_rate.dot(desired.angular_velocity) + inertia.dot(desired.angular_acceleration)
    )
