"""Equation of motion from Gauss' principle in any rotation chart (Bouyarmane2012 III-IV)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array
from balance.dynamics.gauss.jacobians import body_jacobians, carried_by_base
from balance.dynamics.gauss.state import ChartState, chart_state
from balance.rotations import skew


@dataclass(frozen=True, slots=True)
class GaussDynamics:
    """M qdd + N qdot = gravity + applied + C^T lambda,  C qdd + constraint_bias = 0.

    Shapes: n = 3 + d + m for d chart coordinates and m joints; c = d - 3 constraints.  A ball joint
    has d coordinates in place of one and d - 3 constraints more, a free object 3 + d and d - 3.
    ``M`` (n, n): Bouyarmane2012 (25); singular along directions that (10) does not see.
    ``N`` (n, n): Bouyarmane2012 (26).
    ``A`` (n, n): projector that removes the multipliers, A C^T = 0; Bouyarmane2012 (34).
    ``C`` (c, n): rows of the constraint on qdd, Bouyarmane2012 (30); q^T S^T S for quaternions.
    ``constraint_bias`` (c,): the term of (30) without qdd.
    ``gravity`` (n,): M (g, 0, 0), the gravity force of (24), and that of whatever the base does not
    carry.
    """

    chart: str
    qdot: Array
    M: Array
    N: Array
    A: Array
    C: Array
    constraint_bias: Array
    gravity: Array


def gauss_dynamics(model: pin.Model, chart: str, q: ArrayLike, qdot: ArrayLike) -> GaussDynamics:
    """M, N, A and the constraint of ``model`` with its base rotation in ``chart``.

    ``chart`` is "euler_zyx", "quaternion", "rotation_matrix", or any other name in
    ``balance.rotations.CHARTS``; ``q`` and ``qdot`` are ordered as in
    ``balance.dynamics.gauss.state``, and ``chart_from_pinocchio`` makes them.

    ``model`` may have ball joints (``JointModelSpherical``), and further trees on the world: free
    objects, which the robot moves by contact forces alone (Bouyarmane2012 VII), or a door.

    Differs: rotor inertias (``model.armature``) are added to the diagonal of M, so that the result
    is that of Pinocchio; the paper has none.  The inertia about the centre of mass is stored in the
    model, so (21) is not needed.
    """
    state = chart_state(model, chart, q, qdot)
    M, N = _inertia_and_velocity_matrices(state)
    C, bias = chart_constraint(state)
    gravity = M[:, :3] @ model.gravity.linear
    if len(model.children[0]) > 1:
        gravity += _weight_beside_the_base(state)
    return GaussDynamics(chart, state.qdot, M, N, _projector(C, state.q), C, bias, gravity)


def _weight_beside_the_base(state: ChartState) -> Array:
    """Gravity of all bodies that the base does not carry, the sum of J_t^T m g of (24)."""
    model = state.model
    bodies = [k for k in range(1, model.njoints) if not carried_by_base(model)[k]]
    centres = np.stack([model.inertias[k].lever for k in bodies])
    weights = np.stack([model.inertias[k].mass * model.gravity.linear for k in bodies])
    return np.einsum("kin,ki->n", body_jacobians(state, bodies, centres).J_t, weights)


def chart_constraint(state: ChartState) -> tuple[Array, Array]:
    """C and the bias of Bouyarmane2012 (30), for every rotation in q."""
    per_rotation = state.chart.size - 3
    C = np.zeros((per_rotation * len(state.rotations), len(state.q)))
    bias = np.zeros(len(C))
    for index, where in enumerate(state.rotations):
        rows = slice(per_rotation * index, per_rotation * (index + 1))
        rate = state.qdot[where]
        C[rows, where] = state.chart.constraint_rows(state.q[where])
        bias[rows] = state.chart.constraint_rows(rate) @ rate
    return C, bias


def _inertia_and_velocity_matrices(state: ChartState) -> tuple[Array, Array]:
    """M and N as sums over the bodies, Bouyarmane2012 (25)-(26): no Christoffel symbols."""
    model = state.model
    bodies = range(1, model.njoints)
    mass = np.array([model.inertias[k].mass for k in bodies])[:, None, None]
    inertia = np.stack([model.inertias[k].inertia for k in bodies])
    centres = np.stack([model.inertias[k].lever for k in bodies])
    J = body_jacobians(state, bodies, centres)
    M = _sum_over_bodies(J.J_t, mass * J.J_t) + _sum_over_bodies(J.J_r, inertia @ J.J_r)
    rotors = np.diag(model.armature[6:])
    to_v = state.rate_map
    M[state.joints, state.joints] += rotors if to_v is None else to_v[0].T @ rotors @ to_v[0]
    spin = skew(inertia @ J.J_r @ state.qdot)
    N = _sum_over_bodies(J.J_t, mass * J.J_t_dot)
    N += _sum_over_bodies(J.J_r, inertia @ J.J_r_dot - spin @ J.J_r)
    if to_v is not None:
        N[state.joints, state.joints] += to_v[0].T @ rotors @ to_v[1]
    return M, N


def _sum_over_bodies(left: Array, right: Array) -> Array:
    """sum_k left_k^T right_k for arrays (k, 3, n)."""
    n = left.shape[-1]
    return left.reshape(-1, n).T @ right.reshape(-1, n)


def _projector(C: Array, q: Array) -> Array:
    """A = 1 - C^T (W C^T)^-1 W with A C^T = 0.

    One constraint: W = q^T as in Bouyarmane2012 (33), which gives (34), because q^T C^T = 1 on the
    unit sphere.

    Differs: the single row q^T cannot eliminate the six multipliers of the rotation matrix, nor
    those of several rotations, so there W = C, which makes A the orthogonal projector.
    """
    W = q[None, :] if len(C) == 1 else C
    return np.eye(len(q)) - C.T @ np.linalg.solve(W @ C.T, W)
