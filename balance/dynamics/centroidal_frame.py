"""The centroidal frame along a motion of the joints, Saccon2017 (17), integrated on SE(3).

The frame C has the locked velocity, ^A dH_C/dt = ^A v_loc^ ^A H_C (17).  Writing it in the base
frame, ^A H_C = H F as in (19), removes the motion of the base:

    dF/dt = (a(s) ds/dt)^ F,        a = L^-1 A  the mechanical connection (18).

Each step multiplies by one exponential (Magnus expansion of order 4), so F never leaves SE(3).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.dynamics.connection import check_one_dof_joints, connection_at, shape_configuration
from balance.errors import InputError

ShapePath = Callable[[float], ArrayLike]
"""Joint positions s (nj,) as a function of time."""

MAX_STEPS = 20_000
"""The integration gives up rather than take more steps along the whole path."""

GAUSS_NODES = 0.5 + np.array([-1.0, 1.0]) * np.sqrt(3.0) / 6.0
"""Points of the two-stage Gauss quadrature on [0, 1]."""

PATH_NODES = np.linspace(0.0, 1.0, 5)
"""Points of a step through which the path s(t) is interpolated."""


def _lagrange_weights() -> tuple[Array, Array]:
    """(2, 5) weights that give a quartic and its slope at GAUSS_NODES from values at PATH_NODES."""
    values, slopes = np.empty((2, 5)), np.empty((2, 5))
    for k, node in enumerate(PATH_NODES):
        others = np.delete(PATH_NODES, k)
        basis = np.polynomial.Polynomial.fromroots(others) / np.prod(node - others)
        values[:, k], slopes[:, k] = basis(GAUSS_NODES), basis.deriv()(GAUSS_NODES)
    return values, slopes


POSITION_WEIGHTS, SLOPE_WEIGHTS = _lagrange_weights()


def centroidal_frame(
    model: pin.Model,
    s_of_t: ShapePath,
    t: ArrayLike,
    *,
    initial: pin.SE3 | None = None,
    tolerance: float = 1e-9,
) -> list[pin.SE3]:
    """Poses of the centroidal frame in the base frame at the times ``t``, Saccon2017 (17).

    Args:
        model: free-flyer model whose other joints have one degree of freedom each.
        s_of_t: joint positions (nj,) in rad or m as a smooth function of time.
        t: increasing times (n,) in s; the first is where ``initial`` holds.
        initial: pose at t[0]; by default the base's axes with the origin at the CoM, which then
            stays the origin (36).
        tolerance: the steps are halved until the poses change by less than this (m and rad).

    Returns:
        n poses F(t) of C in the base frame.  For a base that moves along H(t), the pose in the
        world is H(t) F(t): (17) does not depend on the motion of the base otherwise.

    Differs: the velocity ds/dt is that of the quartic through five points of each step, so that
    ``s_of_t`` is all that must be given; it keeps the order of the integrator.
    """
    check_one_dof_joints(model)
    times = _check_times(t)
    if not callable(s_of_t):
        raise InputError(
            f"s_of_t is a {type(s_of_t).__name__}; it must be a function of time that returns the "
            "joint positions, such as scipy.interpolate.CubicSpline(t, s)"
        )
    if not tolerance > 0.0:
        raise InputError(f"tolerance is {tolerance}; it must be positive (m and rad)")
    if initial is None:
        initial = _frame_at_com(model, _sample(model, s_of_t, times[:1])[0])

    substeps = 1
    coarse = integrate_frame(model, s_of_t, times, initial, substeps)
    while True:
        substeps *= 2
        fine = integrate_frame(model, s_of_t, times, initial, substeps)
        change = max(_distance(a, b) for a, b in zip(coarse, fine, strict=True))
        if change < tolerance:
            return fine
        if 2 * substeps * len(times) > MAX_STEPS:
            raise InputError(
                f"the centroidal frame still changes by {change:.3g} with {substeps} steps per "
                f"interval of t, more than the tolerance {tolerance:g}; give a smoother s_of_t, a "
                "shorter t or a larger tolerance"
            )
        coarse = fine


def integrate_frame(
    model: pin.Model, s_of_t: ShapePath, t: Array, initial: pin.SE3, substeps: int
) -> list[pin.SE3]:
    """(17) in the base frame with ``substeps`` equal steps of order 4 in every interval of t."""
    check_one_dof_joints(model)
    data = pin.Data(model)
    stride = len(PATH_NODES) - 1
    poses = [initial]
    for start, end in itertools.pairwise(t):
        pose = poses[-1]
        path = _sample(model, s_of_t, np.linspace(start, end, stride * substeps + 1))
        for first in range(0, stride * substeps, stride):
            pose = pin.exp6(_step_twist(model, data, path[first : first + stride + 1])) * pose
        poses.append(pose)
    return poses


def _step_twist(model: pin.Model, data: pin.Data, path: Array) -> pin.Motion:
    """Twist whose exponential is one step along ``path`` (5, nj): Magnus expansion of order 4."""
    # Relative to the start, or the rounding of the weights would drift with the size of s.
    moved = path - path[0]
    first, second = (
        pin.Motion(
            connection_at(model, data, shape_configuration(model, path[0] + ds)).connection @ slope
        )
        for ds, slope in zip(POSITION_WEIGHTS @ moved, SLOPE_WEIGHTS @ moved, strict=True)
    )
    # The step's length is inside both twists, since the slopes are per step.
    return (first + second) * 0.5 - first.cross(second) * (np.sqrt(3.0) / 12.0)


def _sample(model: pin.Model, s_of_t: ShapePath, times: Array) -> Array:
    """(n, nj) joint positions at ``times`` (n,)."""
    nj = model.nv - 6
    return np.array([check_vector(f"s_of_t({time:g})", s_of_t(time), nj) for time in times])


def _frame_at_com(model: pin.Model, s: Array) -> pin.SE3:
    """The base's axes with the origin at the CoM of the shape ``s``."""
    data = pin.Data(model)
    connection_at(model, data, shape_configuration(model, s))
    return pin.SE3(np.eye(3), data.com[0])


def _distance(a: pin.SE3, b: pin.SE3) -> float:
    """Largest component of the twist from ``a`` to ``b``, m and rad."""
    return float(np.abs(pin.log6(a.actInv(b)).vector).max())


def _check_times(t: ArrayLike) -> Array:
    """``t`` as a finite, increasing vector of at least one time, or a clear error."""
    times = np.asarray(t, dtype=float)
    if times.ndim != 1 or times.size == 0:
        raise InputError(f"t has shape {times.shape}; expected (n,) with at least one time")
    times = check_vector("t", times, times.size)
    if (np.diff(times) <= 0.0).any():
        k = int(np.flatnonzero(np.diff(times) <= 0.0)[0])
        raise InputError(
            f"t[{k + 1}] = {times[k + 1]:g} s does not come after t[{k}] = {times[k]:g} s"
        )
    return times
