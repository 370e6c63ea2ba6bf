"""Accelerations for tasks, and the torques that give an end effector its own.

RobotDynamicsETH 3.9.1 and 3.9.3: several tasks on the acceleration of the joints, and the motion of
one end effector by feedback and inverse dynamics in task space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.dynamics.differential_kinematics import (
    Task,
    equal_priority_velocity,
    prioritised_velocity,
)
from balance.dynamics.inverse_kinematics import rotation_error
from balance.dynamics.operational_space import EndEffectorDynamics
from balance.errors import InputError
from balance.rotations import get_chart


@dataclass(frozen=True, slots=True)
class MotionTask:
    """A wanted acceleration dw/dt = J ddq + dJ/dt dq of a task; RobotDynamicsETH (3.80).

    Attributes:
        J: Jacobian (m, n).
        acceleration: wanted dw/dt (m).
        drift: dJ/dt dq (m).
    """

    J: Array
    acceleration: Array
    drift: Array

    def on_joints(self) -> Task:
        """The same as a linear task on ddq: J ddq = dw/dt - dJ/dt dq."""
        J = np.asarray(self.J, dtype=float)
        m = len(J)
        wanted = check_vector("acceleration of a task", self.acceleration, m)
        return Task(J, wanted - check_vector("drift of a task", self.drift, m))


def equal_priority_acceleration(
    tasks: Sequence[MotionTask], task_weights: Sequence[float] | None = None
) -> Array:
    """ddq (n) that meets all tasks in the least-squares sense; RobotDynamicsETH (3.81)."""
    return equal_priority_velocity([task.on_joints() for task in tasks], task_weights)


def prioritised_acceleration(tasks: Sequence[MotionTask]) -> Array:
    """ddq (n) that meets each task as well as those before it allow; RobotDynamicsETH (3.82).

    Differs: (3.82) is printed with N_k dq_k in its sum, where only N_k ddq_k has the unit of an
    acceleration, and with J for J_i; it is (2.207) on accelerations.
    """
    return prioritised_velocity([task.on_joints() for task in tasks])


def task_acceleration(
    X: pin.SE3,
    X_target: pin.SE3,
    twist: ArrayLike,
    twist_target: ArrayLike,
    k_p: float,
    k_d: float,
) -> Array:
    """dw*/dt (6) = k_p (r* - r, Delta phi) + k_d (w* - w); RobotDynamicsETH (3.90).

    ``X`` and ``X_target`` are placements, twists are in world axes, k_p is in 1/s^2 and k_d in 1/s
    (``gains_of_oscillator``).  Delta phi is the rotation vector of the relative rotation (2.236).
    """
    if not (k_p >= 0.0 and k_d >= 0.0):
        raise InputError(f"k_p is {k_p:g} and k_d {k_d:g}; neither may be negative")
    delta_phi, _ = rotation_error(X.rotation, X_target.rotation)
    error = np.concatenate([X_target.translation - X.translation, delta_phi])
    rate = check_vector("twist_target", twist_target, 6) - check_vector("twist", twist, 6)
    return k_p * error + k_d * rate


def small_rotation_error(R: ArrayLike, R_target: ArrayLike, chart: str) -> Array:
    """Delta phi (3) = E_R(chi) (chi* - chi) for rotations that are close; RobotDynamicsETH (3.91).

    It differs from the rotation vector of the relative rotation by terms of second order, and is of
    no use where the coordinates jump between the two.

    Differs: (3.91) calls the whole vector of position and rotation Delta phi; this is its lower
    half, the upper one being r* - r.
    """
    coordinates = get_chart(chart)
    chi = coordinates.from_matrix(R)
    return coordinates.rate_map(chi) @ (coordinates.from_matrix(R_target) - chi)


def task_space_torques(dynamics: EndEffectorDynamics, acceleration: ArrayLike) -> Array:
    """tau (nv,) = J^T (Lambda dw*/dt + mu + p); RobotDynamicsETH (3.89), (3.92)."""
    wanted = check_vector("acceleration", acceleration, len(dynamics.rows))
    return np.asarray(dynamics.J.T @ (dynamics.Lambda @ wanted + dynamics.mu + dynamics.p))


def compensated_task_space_torques(dynamics: EndEffectorDynamics, acceleration: ArrayLike) -> Array:
    """tau = J^T Lambda dw*/dt + b~ + g with b~ = b - J^T Lambda dJ/dt dq; (3.94)-(3.95).

    The end effector accelerates as under (3.92).  The two are equal if J is square; of a redundant
    arm this one also carries the velocity and gravity terms of the motions that the end effector
    does not feel, (1 - J^T J_bar^T) (b + g), so it neither sags nor drifts within its task.

    Differs: the notes get from (3.92) to (3.94) with J^-1 "although J is not necessarily
    invertible"; for a redundant arm the step adds the torques above.
    """
    wanted = check_vector("acceleration", acceleration, len(dynamics.rows))
    by_task = dynamics.J.T @ (dynamics.Lambda @ (wanted - dynamics.drift))
    return np.asarray(by_task + dynamics.b + dynamics.g)
