"""The identities of Garofalo2015, sections 2 and 3, as residuals at a random state.

Each compares the functions of :mod:`balance.dynamics` with explicit formulas in M^-1 or with
Pinocchio's own algorithms.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    ANGULAR,
    JOINTS,
    LINEAR,
    CheckList,
    State,
    largest,
    relative_difference,
    relative_product,
    relative_sum,
    worst_part,
)
from balance.dynamics.checks import Array
from balance.dynamics.momentum import com_wrench_map, dynamically_consistent_inverse

P, L, Q = LINEAR, ANGULAR, JOINTS
_list = CheckList("Garofalo2015")


def momentum_rates(s: State) -> Array:
    """(6, 2 nv) rows [A dA/dt], whose product with (dv/dt, v) is dh/dt."""
    return np.hstack([s.momentum.A, s.momentum.dA])


@_list.add("(1)", "ABA's acceleration solves M a + C v + g = Q^T tau + sum of J^T w")
def equations_of_motion(model: pin.Model, s: State) -> float:
    return worst_part(
        s.M @ s.acceleration, s.C @ s.v, s.gravity, -s.generalised_torques, -s.contact_forces
    )


@_list.add("(2)-(4)", "h = A v is the sum of the links' momenta about the CoM")
def momentum_sums_links(model: pin.Model, s: State) -> float:
    data = s.data
    pin.forwardKinematics(model, data, s.q, s.v)
    total = pin.Force.Zero()
    for X, inertia, velocity in zip(data.oMi, model.inertias, data.v, strict=True):
        total += X.act(inertia * velocity)
    at_com = pin.SE3(np.eye(3), s.momentum.com).actInv(total).vector
    return worst_part(s.momentum.h, -at_com)


@_list.add("(5)", "the rows of the linear momentum are A_p = m J_CoM")
def linear_rows_are_com_jacobian(model: pin.Model, s: State) -> float:
    J_com = pin.jacobianCenterOfMass(model, s.data, s.q)
    return relative_difference(s.momentum.A_p, s.momentum.mass * J_com)


@_list.add("(5) ff.", "gravity acts through the CoM alone: g(x) = g A_p^T e_g")
def gravity_acts_through_com(model: pin.Model, s: State) -> float:
    return relative_difference(s.gravity, -s.momentum.A_p.T @ model.gravity.linear)


@_list.add("(6)", "Newton-Euler: dh/dt is the sum of all wrenches at the CoM")
def newton_euler(model: pin.Model, s: State) -> float:
    A, dA = s.momentum.A, s.momentum.dA
    weight = np.concatenate([s.momentum.mass * model.gravity.linear, np.zeros(3)])
    return worst_part(A @ s.acceleration, dA @ s.v, -s.wrench_at_com, -weight)


@_list.add("(7)", "without gravity and contacts A dv/dt + dA/dt v = 0, whatever the torques")
def momentum_is_conserved(model: pin.Model, s: State) -> float:
    rate = np.concatenate([s.weightless_acceleration, s.v])
    return max(relative_product(momentum_rates(s)[part], rate) for part in (P, L))


@_list.add("(8)", "under a pure force at the CoM A_l dv/dt + dA_l/dt v = 0")
def angular_momentum_is_conserved(model: pin.Model, s: State) -> float:
    return relative_product(momentum_rates(s)[L], np.concatenate([s.falling_acceleration, s.v]))


@_list.add("(9)", "A M^-1 Q^T tau - (A M^-1 C - dA/dt) v = 0")
def free_floating_condition(model: pin.Model, s: State) -> float:
    A_Minv = s.momentum.A @ s.M_inv
    rows = np.hstack([A_Minv, -A_Minv, s.momentum.dA])
    forces = np.concatenate([s.generalised_torques, s.C @ s.v, s.v])
    return max(relative_product(rows[part], forces) for part in (P, L))


@_list.add("(10)", "torques are internal: A M^-1 Q^T = 0")
def torques_are_internal(model: pin.Model, s: State) -> float:
    columns = s.M_inv[:, 6:]
    return max(relative_product(s.momentum.A_p, columns), relative_product(s.momentum.A_l, columns))


@_list.add("(11)", "(A M^-1 C - dA/dt) v = 0")
def velocity_terms_are_internal(model: pin.Model, s: State) -> float:
    rows = np.hstack([s.momentum.A @ s.M_inv, -s.momentum.dA])
    forces = np.concatenate([s.C @ s.v, s.v])
    return max(relative_product(rows[part], forces) for part in (P, L))


@_list.add("(12)-(13)", "the closed form inverts A_Q and takes xi back to v")
def closed_form_inverts(model: pin.Model, s: State) -> float:
    d = s.decoupled
    return max(
        relative_difference(d.A_Q @ d.A_Q_inv, np.eye(model.nv)),
        relative_difference(d.A_Q_inv @ d.xi, s.v),
    )


@_list.add("(13)", "its columns are the dynamically consistent inverses of A and Q")
def closed_form_is_consistent(model: pin.Model, s: State) -> float:
    A_inverse = dynamically_consistent_inverse(s.momentum.A, s.M)
    Q_inverse = dynamically_consistent_inverse(np.eye(model.nv)[6:], s.M)
    explicit = np.hstack([A_inverse, Q_inverse])
    return worst_part(s.decoupled.A_Q_inv.T, -explicit.T)


@_list.add("(15)", "A_Q^-T M A_Q^-1 is Lambda, block diagonal")
def inertia_is_block_diagonal(model: pin.Model, s: State) -> float:
    d = s.decoupled
    transformed = d.A_Q_inv.T @ s.M @ d.A_Q_inv
    terms = np.abs(d.A_Q_inv.T) @ np.abs(s.M) @ np.abs(d.A_Q_inv)
    return max(
        relative_difference(transformed[r, c], d.Lambda[r, c], largest(terms[r, c]))
        for r in (P, L, Q)
        for c in (P, L, Q)
    )


@_list.add("(17)", "Lambda_q = (Q M^-1 Q^T)^-1")
def joint_inertia(model: pin.Model, s: State) -> float:
    return relative_difference(s.decoupled.Lambda_q, np.linalg.inv(s.M_inv[6:, 6:]))


@_list.add("(18)", "Gamma xi = Lambda [A M^-1 C - dA/dt; Q M^-1 C] v")
def velocity_terms(model: pin.Model, s: State) -> float:
    d = s.decoupled
    C_v = s.M_inv @ s.C @ s.v
    momentum_rows = s.momentum.A @ C_v
    rate = s.momentum.dA @ s.v
    explicit = d.Lambda @ np.concatenate([momentum_rows, C_v[6:]])
    drift = d.Lambda @ np.concatenate([rate, np.zeros(model.nv - 6)])
    return worst_part(d.Gamma @ d.xi, -explicit, drift)


@_list.add("(19)", "the joints do not move the momentum: Gamma_hh h + Gamma_hq dq = 0")
def velocity_terms_leave_momentum(model: pin.Model, s: State) -> float:
    return relative_product(s.decoupled.Gamma[L], s.decoupled.xi)


@_list.add("(20)", "a force at the CoM leaves the angular momentum")
def force_at_com_leaves_angular_momentum(model: pin.Model, s: State) -> float:
    A_Minv = s.momentum.A_l @ s.M_inv
    force = s.momentum.A_p.T @ s.wrenches[0, :3] / s.momentum.mass
    rows = np.hstack([A_Minv, -A_Minv, s.momentum.dA[L]])
    return relative_product(rows, np.concatenate([force, s.C @ s.v, s.v]))


@_list.add("(21)", "linear and angular momentum are orthogonal: A_l M^-1 A_p^T = 0")
def momenta_are_orthogonal(model: pin.Model, s: State) -> float:
    return relative_product(s.momentum.A_l, s.M_inv, s.momentum.A_p.T)


@_list.add("(16), (22)", "(A M^-1 A^T)^-1 is Lambda_h = diag(Lambda_p, Lambda_l)")
def momentum_inertia_is_block_diagonal(model: pin.Model, s: State) -> float:
    d = s.decoupled
    explicit = np.linalg.inv(d.A @ s.M_inv @ d.A.T)
    coupling = np.sqrt(largest(d.Lambda_p) * largest(d.Lambda_l))
    return max(
        relative_difference(explicit[P, P], d.Lambda_p),
        relative_difference(explicit[L, L], d.Lambda_l),
        largest(explicit[P, L]) / coupling,
    )


@_list.add("(23), (28)", "Lambda_p = (A_p M^-1 A_p^T)^-1 = E / m")
def linear_inertia(model: pin.Model, s: State) -> float:
    explicit = np.linalg.inv(s.momentum.A_p @ s.M_inv @ s.momentum.A_p.T)
    return max(
        relative_difference(s.decoupled.Lambda_p, explicit),
        relative_difference(explicit, np.eye(3) / pin.computeTotalMass(model)),
    )


@_list.add("(24)", "Lambda_l = (A_l M^-1 A_l^T)^-1")
def angular_inertia(model: pin.Model, s: State) -> float:
    explicit = np.linalg.inv(s.momentum.A_l @ s.M_inv @ s.momentum.A_l.T)
    return relative_difference(s.decoupled.Lambda_l, explicit)


@_list.add("(25)", "Lambda dxi/dt + Gamma xi + gravity = (0, 0, tau) + sum of J_bar^T w")
def decoupled_equations(model: pin.Model, s: State) -> float:
    d = s.decoupled
    xi_rate = d.A_Q @ s.acceleration
    xi_rate[:6] += s.momentum.dA @ s.v
    contacts = d.A_Q_inv.T @ s.contact_forces
    inertia = d.Lambda @ xi_rate
    return worst_part(inertia, d.Gamma @ d.xi, d.gravity, -s.generalised_torques, -contacts)


@_list.add("(25)", "Gamma_qh = -Gamma_hq^T")
def coupling_is_opposite(model: pin.Model, s: State) -> float:
    Gamma = s.decoupled.Gamma
    return relative_sum(Gamma[Q, L], Gamma[L, Q].T)


@_list.add("(26)", "A_Q^-T g(x) = (g e_g, 0, 0)")
def gravity_is_constant(model: pin.Model, s: State) -> float:
    d = s.decoupled
    terms = np.abs(d.A_Q_inv.T) @ np.abs(s.gravity)
    transformed = d.A_Q_inv.T @ s.gravity
    return max(
        relative_difference(transformed[part], d.gravity[part], largest(terms[part]))
        for part in (P, L, Q)
    )


@_list.add("(27)", "without contacts Lambda_p dp/dt = -g e_g")
def free_fall(model: pin.Model, s: State) -> float:
    Lambda_p = s.decoupled.Lambda_p
    acceleration = Lambda_p @ s.momentum.A_p @ s.falling_acceleration
    return relative_sum(acceleration, Lambda_p @ s.momentum.dA[P] @ s.v, -model.gravity.linear)


@_list.add("(29)", "J_CoM M^-1 J_CoM^T = E / m")
def com_inertia(model: pin.Model, s: State) -> float:
    J = pin.jacobianCenterOfMass(model, s.data, s.q)
    return relative_difference(J @ s.M_inv @ J.T, np.eye(3) / s.momentum.mass)


@_list.add("(30)-(31)", "T^T w accelerates the robot so that dh/dt = w")
def wrench_map_moves_momentum(model: pin.Model, s: State) -> float:
    w = s.wrench_at_com
    acceleration = s.M_inv @ (com_wrench_map(s.momentum).T @ w - s.C @ s.v)
    return worst_part(s.momentum.A @ acceleration, s.momentum.dA @ s.v, -w)


@_list.add("(31)-(32)", "T^T = A^T Lambda_h = M A^{+M}, and A^{+M}^T T^T = Lambda_h")
def wrench_map(model: pin.Model, s: State) -> float:
    T, A_inverse = com_wrench_map(s.momentum), dynamically_consistent_inverse(s.momentum.A, s.M)
    Lambda_h = s.decoupled.Lambda[:6, :6]
    return max(
        worst_part(T, -(s.M @ A_inverse).T),
        relative_difference((A_inverse.T @ T.T)[P, P], Lambda_h[P, P]),
        relative_difference((A_inverse.T @ T.T)[L, L], Lambda_h[L, L]),
    )


@_list.add("appendix A", "A^{+M} = [A_p^{+M} A_l^{+M}]")
def consistent_inverse_splits(model: pin.Model, s: State) -> float:
    return max(
        relative_difference(
            s.decoupled.A_Q_inv[:, part], dynamically_consistent_inverse(s.momentum.A[part], s.M)
        )
        for part in (P, L)
    )


@_list.add("beyond", "Gamma_pp = Gamma_pl = Gamma_pq = 0: p is decoupled in the velocity too")
def linear_momentum_is_decoupled(model: pin.Model, s: State) -> float:
    d = s.decoupled
    terms = largest(np.abs(d.A_Q_inv[:, :3].T) @ np.abs(s.C) @ np.abs(d.A_Q_inv))
    return max(largest(d.Gamma[:3]), largest(d.Gamma[:, :3])) / terms if terms > 0.0 else 0.0


CHECKS = _list.checks
