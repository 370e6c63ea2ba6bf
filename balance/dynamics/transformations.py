"""Homogeneous transformations, and velocities of points on moving bodies.

RobotDynamicsETH 2.6 and 2.7.  The rest of the package uses ``pinocchio.SE3``; these are the notes'
own forms, as matrices and vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.errors import InputError
from balance.rotations import check_rotation_matrix

_TOLERANCE = 1e-9


def homogeneous_matrix(C_AB: ArrayLike, r_AB: ArrayLike) -> Array:
    """T_AB (4, 4) with (r_AP, 1) = T_AB (r_BP, 1); RobotDynamicsETH (2.108)-(2.110).

    ``C_AB`` takes components in B to those in A, ``r_AB`` is the origin of B in A's axes, m.
    Consecutive transformations multiply, T_AC = T_AB T_BC (2.112).
    """
    T = np.eye(4)
    T[:3, :3] = check_rotation_matrix(C_AB)
    T[:3, 3] = check_vector("r_AB", r_AB, 3)
    return T


def inverse_homogeneous(T_AB: ArrayLike) -> Array:
    """T_BA = [C^T  -C^T r; 0 1], without a general inverse; RobotDynamicsETH (2.111)."""
    T = np.asarray(T_AB, dtype=float)
    if T.shape != (4, 4) or np.abs(T[3] - [0.0, 0.0, 0.0, 1.0]).max() > _TOLERANCE:
        raise InputError("T_AB must be a (4, 4) matrix whose last row is 0, 0, 0, 1")
    C_BA = check_rotation_matrix(T[:3, :3]).T
    return homogeneous_matrix(C_BA, -C_BA @ T[:3, 3])


def transform_point(T_AB: ArrayLike, r_BP: ArrayLike) -> Array:
    """r_AP (3,) = C_AB r_BP + r_AB, in A's axes; RobotDynamicsETH (2.109)-(2.110), (2.114)."""
    return (np.asarray(T_AB, dtype=float) @ np.append(check_vector("r_BP", r_BP, 3), 1.0))[:3]


def point_velocity(v_B: ArrayLike, omega: ArrayLike, r_BP: ArrayLike) -> Array:
    """v_P = v_B + Omega x r_BP of a point on a rigid body; RobotDynamicsETH (2.118)-(2.121).

    All in the same axes, m/s and rad/s.
    """
    v, w, r = _vectors(v_B, omega, r_BP)
    return v + np.cross(w, r)


def point_acceleration(a_B: ArrayLike, psi: ArrayLike, omega: ArrayLike, r_BP: ArrayLike) -> Array:
    """a_P = a_B + Psi x r_BP + Omega x (Omega x r_BP); RobotDynamicsETH (2.122).

    ``psi`` is the angular acceleration; all in the same axes.
    """
    a, alpha, w, r = _vectors(a_B, psi, omega, r_BP)
    return a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))


def velocity_in_moving_axes(r_dot_B: ArrayLike, omega_B: ArrayLike, r_B: ArrayLike) -> Array:
    """The velocity of P in the axes of a turning frame B; RobotDynamicsETH (2.115)-(2.129).

    v_P = d(r)/dt + omega_AB x r, Euler's rule of differentiation: ``r_B`` are the components of
    r_AP in B, ``r_dot_B`` their rates, ``omega_B`` the angular velocity of B in its own axes.  The
    rates alone are a velocity only if B does not turn (2.123)-(2.124).
    """
    rate, w, r = _vectors(r_dot_B, omega_B, r_B)
    return rate + np.cross(w, r)


def _vectors(*values: ArrayLike) -> list[Array]:
    """Vectors (..., 3) as arrays."""
    arrays = [np.asarray(value, dtype=float) for value in values]
    for array in arrays:
        if array.shape[-1:] != (3,):
            raise InputError(f"a vector has shape {array.shape}; expected (..., 3)")
    return arrays
