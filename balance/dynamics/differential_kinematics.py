"""Inverse differential kinematics: velocities that achieve tasks; RobotDynamicsETH 2.9.1-2.9.2.

Everything here is linear algebra on Jacobians, whatever robot they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array
from balance.errors import InputError

RANK_TOLERANCE = 1e-9  # of a singular value, relative to the largest one of the task's Jacobian


@dataclass(frozen=True, slots=True)
class Task:
    """A Jacobian J (m, n) and the velocity w (m) it should produce; RobotDynamicsETH (2.200)."""

    J: Array
    velocity: Array

    def __post_init__(self) -> None:
        J, w = np.asarray(self.J, dtype=float), np.asarray(self.velocity, dtype=float)
        if J.ndim != 2 or w.shape != J.shape[:1]:
            raise InputError(
                f"a task has a Jacobian of shape {J.shape} and a velocity of shape {w.shape}; "
                "expected (m, n) and (m,)"
            )
        if not (np.isfinite(J).all() and np.isfinite(w).all()):
            raise InputError("a task has entries that are not finite; check its Jacobian")
        object.__setattr__(self, "J", J)
        object.__setattr__(self, "velocity", w)

    def error(self, velocity: Array) -> Array:
        """w - J u (m): what is left of the task at the generalised velocity u."""
        return self.velocity - self.J @ velocity


@dataclass(frozen=True, slots=True)
class JacobianRank:
    """Which motions a Jacobian (rows, columns) allows; RobotDynamicsETH 2.9.1.

    ``condition`` is the largest over the smallest singular value, infinite at a singularity.
    """

    rows: int
    columns: int
    rank: int
    condition: float

    @property
    def singular(self) -> bool:
        """Whether some velocity of the task cannot be produced here: rank < rows."""
        return self.rank < self.rows

    @property
    def redundancy(self) -> int:
        """Number of joint motions that the task does not feel: columns - rank."""
        return self.columns - self.rank


def jacobian_rank(J: Array, tolerance: float = RANK_TOLERANCE) -> JacobianRank:
    """Rank test of a Jacobian; a singular value up to ``tolerance`` of the largest counts as zero.

    The notes call a configuration singular if the rank is below m_0, the number of directions that
    the arm can move its end effector in, and redundant if it is below n: give the m_0 rows that the
    task has, since an arm for a plane is not singular for want of motion out of it.
    """
    J = np.asarray(J, dtype=float)
    if J.ndim != 2 or 0 in J.shape:
        raise InputError(f"the Jacobian has shape {J.shape}; expected (m, n), neither zero")
    s = np.linalg.svd(J, compute_uv=False)
    rank = int((s > tolerance * s[0]).sum())
    condition = float(s[0] / s[-1]) if rank == J.shape[0] else float("inf")
    return JacobianRank(J.shape[0], J.shape[1], rank, condition)


def damped_inverse(J: Array, damping: float = 0.0, threshold: float | None = None) -> Array:
    """J^T (J J^T + damping^2 1)^-1, the pseudo-inverse J^+ if ``damping`` is zero.

    RobotDynamicsETH (2.194)-(2.196): it minimises |w - J u|^2 + damping^2 |u|^2.  A singular value
    up to ``threshold`` (by default 1e-9 of the largest) counts as zero.

    Differs: (2.195) is printed with - damping^2 1, which does not minimise the stated cost and can
    be singular.
    """
    if not damping >= 0.0:
        raise InputError(f"damping is {damping}; it must not be negative")
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    if threshold is None:
        threshold = RANK_TOLERANCE * s.max(initial=0.0)
    keep = s > threshold
    gains = s[keep] / (s[keep] ** 2 + damping**2)
    return (Vt[keep].T * gains) @ U[:, keep].T


def weighted_inverse(
    J: Array,
    task_weights: ArrayLike | None = None,
    joint_weights: ArrayLike | None = None,
    damping: float = 0.0,
) -> Array:
    """Weighted pseudo-inverse; RobotDynamicsETH (2.202).

    It minimises |W_t^(1/2) (w - J u)|^2 and, where that leaves a choice, |W_j^(1/2) u|^2, with
    W_t = diag(task_weights) (m) and W_j = diag(joint_weights) (n), all positive and one by default.
    With ``damping`` it minimises the first plus damping^2 times the second.

    Differs: (2.202) inverts J^T W J, which exists only for as many independent rows as columns; the
    pseudo-inverse of the scaled Jacobian equals it there and covers redundancy too.
    """
    task_scale = np.sqrt(_positive("task_weights", task_weights, J.shape[0]))
    joint_scale = 1.0 / np.sqrt(_positive("joint_weights", joint_weights, J.shape[1]))
    scaled = task_scale[:, None] * J * joint_scale
    return joint_scale[:, None] * damped_inverse(scaled, damping) * task_scale


def null_space(J: Array, threshold: float | None = None) -> Array:
    """Orthogonal projector N = 1 - J^+ J on the null space of J; RobotDynamicsETH (2.199)."""
    return np.eye(J.shape[1]) - damped_inverse(J, threshold=threshold) @ J


def equal_priority_velocity(
    tasks: Sequence[Task], task_weights: Sequence[float] | None = None, damping: float = 0.0
) -> Array:
    """Velocity (n) that meets all tasks in the (weighted) least-squares sense.

    RobotDynamicsETH (2.201)-(2.202), with one weight per task.
    """
    J, w = _stack(tasks)
    rows = [len(task.velocity) for task in tasks]
    per_task = _positive("task_weights", task_weights, len(tasks))
    return weighted_inverse(J, np.repeat(per_task, rows), damping=damping) @ w


def prioritised_velocity(tasks: Sequence[Task], damping: float = 0.0) -> Array:
    """Velocity (n) that meets each task as well as those before it allow.

    RobotDynamicsETH (2.207): u_i = (J_i N_i)^+ (w_i - J_i sum_{k<i} N_k u_k), u = sum N_i u_i, with
    N_i the null space of all tasks before the i-th.  ``damping`` acts on every inverse but leaves
    the projectors exact, so that a lower task never disturbs a higher one.

    A direction of task i that the higher tasks take up entirely leaves a singular value of J_i N_i
    at the level of rounding; it is compared with the size of J_i, not of J_i N_i, so that such
    noise is never inverted.
    """
    J, _ = _stack(tasks)
    velocity = np.zeros(J.shape[1])
    done = 0
    for task in tasks:
        N = null_space(J[:done])
        threshold = RANK_TOLERANCE * float(np.linalg.norm(task.J))
        velocity += N @ damped_inverse(task.J @ N, damping, threshold) @ task.error(velocity)
        done += len(task.velocity)
    return velocity


def support_consistent_velocity(J_c: Array, task: Task, damping: float = 0.0) -> Array:
    """Velocity that moves a task without moving the contacts; RobotDynamicsETH (2.257)-(2.260).

    u = N_c (J_t N_c)^+ w_t with N_c the null space of the contact Jacobian J_c (rows, n).  It is
    ``prioritised_velocity`` with resting contacts as the first task.
    """
    if J_c.ndim != 2 or J_c.shape[1] != task.J.shape[1]:
        raise InputError(
            f"the contact Jacobian has shape {J_c.shape}; expected (rows, {task.J.shape[1]}) "
            "as for the task"
        )
    return prioritised_velocity([Task(J_c, np.zeros(len(J_c))), task], damping)


def _stack(tasks: Sequence[Task]) -> tuple[Array, Array]:
    if not tasks:
        raise InputError("the list of tasks is empty; give at least one")
    columns = sorted({task.J.shape[1] for task in tasks})
    if len(columns) > 1:
        raise InputError(
            f"the Jacobians of the tasks have {' and '.join(map(str, columns))} columns; "
            "they must belong to the same robot"
        )
    return np.vstack([task.J for task in tasks]), np.concatenate([t.velocity for t in tasks])


def _positive(name: str, weights: ArrayLike | None, size: int) -> Array:
    if weights is None:
        return np.ones(size)
    values = np.asarray(weights, dtype=float)
    if values.shape != (size,) or not (np.isfinite(values).all() and (values > 0.0).all()):
        raise InputError(f"{name} is {values.tolist()}; expected {size} positive numbers")
    return values
