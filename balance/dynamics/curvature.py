"""The curvature of the mechanical connection, Saccon2017 (20), without finite differences.

Let S_i be the axis of joint i and Y_i the composite inertia of all that it carries, both in base
axes, so that the momentum of joint i is A_i = Y_i S_i and L is the inertia of everything.  Turning
joint j carries its subtree along as one body, hence

    dY/ds_j = D_j  :=  S_j x* Y_j - Y_j S_j x     for L and every Y_i with j in the subtree of i,
    dA_i/ds_j = D_j S_i                           for j in the subtree of i (j = i included),
    dA_i/ds_j = S_j x* A_i                        for i beyond j, since A_i is carried along,

and zero for joints of different branches.  With the connection a_i = L^-1 A_i,

    da_i/ds_j = L^-1 (dA_i/ds_j - D_j a_i),
    B_ij = da_i/ds_j - da_j/ds_i + a_i x a_j.

After one sweep of composite inertias the tensor costs a fixed number of operations per pair.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.dynamics.connection import (
    MechanicalConnection,
    check_one_dof_joints,
    connection_at,
    shape_configuration,
)


def curvature(model: pin.Model, s: ArrayLike, data: pin.Data | None = None) -> Array:
    """(nj, nj, 6) curvature B_ij at the joint positions ``s`` (nj,), Saccon2017 (20).

    ``B[i, j]`` is a twist in base axes about the base origin, linear part first: a small loop of
    area da that leaves along s_i and returns along s_j (in the sense i to j) turns the centroidal
    frame by the twist -B_ij da, a pure rotation about the CoM.  For two revolute joints the
    angular part is in rad/rad^2 and the linear part in m/rad^2.  The centroidal frame is a
    function of the configuration if and only if B vanishes for every pair and every s.
    ``data`` is overwritten; without it a new one is made.
    """
    return curvature_from(*connection_derivatives(model, s, data))


def curvature_from(terms: MechanicalConnection, derivatives: Array) -> Array:
    """(nj, nj, 6) curvature (20) from the connection and its derivatives ``[i, j]`` by s_j."""
    a = terms.connection
    brackets = np.matmul(motion_cross(a), a).transpose(0, 2, 1)
    # The second covariant derivative (35): its antisymmetric part is B to the last bit.
    second = derivatives + 0.5 * brackets
    return second - second.transpose(1, 0, 2)


def connection_derivatives(
    model: pin.Model, s: ArrayLike, data: pin.Data | None = None
) -> tuple[MechanicalConnection, Array]:
    """The connection at ``s`` and its derivatives ``[i, j] = d a_i / d s_j`` (nj, nj, 6)."""
    check_one_dof_joints(model)
    data = pin.Data(model) if data is None else data
    q = shape_configuration(model, check_vector("s", s, model.nv - 6))
    terms = connection_at(model, data, q)
    return terms, derivatives_from(terms, *momentum_derivatives(model, data, terms.A))


def derivatives_from(terms: MechanicalConnection, dL: Array, dA: Array) -> Array:
    """(nj, nj, 6) ``[i, j] = d a_i / d s_j = L^-1 (dA_i/ds_j - dL/ds_j a_i)``."""
    nj = len(dL)
    change = dA - np.matmul(dL, terms.connection)
    rows = change.transpose(1, 2, 0).reshape(6, nj * nj)
    return np.linalg.solve(terms.L, rows).reshape(6, nj, nj).transpose(1, 2, 0)


def momentum_derivatives(model: pin.Model, data: pin.Data, A: Array) -> tuple[Array, Array]:
    """``dL[j] = dL/ds_j`` (nj, 6, 6) and ``dA[j] = dA/ds_j`` (nj, 6, nj).

    ``data`` is the one that :func:`connection_at` filled, and ``A`` (6, nj) what it gave.
    """
    S = data.J[:, 6:]
    S_cross = motion_cross(S)
    Y = np.array([data.oYcrb[joint].matrix() for joint in range(2, model.njoints)])
    Y_S_cross = np.matmul(Y.reshape(-1, 6, 6), S_cross)
    # S x* = -(S x)^T and Y is symmetric, so S x* Y is minus the transpose of Y S x.
    dL = -(Y_S_cross + Y_S_cross.transpose(0, 2, 1))

    carries = ancestors(model)
    beyond = carries & ~np.eye(len(carries), dtype=bool)
    from_subtree = np.matmul(dL, S) * carries.T[:, None, :]
    carried_along = np.matmul(S_cross.transpose(0, 2, 1), A) * beyond[:, None, :]
    return dL, from_subtree - carried_along


def ancestors(model: pin.Model) -> np.ndarray:
    """(nj, nj) booleans: ``[i, j]`` says that joint i carries joint j; a joint carries itself."""
    carries = np.eye(model.nv - 6, dtype=bool)
    for joint, parent in enumerate(model.parents.tolist()[2:]):
        if parent > 1:
            carries[:, joint] |= carries[:, parent - 2]
    return carries


def motion_cross(twists: Array) -> Array:
    """(n, 6, 6) matrices of the 6D cross product with each column of ``twists`` (6, n)."""
    v, w = _skew(twists[:3]), _skew(twists[3:])
    cross = np.zeros((twists.shape[1], 6, 6))
    cross[:, :3, :3] = w
    cross[:, :3, 3:] = v
    cross[:, 3:, 3:] = w
    return cross


def _skew(vectors: Array) -> Array:
    """(n, 3, 3) cross-product matrices of the columns of ``vectors`` (3, n)."""
    x, y, z = vectors
    skew = np.zeros((vectors.shape[1], 3, 3))
    skew[:, 0, 1], skew[:, 1, 0] = -z, z
    skew[:, 0, 2], skew[:, 2, 0] = y, -y
    skew[:, 1, 2], skew[:, 2, 1] = -x, x
    return skew
