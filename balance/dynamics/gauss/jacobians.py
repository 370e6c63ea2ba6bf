"""Body Jacobians in a rotation chart and their time derivatives (Bouyarmane2012 (14)-(17))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.dynamics.checks import Array
from balance.dynamics.gauss.state import ChartState, pinocchio_configuration
from balance.rotations import skew


@dataclass(frozen=True, slots=True)
class BodyJacobians:
    """One point on each of k bodies; n is the length of q.

    ``J_t`` (k, 3, n): velocity of the point in world axes, Bouyarmane2012 (14).
    ``J_r`` (k, 3, n): angular velocity of the body in body axes, Bouyarmane2012 (16).
    ``J_t_dot``, ``J_r_dot``: their time derivatives.  ``R`` (k, 3, 3): body to world.
    """

    J_t: Array
    J_t_dot: Array
    J_r: Array
    J_r_dot: Array
    R: Array


def body_jacobians(state: ChartState, bodies: Sequence[int], points: Array) -> BodyJacobians:
    """Jacobians of ``points`` (k, 3), in body axes, on the bodies moved by joints ``bodies``.

    Bouyarmane2012 (14), (16), (17).  The hatted Jacobians relative to the base come from
    Pinocchio's joint columns with the base held at the origin: they depend on where the base is
    turned, not on where it is.
    """
    data = _articulated_kinematics(state)
    R = np.stack([data.oMi[k].rotation for k in bodies])
    arms = np.stack([data.oMi[k].act(p) for k, p in zip(bodies, points, strict=True)])
    supports = _supporting_joints(state.model)[np.asarray(bodies)][:, None, :]
    on_base = carried_by_base(state.model)[np.asarray(bodies)][:, None, None]
    hat_t = supports * (data.J[:3, 6:] - skew(arms) @ data.J[3:, 6:])
    hat_r = supports * data.J[3:, 6:]
    to_v = state.rate_map
    by_joints = (hat_t, hat_r) if to_v is None else (hat_t @ to_v[0], hat_r @ to_v[0])
    J_t = _assemble(on_base * np.eye(3), -on_base * skew(arms) @ state.J_omega, by_joints[0])
    J_r_W = _assemble(np.zeros((3, 3)), on_base * state.J_omega, by_joints[1])

    arms_dot = J_t @ state.qdot - on_base[:, 0] * state.qdot[:3]
    omega_W = J_r_W @ state.qdot
    base_dot = -skew(arms_dot) @ state.J_omega - skew(arms) @ state.J_omega_dot
    hat_t_dot = data.dJ[:3, 6:] - skew(arms) @ data.dJ[3:, 6:] - skew(arms_dot) @ data.J[3:, 6:]
    hat_t_dot, hat_r_dot = supports * hat_t_dot, supports * data.dJ[3:, 6:]
    if to_v is not None:
        hat_t_dot = hat_t_dot @ to_v[0] + hat_t @ to_v[1]
        hat_r_dot = hat_r_dot @ to_v[0] + hat_r @ to_v[1]
    J_t_dot = _assemble(np.zeros((3, 3)), on_base * base_dot, hat_t_dot)
    J_r_W_dot = _assemble(np.zeros((3, 3)), on_base * state.J_omega_dot, hat_r_dot)
    R_T = np.swapaxes(R, 1, 2)
    return BodyJacobians(J_t, J_t_dot, R_T @ J_r_W, R_T @ (J_r_W_dot - skew(omega_W) @ J_r_W), R)


def carried_by_base(model: pin.Model) -> Array:
    """One for each body of the robot on the base, zero for those of anything beside it."""
    carried = np.zeros(model.njoints)
    carried[1] = 1.0
    for k, parent in enumerate(list(model.parents)[2:], start=2):
        carried[k] = carried[parent]
    return carried


def _articulated_kinematics(state: ChartState) -> pin.Data:
    """Joint columns in world axes and their rates, with the base turning at the origin."""
    q = pinocchio_configuration(state, np.zeros(3))
    R = state.chart.to_matrix(state.theta)
    v = np.zeros(state.model.nv)
    v[3:6] = R.T @ (state.J_omega @ state.theta_dot)
    v[6:] = state.joint_velocities
    data = state.model.createData()
    pin.computeJointJacobiansTimeVariation(state.model, data, q, v)
    return data


def _supporting_joints(model: pin.Model) -> NDArray[np.bool_]:
    """Entry (body, joint): whether the joint lies between the base and the body."""
    supports = np.zeros((model.njoints, model.nv - 6), dtype=bool)
    places = zip(*map(list, (model.parents, model.idx_vs, model.nvs)), strict=True)
    for k, (parent, idx_v, nv) in enumerate(places):
        if k > 1:
            supports[k] = supports[parent]
            supports[k, idx_v - 6 : idx_v - 6 + nv] = True
    return supports


def _assemble(by_position: Array, by_rotation: Array, by_joints: Array) -> Array:
    """[ by x_0 | by theta_0 | by joints ] for each body; blocks equal for all are repeated."""
    count = len(by_joints)
    blocks = [np.broadcast_to(b, (count, *b.shape[-2:])) for b in (by_position, by_rotation)]
    return np.concatenate([*blocks, by_joints], axis=-1)
