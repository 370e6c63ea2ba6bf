"""The identities of Traversaro2016, section V: the centroidal dynamics as a change of base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.analysis.theory.checks import (
    CheckList,
    State,
    largest,
    relative_difference,
    worst_part,
)
from balance.analysis.theory.traversaro import shift
from balance.dynamics.base_frame import change_base
from balance.dynamics.checks import Array
from balance.dynamics.momentum import com_wrench_map

_list = CheckList("Traversaro2016")


def com_to_base(s: State) -> Array:
    """(6, 6) X that moves the reference point of a mixed velocity from the CoM to the base."""
    return shift(s.momentum.com, s.base("B").origin)


def com_velocity(model: pin.Model, s: State) -> Array:
    """(3,) velocity of the CoM by Pinocchio's forward pass."""
    pin.centerOfMass(model, s.data, s.q, s.v)
    return np.array(s.data.vcom[0])


@_list.add("(30)-(31)", "about the CoM: locked inertia diag(m E, L^C), momentum (m dc/dt, l)")
def centroidal_inertia(model: pin.Model, s: State) -> float:
    own, X = s.base("B"), com_to_base(s)
    inertia = X.T @ own.M[:6, :6] @ X
    expected = np.zeros((6, 6))
    expected[:3, :3] = s.momentum.mass * np.eye(3)
    expected[3:, 3:] = s.momentum.inertia
    momentum = np.concatenate([s.momentum.mass * com_velocity(model, s), s.momentum.h[3:]])
    return max(
        relative_difference(inertia, expected, largest(own.M[:6, :6])),
        worst_part(X.T @ (own.M @ own.nu)[:6], -momentum),
    )


@_list.add("(32)", "A_{G,B} = X* [I^C F_B] is Pinocchio's centroidal momentum matrix")
def momentum_matrix(model: pin.Model, s: State) -> float:
    own = s.base("B")
    A = com_to_base(s).T @ own.M[:6]
    pinocchio = s.momentum.A.copy()
    R = np.asarray(own.rotation)
    pinocchio[:, :3], pinocchio[:, 3:6] = pinocchio[:, :3] @ R.T, pinocchio[:, 3:6] @ R.T
    return worst_part(A, -pinocchio)


@_list.add("(33)", "average velocity: (dc/dt, L^-1 l)")
def average_velocity(model: pin.Model, s: State) -> float:
    angular = np.linalg.solve(s.momentum.inertia, s.momentum.h[3:])
    expected = np.concatenate([com_velocity(model, s), angular])
    return max(
        worst_part(s.base("centroidal").nu[:6], -expected),
        worst_part(s.momentum.average_velocity, -expected),
    )


@_list.add("(34)-(35), (40)", "J_{G,B} = [X  I^-1 X* F_B], and T keeps the joint velocities")
def average_jacobian(model: pin.Model, s: State) -> float:
    own, X = s.base("B"), com_to_base(s)
    inertia = X.T @ own.M[:6, :6] @ X
    T = np.eye(model.nv)
    T[:6, :6] = np.linalg.inv(X)
    T[:6, 6:] = np.linalg.solve(inertia, X.T @ own.M[:6, 6:])
    return worst_part(s.base("centroidal").T, -T)


@_list.add("(36)-(38)", "G[B]: CoM Jacobian above the identity; its rows are those of (35)")
def com_base(model: pin.Model, s: State) -> float:
    base = s.base("G[B]")
    linear = com_wrench_map(s.momentum)[:3]
    R = np.asarray(s.base("B").rotation)
    T = np.eye(model.nv)
    T[:3] = pin.jacobianCenterOfMass(model, s.data, s.q)
    T[:3, :3], T[:3, 3:6] = T[:3, :3] @ R.T, T[:3, 3:6] @ R.T
    return max(
        worst_part(base.T, -T),
        relative_difference(base.T[:3], s.base("centroidal").T[:3]),
        relative_difference(linear @ s.v, base.nu[:3]),
        relative_difference(base.origin, s.momentum.com),
    )


@_list.add("(43)", "theorem 3: M_G = diag(m E, L^C, M_q) is block diagonal")
def mass_matrix_is_block_diagonal(model: pin.Model, s: State) -> float:
    M, own = s.base("centroidal").M, s.base("B").M
    rows, linear, angular, joints = slice(6), slice(3), slice(3, 6), slice(6, None)
    return max(
        relative_difference(M[linear, linear], s.momentum.mass * np.eye(3)),
        relative_difference(M[angular, angular], s.momentum.inertia),
        relative_difference(M[linear, angular], np.zeros((3, 3)), largest(own[linear, angular])),
        relative_difference(M[rows, joints], np.zeros_like(M[rows, joints]), largest(own[rows])),
    )


@_list.add("(43)", "theorem 3: its joint block depends on the joints alone")
def joint_block_depends_on_joints(model: pin.Model, s: State) -> float:
    q = s.q.copy()
    q[:7] = pin.neutral(model)[:7]
    elsewhere = change_base(model, q, s.v, "centroidal", data=s.data)
    return relative_difference(s.base("centroidal").M[6:, 6:], elsewhere.M[6:, 6:])


@_list.add("(44)", "theorem 3: gravity is (-m g, 0, 0) at every state")
def gravity_is_constant(model: pin.Model, s: State) -> float:
    weight = np.concatenate([-s.momentum.mass * model.gravity.linear, np.zeros(model.nv - 3)])
    return relative_difference(s.base("centroidal").G, weight, largest(s.gravity))


@_list.add("(43) = Garofalo2015 (25)", "nu_G, M_G, C_G, G_G are xi, Lambda, Gamma, g scaled by I^C")
def equals_decoupled_dynamics(model: pin.Model, s: State) -> float:
    """nu_G = D xi with D = diag(Lambda_h, E), so the terms transform with D^-1."""
    base, d = s.base("centroidal"), s.decoupled
    D_inv = np.eye(model.nv)
    D_inv[:3, :3], D_inv[3:6, 3:6] = s.momentum.mass * np.eye(3), s.momentum.inertia
    # dL/dt from dLambda_l/dt = Gamma_ll + Gamma_ll^T, since L = Lambda_l^-1.
    Gamma_ll = d.Gamma[3:6, 3:6]
    dD_inv = np.zeros_like(D_inv)
    dD_inv[3:6, 3:6] = -s.momentum.inertia @ (Gamma_ll + Gamma_ll.T) @ s.momentum.inertia
    C = D_inv.T @ (d.Gamma @ D_inv + d.Lambda @ dD_inv)
    return max(
        worst_part(D_inv @ base.nu, -d.xi),
        relative_difference(base.M, D_inv.T @ d.Lambda @ D_inv),
        relative_difference(base.C, C),
        relative_difference(base.G, D_inv.T @ d.gravity, largest(s.gravity)),
    )


CHECKS = _list.checks
