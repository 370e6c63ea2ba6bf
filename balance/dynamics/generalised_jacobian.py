"""The generalised Jacobian: how a link moves with the joints while the momentum stays zero.

Garofalo2015 section 4.1 and (33), after Umetani and Yoshida.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.base_velocity import base_velocity
from balance.dynamics.checks import Array, check_state
from balance.dynamics.decoupled import inverse_of_A_Q


def generalised_jacobian(
    model: pin.Model, q: ArrayLike, frame: str, data: pin.Data | None = None
) -> Array:
    """(6, nj) J_e Q^{+M} = J_eq - J_eb M_b^-1 M_c of ``frame``, Garofalo2015 (33).

    Velocity of the frame's origin (m/s) and angular velocity (rad/s) in world axes per unit of
    joint velocity.

    Differs: Q^{+M} is taken from the centroidal momentum matrix, so the mass matrix is not
    needed.  The partition of M printed above (33) has Lambda_q as its joint block; that block is
    M_q, and Lambda_q = M_q - M_c^T M_b^-1 M_c.
    """
    q, v = check_state(model, q, np.zeros(model.nv))
    data = model.createData() if data is None else data
    J = base_velocity(model, data, q, v, frame).J
    return J @ inverse_of_A_Q(data.Ag)[:, 6:]
