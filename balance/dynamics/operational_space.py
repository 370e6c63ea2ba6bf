"""Motion and force of an end effector, controlled together; RobotDynamicsETH 3.9.2 to 3.9.4.

For a fixed-base robot with every joint actuated.  Velocities w, accelerations dw/dt and forces F of
the end effector are those of its frame's origin in world axes, linear part first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from balance.dynamics.checks import Array, check_vector, frame_id, symmetrise
from balance.errors import InputError, SingularityError

_SINGULAR = 1e-9  # smallest singular value of J, relative to the largest one


@dataclass(frozen=True, slots=True)
class EndEffectorDynamics:
    """Lambda dw/dt + mu + p = F, RobotDynamicsETH (3.85), with tau = J^T F.

    Attributes:
        Lambda: inertia (6, 6) that the end effector feels like, (3.86).
        mu: centrifugal and Coriolis terms (6,), (3.87).
        p: gravity (6,), (3.88).
        J: Jacobian (6, nv) of the frame's origin.
        drift: dJ/dt v (6,).
    """

    Lambda: Array
    mu: Array
    p: Array
    J: Array
    drift: Array


@dataclass(frozen=True, slots=True)
class Selection:
    """Directions of free motion and of contact force, RobotDynamicsETH (3.98): S_M + S_F = 1."""

    S_M: Array
    S_F: Array


def end_effector_dynamics(
    model: pin.Model, q: ArrayLike, v: ArrayLike, frame: str
) -> EndEffectorDynamics:
    """Dynamics of ``frame`` as a body of its own; RobotDynamicsETH (3.85)-(3.88)."""
    q, v = _check_fixed_base_state(model, q, v)
    index, axes, data = frame_id(model, frame), pin.LOCAL_WORLD_ALIGNED, model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    pin.updateFramePlacement(model, data, index)
    J = pin.getFrameJacobian(model, data, index, axes)
    drift = np.array(pin.getFrameClassicalAcceleration(model, data, index, axes).vector)
    sigma = np.linalg.svd(J, compute_uv=False)
    if model.nv < 6 or sigma[-1] < _SINGULAR * sigma[0]:
        raise SingularityError(
            f"the joints of '{model.name}' cannot move frame '{frame}' in all six directions here "
            f"(smallest singular value of its Jacobian {sigma[-1]:.3g}, largest {sigma[0]:.3g}); "
            "choose another posture, or a frame with at least six joints above it"
        )
    factor = cho_factor(symmetrise(pin.crba(model, data, q)))
    gravity = pin.computeGeneralizedGravity(model, model.createData(), q)
    velocity = pin.nonLinearEffects(model, model.createData(), q, v) - gravity
    by_force = cho_solve(factor, J.T)
    Lambda = np.linalg.inv(J @ by_force)
    return EndEffectorDynamics(
        Lambda=Lambda,
        mu=Lambda @ (by_force.T @ velocity - drift),
        p=Lambda @ (by_force.T @ gravity),
        J=J,
        drift=drift,
    )


def selection(
    rotation: ArrayLike, free_translation: Sequence[bool], free_rotation: Sequence[bool]
) -> Selection:
    """Selection matrices of RobotDynamicsETH (3.97)-(3.98).

    ``rotation`` C (3, 3) takes components in world axes to those of the contact frame; the booleans
    say along and about which axes of that frame the end effector moves freely.
    """
    C = np.asarray(rotation, dtype=float)
    if C.shape != (3, 3) or not np.allclose(C @ C.T, np.eye(3), atol=1e-9):
        raise InputError("rotation must be a (3, 3) matrix with orthonormal rows")
    for name, free in (("free_translation", free_translation), ("free_rotation", free_rotation)):
        if len(free) != 3:
            raise InputError(f"{name} has {len(free)} entries; expected 3, one for each axis")
    S_M = np.zeros((6, 6))
    S_M[:3, :3] = C.T @ np.diag(np.array(free_translation, dtype=float)) @ C
    S_M[3:, 3:] = C.T @ np.diag(np.array(free_rotation, dtype=float)) @ C
    return Selection(S_M, np.eye(6) - S_M)


def operational_space_torques(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    *,
    acceleration: ArrayLike,
    force: ArrayLike,
    directions: Selection,
) -> Array:
    """tau (nv,) = J^T (Lambda S_M dw/dt + S_F F_c + mu + p); RobotDynamicsETH (3.96).

    ``acceleration`` (6,) is wanted in the free directions, and ``force`` (6,), exerted by the robot
    on its environment, in the others.  When the environment answers with that force, the end
    effector accelerates by exactly S_M dw/dt.  A redundant arm is left without control of the
    motions that its end effector does not feel.
    """
    dynamics = end_effector_dynamics(model, q, v, frame)
    motion = directions.S_M @ check_vector("acceleration", acceleration, 6)
    push = directions.S_F @ check_vector("force", force, 6)
    return np.asarray(dynamics.J.T @ (dynamics.Lambda @ motion + push + dynamics.mu + dynamics.p))


def _check_fixed_base_state(model: pin.Model, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    if "JointModelFreeFlyer" in (joint.shortname() for joint in model.joints):
        raise InputError(
            f"model '{model.name}' has a floating base or a free object, on which no torque acts; "
            "use floating_base_torques() or a fixed-base model of the robot alone"
        )
    return check_vector("q", q, model.nq), check_vector("v", v, model.nv)
