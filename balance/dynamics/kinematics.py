"""Jacobians of a frame: geometric, analytical in any chart, and of a floating base.

RobotDynamicsETH 2.8 and 2.10.  Unless a function says otherwise velocities are Pinocchio's, and a
frame's twist is (velocity of its origin, angular velocity), both in world axes.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from balance.dynamics.checks import Array, check_state, check_vector, frame_id, jacobian_rows
from balance.rotations import get_chart, get_position_chart, skew


def frame_placement(model: pin.Model, q: ArrayLike, frame: str) -> pin.SE3:
    """Placement of ``frame`` in the world; RobotDynamicsETH (2.138)."""
    data = model.createData()
    pin.forwardKinematics(model, data, check_vector("q", q, model.nq))
    return pin.updateFramePlacement(model, data, frame_id(model, frame)).copy()


def frame_coordinates(
    model: pin.Model,
    q: ArrayLike,
    frame: str,
    rotation_chart: str = "quaternion",
    position_chart: str = "cartesian",
) -> Array:
    """Coordinates chi_e of ``frame``, position first; RobotDynamicsETH (2.134), (2.137)."""
    X_WF = frame_placement(model, q, frame)
    chi_P = get_position_chart(position_chart).from_cartesian(X_WF.translation)
    chi_R = get_chart(rotation_chart).from_matrix(X_WF.rotation)
    return np.concatenate([chi_P, chi_R])


def geometric_jacobian(model: pin.Model, q: ArrayLike, frame: str) -> Array:
    """J_e0 (6, nv) from the velocity to the twist of ``frame``; RobotDynamicsETH (2.151)."""
    q = check_vector("q", q, model.nq)
    index = frame_id(model, frame)
    data, axes = model.createData(), pin.LOCAL_WORLD_ALIGNED
    return jacobian_rows(pin.computeFrameJacobian(model, data, q, index, axes))


def relative_jacobian(model: pin.Model, q: ArrayLike, frame_B: str, frame_C: str) -> Array:
    """J_BC (6, nv) of C's motion relative to B, world axes; RobotDynamicsETH (2.153)-(2.154).

    J_C = J_B + J_BC: geometric Jacobians in the same axes add.  Its rows are the rate of r_BC and
    the difference of the angular velocities.
    """
    return geometric_jacobian(model, q, frame_C) - geometric_jacobian(model, q, frame_B)


def analytical_jacobian(
    model: pin.Model,
    q: ArrayLike,
    frame: str,
    rotation_chart: str = "quaternion",
    position_chart: str = "cartesian",
) -> Array:
    """J_eA (m, nv) from the velocity to the rate of ``frame_coordinates``.

    J_eA = E_e^-1 J_e0, RobotDynamicsETH (2.189)-(2.192); a ChartError where the chart is singular.
    For charts with a constraint E_e^-1 is the right inverse whose rates satisfy the constraint.
    """
    X_WF = frame_placement(model, q, frame)
    positions, rotations = get_position_chart(position_chart), get_chart(rotation_chart)
    E_P_inv = positions.inverse_rate_map(positions.from_cartesian(X_WF.translation))
    E_R_inv = rotations.inverse_rate_map(rotations.from_matrix(X_WF.rotation))
    return block_diag(E_P_inv, E_R_inv) @ geometric_jacobian(model, q, frame)


def base_rotation(model: pin.Model, q: Array) -> Array:
    """C_IB (3, 3) of a floating base, whose root joint may itself be placed turned."""
    return np.asarray(model.jointPlacements[1].rotation @ pin.Quaternion(q[3:7]).matrix())


def base_velocity_map(model: pin.Model, q: ArrayLike) -> Array:
    """Map (nv, nv) from Pinocchio's velocity to u of RobotDynamicsETH (2.245).

    u has the linear velocity of the base in world axes and its angular velocity in base axes,
    Pinocchio has both in base axes.
    """
    q, _ = check_state(model, q, np.zeros(model.nv))
    return block_diag(base_rotation(model, q), np.eye(model.nv - 3))


def base_rate_map(model: pin.Model, q: ArrayLike, chart: str) -> Array:
    """E_fb (nv, nv - 3 + d) in u = E_fb dq/dt with the base rotation in ``chart``.

    RobotDynamicsETH (2.246): q holds the base position, its d rotation coordinates, the joints.

    Differs: the rate map of a chart gives the angular velocity in world axes (2.82), while u has it
    in base axes (2.245), so the block is C_IB^T E_R; the notes leave the axes to the reader.
    """
    q, _ = check_state(model, q, np.zeros(model.nv))
    C_IB = base_rotation(model, q)
    rotations = get_chart(chart)
    E_R = rotations.rate_map(rotations.from_matrix(C_IB))
    return block_diag(np.eye(3), C_IB.T @ E_R, np.eye(model.nv - 6))


def floating_base_jacobian(model: pin.Model, q: ArrayLike, frame: str) -> Array:
    """Spatial Jacobian (6, nv) from u of (2.245) to the twist of ``frame``.

    RobotDynamicsETH (2.252), built from the parts that do not depend on the base: the placement of
    the frame in the base and its Jacobian with respect to the joints, both in base axes.
    ``geometric_jacobian`` equals it times ``base_velocity_map``.
    """
    q, _ = check_state(model, q, np.zeros(model.nv))
    C_IB = base_rotation(model, q)
    q_at_origin = q.copy()
    q_at_origin[:7] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    root = model.jointPlacements[1]
    r_BQ = root.actInv(frame_placement(model, q_at_origin, frame)).translation
    J_joints = geometric_jacobian(model, q_at_origin, frame)[:, 6:]
    J_joints = block_diag(root.rotation.T, root.rotation.T) @ J_joints
    return np.block(
        [
            [np.eye(3), -C_IB @ skew(r_BQ), C_IB @ J_joints[:3]],
            [np.zeros((3, 3)), C_IB, C_IB @ J_joints[3:]],
        ]
    )
