"""Contact with a soft environment: a spring and a damper at the point of first touch."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array
from balance.errors import InputError


def soft_contact_force(
    position: ArrayLike,
    rest_position: ArrayLike,
    velocity: ArrayLike,
    stiffness: ArrayLike,
    damping: ArrayLike,
) -> Array:
    """Force on the environment (N) of a contact point that sinks into it; RobotDynamicsETH (3.57).

    ``position`` and ``velocity`` are those of the point in world axes (..., 3), ``rest_position``
    is where it first touched.  ``stiffness`` (N/m) and ``damping`` (N s/m) are one number, or one
    per axis.  The law is linear and also pulls: whoever wants a unilateral contact or friction
    bounds the force.
    """
    r, r_0, v = (np.asarray(x, dtype=float) for x in (position, rest_position, velocity))
    k_p, k_d = np.asarray(stiffness, dtype=float), np.asarray(damping, dtype=float)
    for name, value in (("position", r), ("rest_position", r_0), ("velocity", v)):
        if value.shape[-1:] != (3,):
            raise InputError(f"{name} has shape {value.shape}; expected (..., 3)")
    for name, value in (("stiffness", k_p), ("damping", k_d)):
        if value.shape not in ((), (3,)):
            raise InputError(f"{name} has shape {value.shape}; expected one number or (3,)")
        if not (np.isfinite(value).all() and (value >= 0.0).all()):
            raise InputError(f"{name} is {value.tolist()}; it must be finite and not negative")
    return k_p * (r - r_0) + k_d * v
