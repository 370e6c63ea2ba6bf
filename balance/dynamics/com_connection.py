"""The connection seen from the CoM with the axes of the base, as Saccon2017 VI recommends.

In the frame G[B] the locked inertia is block diagonal, diag(m E, I(s)), and still a function of
the shape alone.  The linear momentum is m times the velocity of the frame's origin, so the
connection has no linear part: what is left are three rows,

    omega_loc = omega + a(s) ds,        a = I^-1 A_l,                          (3, nj)

a connection on SO(3) in place of SE(3).  Its curvature da_i/ds_j - da_j/ds_i + a_i x a_j is the
angular part of (20): the frame's origin is the CoM whatever the joints do (36), so nothing is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.dynamics.connection import check_one_dof_joints, connection_at, shape_configuration
from balance.dynamics.curvature import momentum_derivatives


@dataclass(frozen=True, slots=True)
class ComConnection:
    """Locked inertia and connection about the CoM at a shape s, axes of the base."""

    mass: float
    """Total mass, kg: the linear block of the locked inertia is m E."""
    com: Array
    """(3,) CoM in the base frame, m."""
    com_jacobian: Array
    """(3, nj) dcom/ds with the base held."""
    inertia: Array
    """(3, 3) locked inertia about the CoM, kg m^2: the angular block."""
    A: Array
    """(3, nj) angular momentum about the CoM per joint rate with the base held."""
    connection: Array
    """(3, nj) I^-1 A: the locked angular velocity per joint rate."""

    @property
    def locked_inertia(self) -> Array:
        """(6, 6) diag(m E, I)."""
        L = np.zeros((6, 6))
        L[:3, :3] = self.mass * np.eye(3)
        L[3:, 3:] = self.inertia
        return L


def com_connection(model: pin.Model, s: ArrayLike, data: pin.Data | None = None) -> ComConnection:
    """Locked inertia and connection in the frame G[B] at the joint positions ``s`` (nj,)."""
    check_one_dof_joints(model)
    data = pin.Data(model) if data is None else data
    connection_at(model, data, shape_configuration(model, check_vector("s", s, model.nv - 6)))
    return _from_data(data)


def com_curvature(model: pin.Model, s: ArrayLike, data: pin.Data | None = None) -> Array:
    """(nj, nj, 3) curvature of the connection on SO(3): the angular part of (20), rad/rad^2.

    Computed with 3 x 3 inertias about the moving CoM, without the connection on SE(3).
    """
    check_one_dof_joints(model)
    data = pin.Data(model) if data is None else data
    q = shape_configuration(model, check_vector("s", s, model.nv - 6))
    A_base = connection_at(model, data, q).A
    terms = _from_data(data)
    dL, dA = momentum_derivatives(model, data, A_base)
    c, dc = terms.com, terms.com_jacobian
    # About the CoM: l = l_B - c x p, I = I_B + m c^ c^; both with c(s).
    dp, dl = dA[:, :3], dA[:, 3:]
    dA_com = dl - np.cross(c, dp, axisb=1, axisc=1)
    dA_com -= np.cross(dc.T[:, :, None], A_base[None, :3, :], axis=1)
    c_hat = pin.skew(c)
    dc_hat = np.array([pin.skew(column) for column in dc.T]).reshape(-1, 3, 3)
    dI = dL[:, 3:, 3:] + terms.mass * (dc_hat @ c_hat + c_hat @ dc_hat)

    a, nj = terms.connection, model.nv - 6
    change = (dA_com - dI @ a).transpose(1, 2, 0).reshape(3, nj * nj)
    da = np.linalg.solve(terms.inertia, change).reshape(3, nj, nj).transpose(1, 2, 0)
    brackets = np.cross(a.T[:, None, :], a.T[None, :, :])
    return da - da.transpose(1, 0, 2) + brackets


def _from_data(data: pin.Data) -> ComConnection:
    """The terms from the ``data`` that :func:`connection_at` filled, base frame on the world's."""
    mass, inertia = float(data.Ig.mass), np.array(data.Ig.inertia)
    A = np.array(data.Ag[3:, 6:])
    com_jacobian = np.array(data.Ag[:3, 6:]) / mass
    connection = np.linalg.solve(inertia, A)
    return ComConnection(mass, data.com[0].copy(), com_jacobian, inertia, A, connection)
