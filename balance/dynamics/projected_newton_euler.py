"""The equation of motion by projecting Newton's and Euler's laws; RobotDynamicsETH 3.5.

Sums over the links of what Pinocchio computes recursively, for fixed and floating bases: slow, and
comparable with the notes line by line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector, jacobian_rows
from balance.rotations import skew


@dataclass(frozen=True, slots=True)
class LinkMotion:
    """Every link (k of them) with the Jacobians of its centre of mass, in world axes.

    Attributes:
        mass: (k,), kg.
        Theta: inertia about the centre of mass (k, 3, 3), kg m^2.
        J_S, J_R: Jacobians of the centre of mass and of the rotation (k, 3, nv).
        J_S_dot, J_R_dot: their time derivatives.
        Omega: angular velocities (k, 3).
        com: centres of mass (k, 3), m.
    """

    mass: Array
    Theta: Array
    J_S: Array
    J_R: Array
    J_S_dot: Array
    J_R_dot: Array
    Omega: Array
    com: Array


@dataclass(frozen=True, slots=True)
class EquationOfMotion:
    """M dv/dt + b + g = tau + J_c^T F_c, RobotDynamicsETH (3.38)."""

    M: Array
    b: Array
    g: Array


def link_motion(model: pin.Model, q: ArrayLike, v: ArrayLike) -> LinkMotion:
    """Jacobians of all links' centres of mass and their rates; RobotDynamicsETH (3.9)-(3.10)."""
    q, v = check_vector("q", q, model.nq), check_vector("v", v, model.nv)
    data = model.createData()
    pin.computeJointJacobiansTimeVariation(model, data, q, v)
    bodies = range(1, model.njoints)
    world = pin.ReferenceFrame.WORLD
    J = np.stack([jacobian_rows(pin.getJointJacobian(model, data, i, world)) for i in bodies])
    rates = (pin.getJointJacobianTimeVariation(model, data, i, world) for i in bodies)
    dJ = np.stack([jacobian_rows(rate) for rate in rates])
    com = np.stack([data.oMi[i].act(model.inertias[i].lever) for i in bodies])
    R = np.stack([data.oMi[i].rotation for i in bodies])
    inertia = np.stack([model.inertias[i].inertia for i in bodies])
    # A spatial Jacobian in world axes is that of the link's point at the world's origin.
    J_S = J[:, :3] - skew(com) @ J[:, 3:]
    com_dot = J_S @ v
    J_S_dot = dJ[:, :3] - skew(com) @ dJ[:, 3:] - skew(com_dot) @ J[:, 3:]
    return LinkMotion(
        mass=np.array([model.inertias[i].mass for i in bodies]),
        Theta=R @ inertia @ np.swapaxes(R, 1, 2),
        J_S=J_S,
        J_R=J[:, 3:],
        J_S_dot=J_S_dot,
        J_R_dot=dJ[:, 3:],
        Omega=J[:, 3:] @ v,
        com=com,
    )


def momentum_rates(links: LinkMotion, v: Array, dv: Array) -> tuple[Array, Array]:
    """dp/dt (k, 3) and dN/dt (k, 3) of every link; RobotDynamicsETH (3.21)-(3.22), (3.39).

    Newton and Euler: they are the force and the torque about the centre of mass (3.24)-(3.25).
    """
    acceleration = links.J_S @ dv + links.J_S_dot @ v
    Psi = links.J_R @ dv + links.J_R_dot @ v
    spin = np.einsum("kij,kj->ki", links.Theta, links.Omega)
    turning = np.einsum("kij,kj->ki", links.Theta, Psi)
    return links.mass[:, None] * acceleration, turning + np.cross(links.Omega, spin)


def projected_newton_euler(model: pin.Model, q: ArrayLike, v: ArrayLike) -> EquationOfMotion:
    """M, b and g as sums over the links; RobotDynamicsETH (3.43)-(3.45), (3.46)-(3.48).

    Differs: rotor inertias (``model.armature``) are added to the diagonal of M, so that the result
    is that of Pinocchio; the notes have none.  (3.47) names axes of the link for the rotation and
    of the world for the rest; here all are the world's, which gives the same sums.
    """
    links = link_motion(model, q, v)
    velocity = check_vector("v", v, model.nv)
    weight = links.mass[:, None] * model.gravity.linear
    M = np.einsum("kin,k,kim->nm", links.J_S, links.mass, links.J_S)
    M += np.einsum("kin,kij,kjm->nm", links.J_R, links.Theta, links.J_R)
    # With dv/dt = 0 the rates of the momenta are the velocity terms of (3.44).
    p_dot, N_dot = momentum_rates(links, velocity, np.zeros(model.nv))
    b = np.einsum("kin,ki->n", links.J_S, p_dot) + np.einsum("kin,ki->n", links.J_R, N_dot)
    g = -np.einsum("kin,ki->n", links.J_S, weight)
    return EquationOfMotion(M + np.diag(model.armature), b, g)
