"""Iterative inverse kinematics of a frame, with a choice of how to measure a rotation error.

RobotDynamicsETH 2.9.3 and 2.9.4.  The choice decides on the way from start to target: a difference
of coordinates of some chart leads along a straight line in that chart, the rotation vector of the
relative rotation along the shortest arc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector, frame_id, jacobian_rows
from balance.dynamics.differential_kinematics import damped_inverse
from balance.errors import InputError, known_names
from balance.rotations import CHARTS, check_rotation_matrix, get_chart

RELATIVE = "relative"
"""Rotation error that is the rotation vector of the relative rotation, not a chart's difference."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a frame should go; ``None`` leaves its position or its rotation free.

    Attributes:
        frame: name of the frame.
        position: in the world (3), metres.
        rotation: rotation matrix from the frame to the world (3, 3).
        rotation_error: ``"relative"``, RobotDynamicsETH (2.235)-(2.236), or the name of a chart
            whose coordinates are subtracted as they are, without unwrapping angles (algorithm 1).
    """

    frame: str
    position: Array | None = None
    rotation: Array | None = None
    rotation_error: str = RELATIVE

    def __post_init__(self) -> None:
        if self.position is None and self.rotation is None:
            raise InputError(f"the target of '{self.frame}' has neither position nor rotation")
        if self.position is not None:
            object.__setattr__(self, "position", check_vector("position", self.position, 3))
        if self.rotation is not None:
            object.__setattr__(self, "rotation", check_rotation_matrix(self.rotation))
        name, valid = self.rotation_error, (RELATIVE, *CHARTS)
        if name not in valid:
            raise InputError(f"there is no rotation error '{name}'{known_names(name, valid)}")


@dataclass(frozen=True, slots=True)
class Solution:
    """Outcome of the iteration.

    Attributes:
        q: last configuration (nq).
        converged: whether the error came below the tolerance.
        error: norm of the last error; metres and the unit of the rotation error, mixed.
        path: all configurations from start to end (iterations + 1, nq).
    """

    q: Array
    converged: bool
    error: float
    path: Array

    @property
    def iterations(self) -> int:
        """Number of steps taken."""
        return len(self.path) - 1


def inverse_kinematics(
    model: pin.Model,
    q_start: ArrayLike,
    target: Target,
    *,
    gain: float = 1.0,
    damping: float = 0.0,
    tolerance: float = 1e-10,
    max_iterations: int = 100,
) -> Solution:
    """Configuration that brings a frame to its target, by repeated linearisation.

    Algorithm 1 of RobotDynamicsETH with the scaled update (2.230), q <- q + gain J^+ error, and
    (2.237) for the relative rotation.  A small ``gain`` follows the way that the error prescribes,
    ``gain = 1`` converges fastest; ``damping`` helps near singularities of the robot.
    No convergence is an outcome, not an exception; a ChartError says that the chart of the rotation
    error became singular on the way.
    """
    q = check_vector("q_start", q_start, model.nq)
    if not 0.0 < gain <= 1.0:
        raise InputError(f"gain is {gain}; it must be above 0 and at most 1")
    index = frame_id(model, target.frame)
    data = model.createData()
    path = [q]
    while True:
        error, J = target_error(model, data, q, index, target)
        size = float(np.linalg.norm(error))
        if size < tolerance or len(path) > max_iterations:
            return Solution(q, size < tolerance, size, np.array(path))
        q = pin.integrate(model, q, gain * damped_inverse(J, damping) @ error)
        path.append(q)


def transpose_kinematics(
    model: pin.Model,
    q_start: ArrayLike,
    target: Target,
    *,
    step: float | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 2000,
) -> Solution:
    """The same by q <- q + alpha J^T error, which inverts nothing; RobotDynamicsETH (2.231).

    It is steepest descent on |error|^2 / 2, so it converges for a ``step`` alpha that is small
    enough: below two over the square of the largest singular value of J.  By default alpha is one
    over the squared Frobenius norm of J at each configuration, which is always below that.  Near a
    singularity it slows down where the pseudo-inverse would jump.
    """
    q = check_vector("q_start", q_start, model.nq)
    if step is not None and not step > 0.0:
        raise InputError(f"step is {step:g}; it must be positive")
    index, data = frame_id(model, target.frame), model.createData()
    path = [q]
    while True:
        error, J = target_error(model, data, q, index, target)
        size, stiff = float(np.linalg.norm(error)), float(np.sum(J * J))
        if size < tolerance or len(path) > max_iterations or stiff == 0.0:
            return Solution(q, size < tolerance, size, np.array(path))
        alpha = 1.0 / stiff if step is None else step
        q = pin.integrate(model, q, alpha * (J.T @ error))
        path.append(q)


def rotation_error(
    R: ArrayLike, R_target: ArrayLike, parameterisation: str = RELATIVE
) -> tuple[Array, Array]:
    """Error e from R to R_target, and the map (d, 3) from the angular velocity to -de/dt.

    For a chart, e = chi* - chi and the map is E_R^-1 (example 2.9.7).  For ``"relative"``, e is the
    rotation vector of C* C^T in world axes, RobotDynamicsETH (2.236), and the map is the identity
    as in (2.237): exact along e itself.
    """
    if parameterisation == RELATIVE:
        C_rel = check_rotation_matrix(R_target) @ np.transpose(check_rotation_matrix(R))
        return get_chart("rotation_vector").from_matrix(C_rel), np.eye(3)
    chart = get_chart(parameterisation)
    chi = chart.from_matrix(R)
    return chart.from_matrix(R_target) - chi, chart.inverse_rate_map(chi)


def tracking_twist(
    X: pin.SE3,
    X_target: pin.SE3,
    twist_target: ArrayLike,
    position_gain: float,
    rotation_gain: float,
) -> Array:
    """Twist (6) to command so that a frame follows a moving target; world axes, gains in 1/s.

    RobotDynamicsETH (2.240)-(2.242): the target's twist plus feedback of the position error and of
    the relative rotation.
    """
    feedforward = check_vector("twist_target", twist_target, 6)
    delta_phi, _ = rotation_error(X.rotation, X_target.rotation)
    delta_r = X_target.translation - X.translation
    return feedforward + np.concatenate([position_gain * delta_r, rotation_gain * delta_phi])


def target_error(
    model: pin.Model, data: pin.Data, q: Array, index: int, target: Target
) -> tuple[Array, Array]:
    """Error (m) from frame ``index`` at q to its target, and the Jacobian (m, nv) to close it."""
    axes = pin.LOCAL_WORLD_ALIGNED
    J = jacobian_rows(pin.computeFrameJacobian(model, data, q, index, axes))
    X = pin.updateFramePlacement(model, data, index)
    errors, rows = [], []
    if target.position is not None:
        errors.append(target.position - X.translation)
        rows.append(J[:3])
    if target.rotation is not None:
        error, rate_map = rotation_error(X.rotation, target.rotation, target.rotation_error)
        errors.append(error)
        rows.append(rate_map @ J[3:])
    return np.concatenate(errors), np.vstack(rows)
