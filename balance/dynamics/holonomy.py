"""How far a closed loop of the joints turns a robot, from the curvature inside the loop.

The centroidal frame F follows the joints with dF/dt = (a ds/dt)^ F (17).  After a loop it is back
at H F(0) with the holonomy H, which is the identity for every loop if and only if the curvature
(20) vanishes.  Shrink the loop to its starting point, s(sigma, t) with sigma from 0 to 1.  The
proof of Saccon2017 (29)-(33), curvature kept, gives

    H^-1 dH/dsigma = integral of Ad(F^-1) sum_ij B_ij ds_i/dt ds_j/dsigma dt,

so that H follows from the curvature on the surface that the loops sweep (Stokes' theorem for a
group that does not commute).  A robot without momentum keeps C still in the world (17), hence its
base turns by F(0) F(1)^-1: the falling cat.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from balance.dynamics.centroidal_frame import (
    GAUSS_NODES,
    ShapePath,
    centroidal_frame,
    integrate_frame,
)
from balance.dynamics.checks import Array, check_vector
from balance.dynamics.connection import check_one_dof_joints
from balance.dynamics.curvature import curvature
from balance.errors import InputError

_CLOSED = 1e-9
"""How near the end of a loop must be to its start, rad or m."""
_FRAME_STEPS = 2
"""Steps of order 4 of the centroidal frame from one point of the quadrature to the next."""
_SLOPE_STEP = 1e-5
"""Step of the difference that gives ds/dt, as a fraction of the loop."""


def loop_holonomy(model: pin.Model, loop: ShapePath, tolerance: float = 1e-9) -> pin.SE3:
    """H = F(1) F(0)^-1 along ``loop``, s(t) for t from 0 to 1, by integrating (17).

    In base axes about the base origin; the same wherever the frame starts.
    """
    check_one_dof_joints(model)
    _start_of(model, loop)
    path = centroidal_frame(model, loop, np.linspace(0.0, 1.0, 9), tolerance=tolerance)
    return path[-1] * path[0].inverse()


def holonomy_from_curvature(
    model: pin.Model,
    loop: ShapePath,
    *,
    pieces: Sequence[float] = (0.0, 1.0),
    shells: int = 16,
    points: int = 24,
) -> pin.SE3:
    """H of ``loop`` from the curvature (20) on the cone between the loop and its start.

    Args:
        model: free-flyer model whose other joints have one degree of freedom each.
        loop: joint positions s(t), t from 0 to 1, with s(1) = s(0).
        pieces: times from 0 to 1 between which the loop is smooth.
        shells: steps of order 4 in sigma; each evaluates two loops.
        points: Gauss points in t on each piece.
    """
    check_one_dof_joints(model)
    start = _start_of(model, loop)
    if shells < 1 or points < 1:
        raise InputError(f"shells is {shells} and points is {points}; both must be at least 1")
    times, weights = _quadrature(pieces, points)
    data = pin.Data(model)
    holonomy = pin.SE3.Identity()
    for shell in range(shells):
        first, second = (
            _rate(model, data, loop, start, (shell + node) / shells, times, weights)
            * (1.0 / shells)
            for node in GAUSS_NODES
        )
        # The rate is left-trivialised, so the bracket of the Magnus expansion changes its sign.
        twist = (first + second) * 0.5 + first.cross(second) * (np.sqrt(3.0) / 12.0)
        holonomy = holonomy * pin.exp6(twist)
    return holonomy


def turn_without_momentum(model: pin.Model, loop: ShapePath, tolerance: float = 1e-9) -> pin.SE3:
    """Pose of the base after ``loop``, in its frame at the start, for a robot without momentum."""
    path = centroidal_frame(model, loop, np.linspace(0.0, 1.0, 9), tolerance=tolerance)
    return path[0] * path[-1].inverse()


def _rate(
    model: pin.Model,
    data: pin.Data,
    loop: ShapePath,
    start: Array,
    sigma: float,
    times: Array,
    weights: Array,
) -> pin.Motion:
    """H^-1 dH/dsigma for the loop shrunk to ``sigma`` of its size."""

    def shrunk(t: float) -> Array:
        return start + sigma * (np.asarray(loop(t), dtype=float) - start)

    frames = integrate_frame(model, shrunk, times, pin.SE3.Identity(), _FRAME_STEPS)
    total = np.zeros(6)
    for t, weight, frame in zip(times, weights, frames, strict=True):
        along = (shrunk(t + _SLOPE_STEP) - shrunk(t - _SLOPE_STEP)) / (2.0 * _SLOPE_STEP)
        outwards = np.asarray(loop(t), dtype=float) - start
        B = np.einsum("ijk,i,j->k", curvature(model, shrunk(t), data), along, outwards)
        total += weight * frame.actInv(pin.Motion(B)).vector
    return pin.Motion(total)


def _quadrature(pieces: Sequence[float], points: int) -> tuple[Array, Array]:
    """Gauss points and weights on every piece, after the time 0 with no weight."""
    ends = np.asarray(pieces, dtype=float)
    if (
        ends.ndim != 1
        or len(ends) < 2
        or ends[0] != 0.0
        or ends[-1] != 1.0
        or min(np.diff(ends)) <= 0
    ):
        raise InputError(f"pieces are {list(pieces)}; they must increase from 0 to 1")
    nodes, weights = np.polynomial.legendre.leggauss(points)
    lengths = np.diff(ends)[:, None]
    times = ends[:-1, None] + 0.5 * lengths * (nodes + 1.0)
    return np.append(0.0, times), np.append(0.0, 0.5 * lengths * weights)


def _start_of(model: pin.Model, loop: ShapePath) -> Array:
    """(nj,) shape where the loop starts and ends, or a clear error."""
    start, end = (check_vector(f"loop({t})", loop(t), model.nv - 6) for t in (0.0, 1.0))
    if np.abs(end - start).max(initial=0.0) > _CLOSED:
        raise InputError(
            f"the path is no loop: it starts at {start} and ends at {end} (rad or m); let "
            "loop(1) equal loop(0)"
        )
    return start
