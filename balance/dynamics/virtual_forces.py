"""Quasi-static torques that act like virtual forces on the robot; RobotDynamicsETH 3.11.

Virtual model control for any list of virtual forces at chosen points, with the contact forces by
the notes' pseudo-inverse.  The law ``virtual_model`` has cones and one virtual wrench instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_state
from balance.dynamics.constraints import Contact, contact_jacobian
from balance.dynamics.differential_kinematics import damped_inverse
from balance.dynamics.generalised_forces import Load, external_generalised_force
from balance.dynamics.kinematics import base_rotation
from balance.errors import InputError
from balance.rotations import skew


@dataclass(frozen=True, slots=True)
class VirtualModel:
    """Torques of virtual model control.

    Attributes:
        torques: tau (nj,), N m; RobotDynamicsETH (3.120).
        contact_forces: F_c (contacts, 3) on the environment, N, world axes; (3.119).
        unbalanced: force and moment about the base (6,) that the contacts cannot provide, N and
            N m; the rest of (3.116)-(3.117), zero for three contacts that are not in line.
    """

    torques: Array
    contact_forces: Array
    unbalanced: Array


def virtual_model_torques(
    model: pin.Model, q: ArrayLike, contacts: Sequence[Contact], virtual: Sequence[Load] = ()
) -> VirtualModel:
    """Joint torques that act like the ``virtual`` loads on a robot on point ``contacts``.

    Where the contacts can balance what is asked, the robot at rest accelerates as if it floated
    without gravity and the virtual loads alone pulled on it.  Nothing keeps the contact forces
    within friction cones, and point contacts bear no moments.
    """
    q, _ = check_state(model, q, np.zeros(model.nv))
    if not contacts or any(contact.face for contact in contacts):
        raise InputError("virtual model control needs point contacts, at least one and no face")
    gravity = -np.array(pin.computeGeneralizedGravity(model, model.createData(), q))
    pull = external_generalised_force(model, q, virtual)
    net = gravity - pull  # sum of J^T F_g - sum of J^T F_v, all rows
    J_c = contact_jacobian(model, q, contacts)
    R = base_rotation(model, q)
    load = np.concatenate([R @ net[:3], R @ net[3:6]])  # in world axes, moments about the base
    # Base columns of a point's Jacobian are [E, -[r_bp]x] in world axes, so G is (3.119)'s matrix.
    G = contact_map(_points_from_base(J_c, R))
    forces = damped_inverse(G) @ load
    torques = J_c[:, 6:].T @ forces - net[6:]
    return VirtualModel(torques, forces.reshape(-1, 3), load - G @ forces)


def contact_map(points: ArrayLike) -> Array:
    """[1 ... 1; [r_c1]x ... [r_cn]x] (6, 3 n): forces at points to force and moment; (3.119)."""
    r = np.asarray(points, dtype=float)
    if r.ndim != 2 or r.shape[1] != 3:
        raise InputError(f"points has shape {r.shape}; expected (n, 3)")
    return np.vstack([np.tile(np.eye(3), len(r)), np.concatenate(list(skew(r)), axis=1)])


def _points_from_base(J_c: Array, R: Array) -> Array:
    """r_bp (n, 3) in world axes, read from the base columns [R, -[r_bp]x R] of point Jacobians."""
    blocks = J_c[:, 3:6].reshape(-1, 3, 3) @ R.T
    return np.stack([-blocks[:, 2, 1], -blocks[:, 0, 2], -blocks[:, 1, 0]], axis=1)
