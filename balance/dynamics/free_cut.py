"""Every link cut free, with the forces in its joints; RobotDynamicsETH 3.3.2.

Newton's and Euler's laws for each of the links are six equations each, linear in the acceleration
of the robot and in the forces with which ideal joints keep the links together.  Solving them all at
once gives both: the motion without projecting anything, and the loads that the bearings must carry.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from balance.dynamics.checks import Array, check_vector, jacobian_rows, velocities_without_motor
from balance.dynamics.projected_newton_euler import link_motion, momentum_rates
from balance.errors import SingularityError
from balance.rotations import skew


@dataclass(frozen=True, slots=True)
class FreeCut:
    """Motion and joint forces of a robot whose links were cut free.

    Attributes:
        acceleration: dv/dt (nv,), Pinocchio's convention.
        joint_wrenches: (k, 6) force and torque that joint i passes on to its link, at the joint's
            origin in world axes, N and N m; row 0 is the first joint's.
        constraint_wrenches: (k, 6) the part of them that does no work; the rest is the motor's.
    """

    acceleration: Array
    joint_wrenches: Array
    constraint_wrenches: Array


def free_cut_dynamics(model: pin.Model, q: ArrayLike, v: ArrayLike, torques: ArrayLike) -> FreeCut:
    """Solve the 6 k Newton-Euler equations of k links; RobotDynamicsETH (3.24)-(3.25), 3.3.2.

    ``torques`` are one for each velocity that has a motor: all of them on a fixed base, all but the
    first six on a floating one.  Unknown are nv accelerations and 6 k - nv constraint forces.

    Differs: rotor inertias (``model.armature``) take their share of a motor's torque, as in
    Pinocchio.
    """
    first = velocities_without_motor(model)
    q, v = check_vector("q", q, model.nq), check_vector("v", v, model.nv)
    tau = np.concatenate([np.zeros(first), check_vector("torques", torques, model.nv - first)])
    links = link_motion(model, q, v)
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    motors, blocked = zip(*(_joint_spaces(model, data, i) for i in _joints(model)), strict=True)
    transport = _transport(model, data, links.com)
    # Unknown wrenches are W_j = motor_j (tau_j - armature_j dv_j) + blocked_j lambda_j.
    by_motor = _block_diagonal(motors)
    by_constraint = _block_diagonal(blocked)
    p_dot, N_dot = momentum_rates(links, v, np.zeros(model.nv))
    weight = links.mass[:, None] * model.gravity.linear
    spin = links.Theta @ links.J_R
    inertia = np.concatenate([links.mass[:, None, None] * links.J_S, spin], axis=1)
    matrix = np.hstack(
        [
            inertia.reshape(-1, model.nv) + transport @ by_motor @ np.diag(model.armature),
            -transport @ by_constraint,
        ]
    )
    known = transport @ (by_motor @ tau) - np.hstack([p_dot - weight, N_dot]).ravel()
    try:
        unknown = np.linalg.solve(matrix, known)
    except np.linalg.LinAlgError:
        raise SingularityError(
            f"a link of '{model.name}' beyond some joint has neither mass nor inertia, so its "
            "motion is undetermined; give it some"
        ) from None
    dv, multipliers = unknown[: model.nv], unknown[model.nv :]
    constraint = by_constraint @ multipliers
    total = by_motor @ (tau - model.armature * dv) + constraint
    return FreeCut(dv, total.reshape(-1, 6), constraint.reshape(-1, 6))


def _joints(model: pin.Model) -> range:
    return range(1, model.njoints)


def _joint_spaces(model: pin.Model, data: pin.Data, joint: int) -> tuple[Array, Array]:
    """Wrenches (6, n) that do unit work on each velocity of the joint, and those that do none."""
    part = slice(model.idx_vs[joint], model.idx_vs[joint] + model.nvs[joint])
    S = jacobian_rows(pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED))[:, part]
    return np.asarray(np.linalg.pinv(S).T, dtype=float), null_space(S.T)


def _transport(model: pin.Model, data: pin.Data, com: Array) -> Array:
    """Map (6 k, 6 k) from joint wrenches to the net wrench on each link at its centre of mass."""
    transport = np.zeros((6 * len(com), 6 * len(com)))
    for joint in _joints(model):
        origin, column = data.oMi[joint].translation, slice(6 * joint - 6, 6 * joint)
        # The joint acts on its own link, and with the opposite sign on the one before.
        for link, sign in ((joint, 1.0), (int(model.parents[joint]), -1.0)):
            if link == 0:
                continue
            row = 6 * (link - 1)
            transport[row : row + 6, column] += sign * np.eye(6)
            transport[row + 3 : row + 6, column][:, :3] += sign * skew(origin - com[link - 1])
    return transport


def _block_diagonal(blocks: tuple[Array, ...]) -> Array:
    total = np.zeros((6 * len(blocks), sum(block.shape[1] for block in blocks)))
    column = 0
    for index, block in enumerate(blocks):
        width = block.shape[1]
        total[6 * index : 6 * index + 6, column : column + width] = block
        column += width
    return total
