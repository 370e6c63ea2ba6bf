"""Body-fixed, inertial and mixed coordinates of a frame's velocity, Traversaro2016 section II-C.

For a frame B with origin o and rotation R in the inertial frame, linear part first::

    mixed     (do/dt, omega)               axes of the inertial frame, reference point o
    body      (R^T do/dt, R^T omega)       axes and reference point of B; Pinocchio's free flyer
    inertial  (do/dt - omega x o, omega)   axes and reference point of the inertial frame
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.errors import InputError, known_names

Representation = Literal["body", "inertial", "mixed"]


def velocity_map(source: str, target: str, pose: pin.SE3) -> Array:
    """(6, 6) matrix taking velocities of the frame at ``pose`` from ``source`` to ``target``."""
    return _from_mixed(target, pose) @ _to_mixed(source, pose)


def velocity_map_rate(source: str, target: str, pose: pin.SE3, mixed_velocity: ArrayLike) -> Array:
    """(6, 6) time derivative of :func:`velocity_map` while the frame moves."""
    velocity = check_vector("mixed_velocity", mixed_velocity, 6)
    X, X_inv = _from_mixed(target, pose), _to_mixed(source, pose)
    dX_inv = -X_inv @ _from_mixed_rate(source, pose, velocity) @ X_inv
    return _from_mixed_rate(target, pose, velocity) @ X_inv + X @ dX_inv


def convert_velocity(velocity: ArrayLike, source: str, target: str, pose: pin.SE3) -> Array:
    """Velocity (6,) of the frame at ``pose``, m/s and rad/s, in another representation."""
    return velocity_map(source, target, pose) @ check_vector("velocity", velocity, 6)


def convert_wrench(wrench: ArrayLike, source: str, target: str, pose: pin.SE3) -> Array:
    """Wrench (6,), N and N m, in another representation; its power with a velocity is kept."""
    return velocity_map(target, source, pose).T @ check_vector("wrench", wrench, 6)


def _check(representation: str) -> None:
    valid = get_args(Representation)
    if representation not in valid:
        raise InputError(
            f"unknown velocity representation '{representation}'"
            f"{known_names(representation, valid)}"
        )


def _from_mixed(representation: str, pose: pin.SE3) -> Array:
    _check(representation)
    X = np.eye(6)
    if representation == "body":
        X[:3, :3] = X[3:, 3:] = pose.rotation.T
    elif representation == "inertial":
        X[:3, 3:] = pin.skew(pose.translation)
    return X


def _to_mixed(representation: str, pose: pin.SE3) -> Array:
    _check(representation)
    X = np.eye(6)
    if representation == "body":
        X[:3, :3] = X[3:, 3:] = pose.rotation
    elif representation == "inertial":
        X[:3, 3:] = -pin.skew(pose.translation)
    return X


def _from_mixed_rate(representation: str, pose: pin.SE3, mixed_velocity: Array) -> Array:
    dX = np.zeros((6, 6))
    if representation == "body":
        dX[:3, :3] = dX[3:, 3:] = -pose.rotation.T @ pin.skew(mixed_velocity[3:])
    elif representation == "inertial":
        dX[:3, 3:] = pin.skew(mixed_velocity[:3])
    return dX
