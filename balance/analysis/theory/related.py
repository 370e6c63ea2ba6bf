"""The identities of Garofalo2015, sections 4 and 5: generalised Jacobian, energy, earlier model."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    CheckList,
    State,
    largest,
    relative_difference,
    relative_product,
    worst_part,
)
from balance.dynamics.generalised_jacobian import generalised_jacobian
from balance.dynamics.kinetic_energy import kinetic_energy

_list = CheckList("Garofalo2015")


@_list.add("(33)", "J_e Q^{+M} = J_eq - J_eb M_b^-1 M_c")
def generalised_jacobian_forms(model: pin.Model, s: State) -> float:
    J = s.jacobians[0]
    explicit = J[:, 6:] - J[:, :6] @ np.linalg.solve(s.M[:6, :6], s.M[:6, 6:])
    ours = generalised_jacobian(model, s.q, s.links[0], s.data)
    return max(
        relative_difference(ours[rows], explicit[rows], largest(J[rows, 6:]))
        for rows in (slice(0, 3), slice(3, 6))
    )


@_list.add("(33)", "it moves the link while h = 0")
def generalised_jacobian_keeps_zero_momentum(model: pin.Model, s: State) -> float:
    at_rest = s.decoupled.A_Q_inv[:, 6:] @ s.v[6:]
    J = s.jacobians[0]
    motion = generalised_jacobian(model, s.q, s.links[0], s.data) @ s.v[6:]
    return max(
        relative_product(s.momentum.A, at_rest),
        relative_difference(J @ at_rest, motion, largest(J[:, 6:] @ s.v[6:])),
    )


@_list.add("above (33)", "Lambda_q = M_q - M_c^T M_b^-1 M_c")
def joint_inertia_is_schur_complement(model: pin.Model, s: State) -> float:
    M_b, M_c, M_q = s.M[:6, :6], s.M[:6, 6:], s.M[6:, 6:]
    return relative_difference(s.decoupled.Lambda_q, M_q - M_c.T @ np.linalg.solve(M_b, M_c))


@_list.add("(34)", "kinetic energy = p^2 / 2m + l Lambda_l l / 2 + dq Lambda_q dq / 2")
def energy_is_a_sum_of_three(model: pin.Model, s: State) -> float:
    return relative_difference(kinetic_energy(s.decoupled).total, s.kinetic_energy)


@_list.add("(35)", "with CoM velocity and base rotation: mass m E apart, gravity (m g e_g, 0, 0)")
def ott_inertia(model: pin.Model, s: State) -> float:
    ott, mass = s.ott, s.momentum.mass
    M, coupling = ott.M, largest(s.M[:3])
    weight = np.concatenate([-mass * model.gravity.linear, np.zeros(model.nv - 3)])
    return max(
        relative_difference(M[:3, :3], mass * np.eye(3)),
        relative_difference(M[:3, 3:], np.zeros_like(M[:3, 3:]), coupling),
        relative_difference(ott.gravity, weight, largest(s.gravity)),
    )


@_list.add("(35)", "joint block: Lambda_q + M_12^T M_11^-1 M_12 (printed without the coupling)")
def ott_joint_block(model: pin.Model, s: State) -> float:
    ott = s.ott
    coupling = ott.M_12.T @ np.linalg.solve(ott.M_11, ott.M_12)
    return relative_difference(ott.M[6:, 6:], s.decoupled.Lambda_q + coupling)


@_list.add("(35)", "M dv_c/dt + C v_c + gravity = (0, 0, tau) + sum of J^T w")
def ott_equations(model: pin.Model, s: State) -> float:
    change = s.base("G[B]")
    rate = change.T @ s.mixed_acceleration + change.dT @ s.base("B").nu
    contacts = s.ott.to_v.T @ s.contact_forces
    velocity_terms = s.ott.C @ s.ott.v_c
    inertia = s.ott.M @ rate
    return worst_part(inertia, velocity_terms, s.ott.gravity, -s.generalised_torques, -contacts)


@_list.add("(37)", "the base rows of J_i^T w_i in that model sum to the wrench at the CoM")
def ott_contact_wrench(model: pin.Model, s: State) -> float:
    return worst_part((s.ott.to_v.T @ s.contact_forces)[:6], -s.wrench_at_com)


@_list.add("(38)", "the same rows in (25) sum to Lambda_h times the wrench at the CoM")
def decoupled_contact_wrench(model: pin.Model, s: State) -> float:
    d = s.decoupled
    base = (d.A_Q_inv.T @ s.contact_forces)[:6]
    return worst_part(base, -d.Lambda[:6, :6] @ s.wrench_at_com)


CHECKS = _list.checks
