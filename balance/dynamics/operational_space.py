"""Motion and force of an end effector, controlled together; RobotDynamicsETH 3.9.2 to 3.9.4.

For a fixed-base robot with every joint actuated.  Velocities w, accelerations dw/dt and forces F of
the end effector are those of its frame's origin in world axes, linear part first.  A task may have
fewer than the six directions: ``rows`` names those that it has, and every vector of the task then
has one entry for each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from balance.dynamics.checks import (
    Array,
    check_fixed_base,
    check_vector,
    frame_id,
    jacobian_rows,
    symmetrise,
)
from balance.dynamics.differential_kinematics import jacobian_rank
from balance.errors import InputError, SingularityError, known_names

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
"""Directions of an end effector: along and about the axes of the world."""
POSITION = DIRECTIONS[:3]
"""The directions of a task on the position alone."""
_OTHER_POSTURES = 5
_COUPLED = 1e-9


@dataclass(frozen=True, slots=True)
class EndEffectorDynamics:
    """Lambda dw/dt + mu + p = F, RobotDynamicsETH (3.85), with tau = J^T F; m rows.

    Attributes:
        Lambda: inertia (m, m) that the end effector feels like, (3.86).
        mu: centrifugal and Coriolis terms (m,), (3.87).
        p: gravity (m,), (3.88).
        J: Jacobian (m, nv) of the frame's origin.
        drift: dJ/dt v (m,).
        J_bar: dynamically consistent inverse M^-1 J^T Lambda (nv, m).
        b: velocity terms of the joints (nv,).
        g: gravity terms of the joints (nv,).
        rows: the directions of the task.
    """

    Lambda: Array
    mu: Array
    p: Array
    J: Array
    drift: Array
    J_bar: Array
    b: Array
    g: Array
    rows: tuple[str, ...]

    def null_space_torques(self, torques: ArrayLike) -> Array:
        """(1 - J^T J_bar^T) tau_0 (nv,): the part of torques that the end effector does not feel.

        It moves a redundant arm within its task, without accelerating the end effector and without
        pressing; zero for an arm that is not redundant.
        """
        tau_0 = check_vector("torques", torques, self.J.shape[1])
        return np.asarray(tau_0 - self.J.T @ (self.J_bar.T @ tau_0))


@dataclass(frozen=True, slots=True)
class Selection:
    """Directions of free motion and of contact force, RobotDynamicsETH (3.98): S_M + S_F = 1."""

    S_M: Array
    S_F: Array


def end_effector_dynamics(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    rows: Sequence[str] = DIRECTIONS,
) -> EndEffectorDynamics:
    """Dynamics of ``frame`` as a body of its own; RobotDynamicsETH (3.83)-(3.88).

    ``rows`` are the directions of the task, such as ``("x", "z")`` for the position of an arm in
    the x-z plane; it may have no more of them than the arm can move in.
    """
    check_fixed_base(model)
    q, v = check_vector("q", q, model.nq), check_vector("v", v, model.nv)
    chosen = check_rows(rows)
    index, axes, data = frame_id(model, frame), pin.LOCAL_WORLD_ALIGNED, model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    pin.updateFramePlacement(model, data, index)
    J = jacobian_rows(pin.getFrameJacobian(model, data, index, axes))[chosen]
    drift = np.array(pin.getFrameClassicalAcceleration(model, data, index, axes).vector)[chosen]
    _check_rank(model, q, frame, J, chosen)
    factor = cho_factor(symmetrise(pin.crba(model, data, q)))
    gravity = np.array(pin.computeGeneralizedGravity(model, model.createData(), q))
    velocity = pin.nonLinearEffects(model, model.createData(), q, v) - gravity
    by_force = cho_solve(factor, J.T)
    Lambda = np.linalg.inv(J @ by_force)
    return EndEffectorDynamics(
        Lambda=Lambda,
        mu=Lambda @ (by_force.T @ velocity - drift),
        p=Lambda @ (by_force.T @ gravity),
        J=J,
        drift=drift,
        J_bar=by_force @ Lambda,
        b=velocity,
        g=gravity,
        rows=tuple(DIRECTIONS[i] for i in chosen),
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
    rows: Sequence[str] = DIRECTIONS,
    posture_torques: ArrayLike | None = None,
) -> Array:
    """tau (nv,) = J^T (Lambda S_M dw/dt + S_F F_c + mu + p); RobotDynamicsETH (3.96).

    ``acceleration`` (m,) is wanted in the free directions, and ``force`` (m,), exerted by the robot
    on its environment, in the others; m is 6, or the number of ``rows``.  When the environment
    answers with that force, the end effector accelerates by exactly S_M dw/dt.

    ``posture_torques`` tau_0 (nv,) are for the motions that the end effector does not feel, of
    which a redundant arm has some: (1 - J^T J_bar^T) tau_0 is added.  Without them those motions
    are left to themselves, gravity included.
    """
    dynamics = end_effector_dynamics(model, q, v, frame, rows)
    m = len(dynamics.rows)
    S_M, S_F = _chosen_selection(directions, dynamics.rows)
    motion = S_M @ check_vector("acceleration", acceleration, m)
    push = S_F @ check_vector("force", force, m)
    torques = dynamics.J.T @ (dynamics.Lambda @ motion + push + dynamics.mu + dynamics.p)
    if posture_torques is not None:
        torques = torques + dynamics.null_space_torques(posture_torques)
    return np.asarray(torques)


def check_rows(rows: Sequence[str]) -> list[int]:
    """Indices of the named directions, in the order given; each may appear once."""
    for name in rows:
        if name not in DIRECTIONS:
            raise InputError(
                f"rows has '{name}', which is no direction{known_names(name, DIRECTIONS)}"
            )
    if not rows or len(set(rows)) < len(rows):
        raise InputError(
            f"rows is {list(rows)}; expected at least one of {', '.join(DIRECTIONS)}, none twice"
        )
    return [DIRECTIONS.index(name) for name in rows]


def _chosen_selection(directions: Selection, rows: Sequence[str]) -> tuple[Array, Array]:
    """Selection matrices of the chosen rows, which must be apart from the others."""
    chosen = check_rows(rows)
    others = [i for i in range(6) if i not in chosen]
    coupling = float(np.abs(directions.S_M[np.ix_(chosen, others)]).max(initial=0.0))
    if coupling > _COUPLED:
        raise InputError(
            f"the axes of the contact mix the rows {', '.join(rows)} with directions that the task "
            f"does not have (coupling {coupling:.2g}); choose rows along the contact's axes"
        )
    block = np.ix_(chosen, chosen)
    return directions.S_M[block], directions.S_F[block]


def _check_rank(model: pin.Model, q: Array, frame: str, J: Array, chosen: list[int]) -> None:
    """Raise if the arm cannot move the frame in the chosen directions, and say why not."""
    rank = jacobian_rank(J)
    if not rank.singular:
        return
    names = ", ".join(DIRECTIONS[i] for i in chosen)
    best = max([rank.rank, *_ranks_elsewhere(model, q, frame, chosen)])
    if best < rank.rows:
        raise SingularityError(
            f"no posture of '{model.name}' ({model.nv} joints) moves frame '{frame}' in all of the "
            f"{rank.rows} directions {names}: at most {best} of them are independent; choose that "
            "many with rows, such as rows=('x', 'z') for the position in a vertical plane"
        )
    sigma = np.linalg.svd(J, compute_uv=False)
    raise SingularityError(
        f"'{model.name}' is at a singular posture: here it moves frame '{frame}' in {rank.rank} of "
        f"the {rank.rows} directions {names} (smallest singular value of the Jacobian "
        f"{sigma[-1]:.3g}, largest {sigma[0]:.3g}); choose another posture, or fewer rows"
    )


def _ranks_elsewhere(model: pin.Model, q: Array, frame: str, chosen: list[int]) -> list[int]:
    """Ranks of the chosen rows at some other postures, always the same ones."""
    rng, index = np.random.default_rng(0), model.getFrameId(frame)
    axes, data = pin.LOCAL_WORLD_ALIGNED, model.createData()
    postures = (
        pin.integrate(model, q, rng.uniform(-1.0, 1.0, model.nv)) for _ in range(_OTHER_POSTURES)
    )
    jacobians = (pin.computeFrameJacobian(model, data, p, index, axes) for p in postures)
    return [jacobian_rank(jacobian_rows(J)[chosen]).rank for J in jacobians]
