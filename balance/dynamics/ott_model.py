"""The model of Ott et al. that Garofalo2015 improves on: CoM velocity and base rotation (35).

The CoM is decoupled, the rotation of the base is not: M_12 couples it to the joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.base_frame import change_base
from balance.dynamics.checks import Array


@dataclass(frozen=True, slots=True)
class OttModel:
    """Terms of M dv_c/dt + C v_c + gravity = (0, 0, tau) + sum_i J_i^T w_i, Garofalo2015 (35)."""

    M: Array
    """(nv, nv) diag(m E, [M_11 M_12; M_12^T M_22])."""
    C: Array
    """(nv, nv) Coriolis matrix; its first three rows vanish."""
    gravity: Array
    """(nv,) (m g e_g, 0, 0)."""
    v_c: Array
    """(nv,) velocity of the CoM, angular velocity of the base in world axes, joint velocities."""
    to_v: Array
    """(nv, nv) v = to_v v_c with Pinocchio's v; so J_i of (35) is Pinocchio's J_i times to_v."""

    @property
    def M_11(self) -> Array:
        """(3, 3) inertia against rotating the base, joints and CoM held, kg m^2."""
        return self.M[3:6, 3:6]

    @property
    def M_12(self) -> Array:
        """(3, nj) what is left coupled: base rotation and joints."""
        return self.M[3:6, 6:]


def ott_model(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> OttModel:
    """The model (35) at a state: the base change of Traversaro2016 (36)-(38) to G[B].

    Differs: the joint block is printed as Lambda_q, the inertia of the joints at constant
    momentum.  With the base's rotation as a coordinate it is M_22 = Lambda_q + M_12^T M_11^-1
    M_12, larger by what the coupling adds.
    """
    change = change_base(model, q, v, "G[B]", data=data)
    to_v = change.T_inv.copy()
    rotation = np.asarray(change.rotation)
    # T_inv ends in the base velocity with world axes; Pinocchio's has base axes.
    to_v[:3], to_v[3:6] = rotation.T @ to_v[:3], rotation.T @ to_v[3:6]
    return OttModel(change.M, change.C, change.G, change.nu, to_v)
