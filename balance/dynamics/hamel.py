"""Hamel's equations of a floating-base robot, Saccon2017 (3)-(8).

The left-trivialised Lagrangian l = nu^T M(s) nu / 2 with nu = (v, ds) and M = [L A; A^T S] does not
know the pose of the base.  Its equations of motion are Newton and Euler's for the base and Euler
and Lagrange's for the joints,

    d/dt dl/dv  + v x* dl/dv = wrench on the base,                         (4), (6)
    d/dt dl/dds - dl/ds      = joint forces,                               (5), (7)

with dl/ds_k = nu^T (dM/ds_k) nu / 2.  No Coriolis matrix appears: only derivatives of M, which are
closed forms in the joint axes and composite inertias.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import (
    Array,
    check_floating_base,
    check_state,
    check_vector,
    frame_id,
    symmetrise,
)
from balance.dynamics.connection import check_one_dof_joints, connection_at
from balance.dynamics.curvature import ancestors, momentum_derivatives

_MIXED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


@dataclass(frozen=True, slots=True)
class HamelTerms:
    """The mass matrix of (3) and its derivatives by the joints, base axes about the base origin."""

    M: Array
    """(nv, nv) [L A; A^T S] of (3), rotor inertias on the diagonal of S."""
    dM: Array
    """(nj, nv, nv) derivatives dM/ds_k."""
    v: Array
    """(nv,) velocity nu = (v, ds), Pinocchio's."""

    @property
    def momenta(self) -> Array:
        """(nv,) dl/dv, the momentum about the base, then dl/dds, those of the joints."""
        return self.M @ self.v

    @property
    def shape_gradient(self) -> Array:
        """(nj,) dl/ds_k = nu^T (dM/ds_k) nu / 2."""
        return 0.5 * np.einsum("kij,i,j->k", self.dM, self.v, self.v)

    def left_side(self, acceleration: ArrayLike) -> Array:
        """(nv,) left sides of (4) and (5) at the acceleration dnu/dt."""
        a = check_vector("acceleration", acceleration, len(self.v))
        base_momentum = pin.Force(self.momenta[:6])
        rate = self.M @ a + np.tensordot(self.v[6:], self.dM, 1) @ self.v
        rate[:6] += pin.Motion(self.v[:6]).cross(base_momentum).vector
        rate[6:] -= self.shape_gradient
        return rate


def hamel_terms(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> HamelTerms:
    """The terms of Hamel's equations at a state, Saccon2017 (3)-(5); ``data`` is overwritten."""
    q, v = check_state(model, q, v)
    check_one_dof_joints(model)
    data = pin.Data(model) if data is None else data
    M = symmetrise(pin.crba(model, data, q))
    A = connection_at(model, data, q).A
    return HamelTerms(M, mass_matrix_derivatives(model, data, A), v)


def hamel_forces(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    acceleration: ArrayLike,
    data: pin.Data | None = None,
) -> Array:
    """(nv,) wrench on the base and joint forces for an acceleration, gravity included, (6)-(7).

    What ``pin.rnea`` computes, from the Lagrangian instead of link by link.
    """
    q, v = check_state(model, q, v)
    data = pin.Data(model) if data is None else data
    left = hamel_terms(model, q, v, data).left_side(acceleration)
    return left - potential_forces(model, q, data)


def potential_forces(model: pin.Model, q: ArrayLike, data: pin.Data | None = None) -> Array:
    """(nv,) H^-1 dl/dH of (6), then the share of gravity in dl/ds of (7), N and N m.

    The potential is -m g . p_com, so both follow from the Jacobian of the CoM.
    """
    q = check_vector("q", q, model.nq)
    data = pin.Data(model) if data is None else data
    weight = pin.computeTotalMass(model) * model.gravity.linear
    forces: Array = pin.jacobianCenterOfMass(model, data, q).T @ weight
    return forces


def contact_parts(
    model: pin.Model, q: ArrayLike, frame: str, data: pin.Data | None = None
) -> tuple[Array, Array]:
    """Pose part X (6, 6) and shape part S (6, nj) of a contact Jacobian, Saccon2017 (8).

    The velocity of the frame's origin and its angular velocity, world axes, are X v + S ds.  A
    wrench f there acts on the base with X^T f (6) and on the joints with S^T f (7).
    """
    check_floating_base(model)
    q = check_vector("q", q, model.nq)
    data = pin.Data(model) if data is None else data
    J = pin.computeFrameJacobian(model, data, q, frame_id(model, frame), _MIXED)
    return J[:, :6].copy(), J[:, 6:].copy()


def mass_matrix_derivatives(model: pin.Model, data: pin.Data, A: Array) -> Array:
    """(nj, nv, nv) dM/ds_k of all blocks of (3).

    ``data`` is the one that :func:`connection_at` filled, and ``A`` (6, nj) what it gave.  For a
    joint i that carries j, S_ij = S_i . A_j with the axis S_i; it changes with s_k only if i
    carries k, since joints nearer to the base move axis and momentum together.
    """
    nj = model.nv - 6
    dL, dA = momentum_derivatives(model, data, A)
    carries = ancestors(model)
    axes = data.J[:, 6:]
    upper = np.matmul(axes.T, dA) * carries * carries.T[:, :, None]
    dS = upper + upper.transpose(0, 2, 1)
    dS[:, range(nj), range(nj)] *= 0.5
    dM = np.zeros((nj, model.nv, model.nv))
    dM[:, :6, :6], dM[:, 6:, 6:] = dL, dS
    dM[:, :6, 6:], dM[:, 6:, :6] = dA, dA.transpose(0, 2, 1)
    return dM
