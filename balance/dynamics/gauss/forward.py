"""Forward dynamics in a rotation chart: with the projector (35) and with multipliers (32)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from balance.dynamics.checks import Array, check_vector, frame_id
from balance.dynamics.gauss import GaussDynamics
from balance.dynamics.gauss.jacobians import body_jacobians
from balance.dynamics.gauss.joints import actuated_velocities
from balance.dynamics.gauss.state import ChartState, chart_state
from balance.errors import FrameError, SingularityError


@dataclass(frozen=True, slots=True)
class PointForce:
    """Contact force f_{k,i}: ``force`` (N, world axes) at ``point`` (m, axes of ``frame``)."""

    frame: str
    point: ArrayLike
    force: ArrayLike


def applied_force(
    model: pin.Model,
    chart: str,
    q: ArrayLike,
    torques: ArrayLike,
    contacts: Sequence[PointForce] = (),
) -> Array:
    """(0, 0, u) + sum J_t(a)^T f, shape (n,); the forces of Bouyarmane2012 (24) but gravity.

    ``torques`` u are in Pinocchio's order: three for a ball joint, in the axes of its link, and
    none for a free object.
    """
    q = np.asarray(q, dtype=float)
    state = chart_state(model, chart, q, np.zeros_like(q))
    total = np.zeros(len(state.q))
    total[state.joints] = motor_forces(state, torques)
    if not contacts:
        return total
    joints, points = zip(*(point_of(model, contact) for contact in contacts), strict=True)
    forces = np.stack([check_vector("force", contact.force, 3) for contact in contacts])
    J_t = body_jacobians(state, joints, np.stack(points)).J_t
    return total + np.einsum("kin,ki->n", J_t, forces)


def motor_forces(state: ChartState, torques: ArrayLike) -> Array:
    """Torques as generalised forces on the joints' coordinates, u of Bouyarmane2012 (24)."""
    if state.rate_map is None:
        return check_vector("torques", torques, state.model.nv - 6)
    motors = actuated_velocities(state.parts)
    on_velocities = np.zeros(state.model.nv - 6)
    on_velocities[motors] = check_vector("torques", torques, len(motors))
    return np.asarray(state.rate_map[0].T @ on_velocities)


def projected_acceleration(dynamics: GaussDynamics, applied: ArrayLike) -> Array:
    """Second derivative of q from Bouyarmane2012 (35) and (30).

    A projects along the columns of C^T, so A (M qdd - b) = 0 and C qdd + bias = 0 are together the
    square system (A M + C^T C) qdd = A b - C^T bias.
    """
    A, C = dynamics.A, dynamics.C
    b = _total_force(dynamics, applied)
    return _solve(A @ dynamics.M + C.T @ C, A @ b - C.T @ dynamics.constraint_bias)


def multiplier_acceleration(dynamics: GaussDynamics, applied: ArrayLike) -> tuple[Array, Array]:
    """Second derivative of q and the multipliers lambda (c,) from Bouyarmane2012 (32) and (30).

    Inertia, torques and contact forces all enter through the rows of body Jacobians, which are
    independent of those of C.  So lambda is zero, to round-off, unless ``applied`` also has a force
    on the rotation coordinates themselves, across their constraint.
    """
    C, n = dynamics.C, len(dynamics.M)
    b = _total_force(dynamics, applied)
    saddle = np.block([[dynamics.M, -C.T], [C, np.zeros((len(C), len(C)))]])
    solution = _solve(saddle, np.concatenate([b, -dynamics.constraint_bias]))
    return solution[:n], solution[n:]


def _total_force(dynamics: GaussDynamics, applied: ArrayLike) -> Array:
    """Right side of (24) minus N qdot."""
    applied = check_vector("applied force", applied, len(dynamics.M))
    return dynamics.gravity + applied - dynamics.N @ dynamics.qdot


def point_of(model: pin.Model, contact: PointForce) -> tuple[int, Array]:
    """Joint that moves the frame of ``contact``, and its point in that joint's axes."""
    frame = model.frames[frame_id(model, contact.frame)]
    if frame.parentJoint == 0:
        raise FrameError(f"frame '{contact.frame}' is fixed to the world; no force can move it")
    return frame.parentJoint, frame.placement.act(check_vector("point", contact.point, 3))


def _solve(matrix: Array, right: Array) -> Array:
    """Solution of a square system, or a clear error when it is singular to machine precision."""
    lu, pivots, info = lapack.dgetrf(matrix)
    rcond = 0.0 if info > 0 else lapack.dgecon(lu, np.abs(matrix).sum(axis=0).max())[0]
    if rcond < np.finfo(float).eps:
        raise SingularityError(
            f"the inertia matrix is singular at this state (reciprocal condition {rcond:.1g}); "
            "a link beyond some joint has neither mass nor inertia, or the chart is at its limit"
        )
    return lapack.dgetrs(lu, pivots, right)[0]
