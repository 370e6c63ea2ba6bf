"""The identities of Saccon2017 as residuals at a random state, for ``balance theory``.

Each residual compares the functions of :mod:`balance.dynamics` with Pinocchio's algorithms or with
finite differences, never with themselves.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin

from balance.dynamics.centroidal_frame import centroidal_frame
from balance.dynamics.checks import Array, symmetrise
from balance.dynamics.connection import (
    connection_at,
    locked_velocity,
    mechanical_connection,
    momentum_map,
)
from balance.dynamics.curvature import curvature, momentum_derivatives
from balance.dynamics.three_link import three_link, three_link_curvature
from balance.theory_checks import (
    FINITE_DIFFERENCE_BOUND,
    Check,
    State,
    largest,
    relative_difference,
)

STEP = 1e-5
"""Step of the central differences, in the unit of the variable."""


def mass_matrix_rows(model: pin.Model, state: State) -> float:
    """[L A] against the base rows of Pinocchio's mass matrix, (3)."""
    terms = connection_at(model, model.createData(), state.q)
    M = symmetrise(pin.crba(model, model.createData(), state.q))
    # Rotor inertias are on the diagonal of M; L is that of the links alone.
    M -= np.diag(model.armature)
    return relative_difference(np.hstack([terms.L, terms.A]), M[:6])


def hamel_equation(model: pin.Model, state: State) -> float:
    """Left side of (6) against the gravity wrench on the base, with accelerations from ABA."""
    data = model.createData()
    q, v = state.q, state.v
    forces = np.concatenate([np.zeros(6), state.tau])
    a = pin.aba(model, data, q, v, forces).copy()
    R_WB, com = data.oMi[1].rotation.copy(), pin.centerOfMass(model, data, q)
    gravity = model.gravity.linear * pin.computeTotalMass(model)
    X_WG = pin.SE3(np.eye(3), com)
    weight = data.oMi[1].actInv(X_WG.act(pin.Force(gravity, np.zeros(3)))).vector

    terms = connection_at(model, data, q)
    dL, dA = momentum_derivatives(model, data, terms.A)
    momentum = terms.L @ v[:6] + terms.A @ v[6:]
    rate = terms.L @ a[:6] + terms.A @ a[6:]
    rate += np.einsum("jab,j,b->a", dL, v[6:], v[:6]) + np.einsum("jai,j,i->a", dA, v[6:], v[6:])
    rate += pin.Motion(v[:6]).cross(pin.Force(momentum)).vector
    terms_size = largest(terms.L) * largest(a[:6]) + largest(terms.A) * largest(a[6:])
    return relative_difference(rate, weight, scale=terms_size)
