"""The inertially decoupled equations of motion of a floating-base robot, Garofalo2015 (12)-(26).

In the coordinates xi = (p, l, joint velocities) the inertia matrix is block diagonal::

    Lambda dxi/dt + Gamma xi + gravity = (0, 0, tau) + sum_i A_Q^-T J_i^T w_i
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_state, symmetrise
from balance.dynamics.momentum import locked_inertia


@dataclass(frozen=True, slots=True)
class DecoupledDynamics:
    """Every term of Garofalo2015 (25) at one state; nj = nv - 6 joints, SI units."""

    A: Array
    """(6, nv) centroidal momentum matrix [A_p; A_l], world axes about the CoM (2)."""
    A_Q: Array
    """(nv, nv) change of velocity coordinates [A; Q], xi = A_Q v (12)."""
    A_Q_inv: Array
    """(nv, nv) its inverse [A^{+M}, Q^{+M}] in closed form (13)."""
    Lambda_p: Array
    """(3, 3) inertia of the linear momentum, E / m (23), (28)."""
    Lambda_l: Array
    """(3, 3) inertia of the angular momentum, the inverse of the locked inertia (24)."""
    Lambda_q: Array
    """(nj, nj) inertia of the joints with the momentum held (17)."""
    Lambda: Array
    """(nv, nv) block diagonal of the three (15), (22), (25)."""
    Gamma: Array
    """(nv, nv) velocity terms (18), with dLambda/dt - 2 Gamma skew-symmetric."""
    gravity: Array
    """(nv,) gravity term (g e_g, 0, 0) of (26), m/s^2 in the first three rows."""
    h: Array
    """(6,) momentum A v: kg m/s, then kg m^2/s (2)."""
    xi: Array
    """(nv,) new velocity (h, joint velocities) (12)."""


def decoupled_dynamics(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> DecoupledDynamics:
    """The decoupled equations of motion (25) of ``model`` at ``(q, v)``.

    ``q`` (nq,) and ``v`` (nv,) follow Pinocchio: base velocity in base axes, linear part first.
    ``data`` is overwritten; without it a new one is made.

    Differs: the inverse of A_Q is assembled from A alone (see :func:`inverse_of_A_Q`), so that no
    inverse of the mass matrix is needed; and Gamma comes from Pinocchio's body-level
    factorisation of the Coriolis matrix, whose rows and columns of the linear momentum vanish, a
    decoupling of the velocity terms that the paper leaves open.
    """
    q, v = check_state(model, q, v)
    data = model.createData() if data is None else data
    pin.dccrba(model, data, q, v)
    mass, inertia = locked_inertia(model, data)
    A, dA = data.Ag.copy(), data.dAg.copy()
    M = symmetrise(pin.crba(model, data, q))
    C = pin.computeCoriolisMatrix(model, data, q, v)

    nv = model.nv
    A_Q = np.eye(nv)
    A_Q[:6] = A
    A_Q_inv = inverse_of_A_Q(A)

    Lambda_p = np.eye(3) / mass
    Lambda_l = np.asarray(np.linalg.inv(inertia), dtype=np.float64)
    Lambda_q = M[6:, 6:] + M[6:, :6] @ A_Q_inv[:6, 6:]
    Lambda_q = 0.5 * (Lambda_q + Lambda_q.T)
    Lambda = np.zeros((nv, nv))
    Lambda[:3, :3], Lambda[3:6, 3:6], Lambda[6:, 6:] = Lambda_p, Lambda_l, Lambda_q

    # A_Q^-T (C A_Q^-1 + M d(A_Q^-1)/dt), where only the first six rows of A_Q change in time.
    Gamma = A_Q_inv.T @ C @ A_Q_inv
    Gamma[:6] -= Lambda[:6, :6] @ dA @ A_Q_inv

    gravity = np.zeros(nv)
    gravity[:3] = -model.gravity.linear
    xi = A_Q @ v
    return DecoupledDynamics(
        A, A_Q, A_Q_inv, Lambda_p, Lambda_l, Lambda_q, Lambda, Gamma, gravity, xi[:6].copy(), xi
    )


def inverse_of_A_Q(A: Array) -> Array:
    """(nv, nv) inverse of A_Q = [A_b A_q; 0 E], Garofalo2015 (13).

    Its columns are the dynamically consistent pseudo-inverses: A^{+M} = [A_b^-1; 0] and
    Q^{+M} = [-A_b^-1 A_q; E].  The mass matrix drops out because (10) fixes both.
    """
    nv = A.shape[1]
    inverse = np.eye(nv)
    inverse[:6, :6] = np.linalg.inv(A[:, :6])
    inverse[:6, 6:] = -inverse[:6, :6] @ A[:, 6:]
    return inverse
