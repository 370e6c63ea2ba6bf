"""The equations of motion in the locked velocity: Lagrange-Poincare form, Saccon2017 III-D.

With the locked velocity Omega = v + a ds (13), a = L^-1 A, in place of the base velocity the
kinetic energy has no mixed terms, and the mass matrix is diag(L, S - A^T L^-1 A).  Omega is no
derivative of coordinates, so the equations are not Euler and Lagrange's.  Variations that move the
base by -a delta s (which keep the momentum) change Omega by

    delta Omega = sum_ij B_ij ds_i delta s_j - sum_j Omega x a_j delta s_j

with the curvature B of (20).  Hence, with p = L Omega, S' = S - A^T L^-1 A and the forces f on the
base (base axes) and tau on the joints,

    dp/dt + (Omega - a ds) x* p = f
    d/dt (S' ds)_j - ds^T (dS'/ds_j) ds / 2 - Omega^T (dL/ds_j) Omega / 2
        - p . (sum_i B_ij ds_i - Omega x a_j) = tau_j - a_j . f

The curvature is what couples the momentum to the shape.  Without momentum the joints obey the
plain equations of a fixed-base mechanism with the inertia S'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_state, check_vector, symmetrise
from balance.dynamics.connection import MechanicalConnection, check_one_dof_joints, connection_at
from balance.dynamics.curvature import curvature_from, derivatives_from, motion_cross
from balance.dynamics.hamel import mass_matrix_derivatives


@dataclass(frozen=True, slots=True)
class LagrangePoincare:
    """diag(L, S') (dOmega/dt, dds/dt) + bias = T^-T (f, tau), base axes."""

    T: Array
    """(nv, nv) [E a; 0 E]: (Omega, ds) = T (v, ds) (13)."""
    Omega: Array
    """(6,) locked velocity, base axes, m/s and rad/s."""
    M: Array
    """(nv, nv) block diagonal mass matrix diag(L, S - A^T L^-1 A)."""
    bias: Array
    """(nv,) velocity terms, N and N m."""
    T_rate: Array
    """(nv, nv) time derivative of T along the motion."""

    def forces(self, generalised: ArrayLike) -> Array:
        """(nv,) forces (f, tau - a^T f) of these equations from ``(f, tau)`` of (6)-(7)."""
        forces = check_vector("generalised", generalised, len(self.bias)).copy()
        forces[6:] -= self.T[:6, 6:].T @ forces[:6]
        return forces

    def acceleration(self, generalised: ArrayLike) -> Array:
        """(nv,) dOmega/dt and dds/dt under the generalised forces ``(f, tau)`` of (6)-(7)."""
        rhs = self.forces(generalised) - self.bias
        return np.concatenate(
            [
                np.linalg.solve(self.M[:6, :6], rhs[:6]),
                np.linalg.solve(self.M[6:, 6:], rhs[6:]),
            ]
        )


def lagrange_poincare(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> LagrangePoincare:
    """The equations of motion in the locked velocity at a state, Saccon2017 III-D.

    Gravity and contacts belong to the forces (f, tau).  ``data`` is overwritten.
    """
    q, v = check_state(model, q, v)
    check_one_dof_joints(model)
    data = pin.Data(model) if data is None else data
    S = symmetrise(pin.crba(model, data, q))[6:, 6:]
    terms = connection_at(model, data, q)
    dM = mass_matrix_derivatives(model, data, terms.A)
    da = derivatives_from(terms, dM[:, :6, :6], dM[:, :6, 6:])
    a, ds = terms.connection, v[6:]
    Omega = v[:6] + a @ ds

    T = np.eye(model.nv)
    T[:6, 6:] = a
    T_rate = np.zeros_like(T)
    T_rate[:6, 6:] = np.einsum("ijk,j->ki", da, ds)
    M = np.zeros_like(T)
    M[:6, :6], M[6:, 6:] = terms.L, S - terms.A.T @ a
    bias = np.concatenate(
        [
            np.tensordot(ds, dM[:, :6, :6], 1) @ Omega
            + pin.Motion(v[:6]).cross(pin.Force(terms.L @ Omega)).vector,
            _shape_bias(terms, dM, da, Omega, ds),
        ]
    )
    return LagrangePoincare(T, Omega, M, bias, T_rate)


def _shape_bias(
    terms: MechanicalConnection, dM: Array, da: Array, Omega: Array, ds: Array
) -> Array:
    """(nj,) velocity terms of the joints."""
    A, a = terms.A, terms.connection
    # S' = S - A^T a; da/ds_k is da[:, k] with columns first.
    change = dM[:, 6:, :6] @ a + np.matmul(A.T, da.transpose(1, 2, 0))
    dS = dM[:, 6:, 6:] - change
    turned = np.einsum("ijk,i->jk", curvature_from(terms, da), ds)
    carried = (motion_cross(Omega[:, None])[0] @ a).T
    return (
        np.tensordot(ds, dS, 1) @ ds
        - 0.5 * np.einsum("kij,i,j->k", dS, ds, ds)
        - 0.5 * np.einsum("kij,i,j->k", dM[:, :6, :6], Omega, Omega)
        - (turned - carried) @ (terms.L @ Omega)
    )
