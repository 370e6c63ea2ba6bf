"""The centroidal frame as a function of the shape, built joint by joint, Saccon2017 (21)-(33).

F(s) is reached from F(0) by moving joint 1 to s_1, then joint 2 to s_2 and so on (26)-(28).  It
exists for every mechanism; what the paper proves is that its right-trivialised derivatives are the
columns of the connection (23) if and only if the mechanism is flat.  Keeping the curvature in the
proof (29)-(33) instead of setting it to zero says by how much (23) fails:

    (dF/ds_i F^-1)^v - a_i = -sum_{j > i} integral of Ad(F(s) Delta_j(sigma)^-1) B_ij dsigma

along the leg of joint j, where Delta_j(sigma) is the frame on that leg.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.centroidal_frame import centroidal_frame
from balance.dynamics.checks import Array, check_vector
from balance.dynamics.connection import check_one_dof_joints, mechanical_connection
from balance.dynamics.curvature import curvature

GAUSS_POINTS = 12
"""Points of the quadrature along one leg; smooth integrands, so the error is that of rounding."""


def shape_frame(
    model: pin.Model, s: ArrayLike, *, initial: pin.SE3 | None = None, tolerance: float = 1e-11
) -> pin.SE3:
    """F(s) of (26)-(28): the centroidal frame after moving the joints one by one from zero.

    ``initial`` is F(0), by default the base's axes with the origin at the CoM.  ``tolerance`` is
    that of each leg (m and rad).
    """
    check_one_dof_joints(model)
    goal = check_vector("s", s, model.nv - 6)
    pose = initial
    for start, end in _legs(goal):
        pose = _along(model, start, end, [0.0, 1.0], pose, tolerance)[-1]
    return _at_rest(model, pose)


def shape_frame_derivative(
    model: pin.Model,
    s: ArrayLike,
    direction: ArrayLike,
    *,
    step: float = 1e-3,
    tolerance: float = 1e-11,
) -> Array:
    """(6,) right-trivialised derivative of F at ``s`` along ``direction``, left side of (23).

    A central difference of fourth order with ``step`` (rad or m) of frames with ``tolerance``.
    """
    check_one_dof_joints(model)
    s = check_vector("s", s, model.nv - 6)
    u = check_vector("direction", direction, model.nv - 6)
    here = shape_frame(model, s, tolerance=tolerance).inverse()

    def moved(h: float) -> Array:
        there = shape_frame(model, s + h * step * u, tolerance=tolerance)
        return np.array(pin.log6(there * here).vector)

    first, second = moved(1.0) - moved(-1.0), moved(2.0) - moved(-2.0)
    return (8.0 * first - second) / (12.0 * step)


def integrability_defect(model: pin.Model, s: ArrayLike, tolerance: float = 1e-11) -> Array:
    """(nj, 6) by how much each row of (23) fails at ``s``: dF/ds_i F^-1 - a_i, from the curvature.

    Twists in base axes, m and rad per rad (or m) of joint i.  All vanish if the mechanism is flat.
    """
    check_one_dof_joints(model)
    goal = check_vector("s", s, model.nv - 6)
    data = pin.Data(model)
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    times = np.concatenate([[0.0], 0.5 * (nodes + 1.0), [1.0]])
    defect = np.zeros((len(goal), 6))
    pose = None
    for start, end in _legs(goal):
        j = int(np.flatnonzero(start != end)[0])
        path = _along(model, start, end, times, pose, tolerance)
        pose = path[-1]
        # What the legs before left behind is carried along this one.
        defect = defect @ (pose * path[0].inverse()).toActionMatrix().T
        for t, weight, frame in zip(times[1:-1], 0.5 * weights, path[1:-1], strict=True):
            B = curvature(model, start + t * (end - start), data)[:j, j]
            carried = (pose * frame.inverse()).toActionMatrix()
            defect[:j] -= weight * goal[j] * B @ carried.T
    return defect


def frame_equation_residual(model: pin.Model, s: ArrayLike) -> float:
    """Largest entry of dF/ds_i F^-1 - a_i over all joints, by differences: the check (23)."""
    check_one_dof_joints(model)
    s = check_vector("s", s, model.nv - 6)
    columns = mechanical_connection(model, s).connection.T
    slopes = [shape_frame_derivative(model, s, u) for u in np.eye(len(s))]
    return float(np.abs(np.array(slopes).reshape(-1, 6) - columns).max(initial=0.0))


def _legs(goal: Array) -> list[tuple[Array, Array]]:
    """Shapes before and after each joint moves, (27)-(28); joints that stay at zero have no leg."""
    corners = [np.where(np.arange(len(goal)) < k, goal, 0.0) for k in range(len(goal) + 1)]
    return [(corners[j], corners[j + 1]) for j in range(len(goal)) if goal[j] != 0.0]


def _along(
    model: pin.Model,
    start: Array,
    end: Array,
    times: ArrayLike,
    initial: pin.SE3 | None,
    tolerance: float,
) -> list[pin.SE3]:
    """The frame at ``times`` along a straight leg."""
    return centroidal_frame(
        model, lambda t: start + t * (end - start), times, initial=initial, tolerance=tolerance
    )


def _at_rest(model: pin.Model, pose: pin.SE3 | None) -> pin.SE3:
    """``pose``, or F(0) where no joint moved."""
    if pose is not None:
        return pose
    rest = np.zeros(model.nv - 6)
    return centroidal_frame(model, lambda _: rest, [0.0])[0]
