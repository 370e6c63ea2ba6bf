"""The best compromise between weighted tasks where the wrench cones alone are in its way.

What is left of the program of :mod:`balance.control.parts.weighted_tasks` is the point (u, z) next
to the origin that keeps the cones.  Whether drives and joints bear it is seen afterwards.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.free_motion import bearing_forces, force_split
from balance.control.parts.joint_bounds import kept
from balance.control.parts.limits import limit_margins
from balance.control.qp.certified import TOLERANCE
from balance.control.qp.nearest_point import nearest_point
from balance.control.qp.problem import error_of
from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import divide_right, divide_upper

Array = NDArray[np.float64]


class Ended(IntEnum):
    """How an attempt ended."""

    UNSOLVED = 0
    """No certified answer: another solver is to be asked."""
    OTHERS = 1
    """Drives or joints are in the way too."""
    KEPT = 2


@compiled
def cone_limited(
    M: Array,
    J: Array,
    base: int,
    force_weight: Array,
    Z: Array,
    U: Array,
    unit: float,
    cones: Array,
    lower: Array,
    forces: Array,
) -> tuple[Array, Array, Array]:
    """The same as ``limited`` for cones alone, on x = (u, z) / c: F, C and d.

    Of the motion c Z U^-1 only what moves the base counts here.
    """
    k, moved = cones.shape[1], np.ascontiguousarray(M[:base]).dot(Z)
    share, null, _ = force_split(J[:, :base], force_weight)
    F = bearing_forces(divide_right(unit * moved, U), share, unit * null)
    return F, cones.dot(F[:k]), lower - cones.dot(forces[:k])


@compiled
def at_cones(
    x: Array,
    a: Array,
    Z: Array,
    U: Array,
    unit: float,
    forces: Array,
    F: Array,
    M: Array,
    bias: Array,
    J: Array,
    base: int,
    cones: Array,
    lower: Array,
    torque_limits: Array,
    least: Array,
    most: Array,
) -> tuple[bool, Array, Array, Array]:
    """Whether drives and joints bear it too, torques, wrenches, and the margins of both."""
    a = a + Z.dot(divide_upper(U, unit * x[: Z.shape[1]]))
    forces = forces + F.dot(x)
    torques = (M.dot(a) + bias - forces.dot(J))[base:]
    wrenches = forces[: cones.shape[1]]
    margins = limit_margins(cones, lower, torque_limits, wrenches, torques)
    good = bool(margins[len(lower) :].min() >= 0.0) and kept(a, least, most)
    return good, torques, wrenches, margins


@compiled
def within_cones(
    M: Array,
    bias: Array,
    J: Array,
    base: int,
    force_weight: Array,
    a: Array,
    Z: Array,
    U: Array,
    unit: float,
    forces: Array,
    cones: Array,
    lower: Array,
    torque_limits: Array,
    least: Array,
    most: Array,
    active: NDArray[np.bool_],
) -> tuple[int, Array, Array, Array]:
    """All of it in one call: how it ended, torques, wrenches, and the margins of both.

    ``active`` are the rows to start from, and those of the answer afterwards.
    """
    F, C, d = cone_limited(M, J, base, force_weight, Z, U, unit, cones, lower, forces)
    x, multipliers, found = nearest_point(C, d, active)
    if not found or not error_of(x, np.zeros(len(x)), C, d, x, multipliers) < TOLERANCE:
        return 0, a, a, a
    good, torques, wrenches, margins = at_cones(
        x, a, Z, U, unit, forces, F, M, bias, J, base, cones, lower, torque_limits, least, most
    )
    return 2 if good else 1, torques, wrenches, margins
