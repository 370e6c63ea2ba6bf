"""The best compromise between weighted tasks where any limits are in its way.

What is left of the program of :mod:`balance.control.parts.weighted_tasks` is the point (u, z, s)
next to the origin that keeps all limits: of cones, drives and joints.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.free_motion import force_maps, force_split
from balance.control.parts.joint_bounds import used_up, write_joint_rows
from balance.control.parts.limits import limit_margins, write_limit_rows
from balance.control.qp.certified import TOLERANCE
from balance.control.qp.nearest_point import nearest_point
from balance.control.qp.problem import error_of
from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import divide_right

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

FEW_ROUNDS = 20  # in which the last active rows mostly lead to the next ones


@compiled
def limited(
    M: Array,
    bias: Array,
    J: Array,
    base: int,
    force_weight: Array,
    planned: Array,
    a: Array,
    Z: Array,
    U: Array,
    unit: float,
    cones: Array,
    lower: Array,
    torque_limits: Array,
    least: Array,
    most: Array,
    ease: Array,
) -> tuple[Array, tuple[Array, Array, Array, Array], Array, Array]:
    """What is left with limits, C x >= d on x = (u, z, s) / c, and what x means.

    That is c Z U^-1 for the accelerations, and f_0, F, tau_0, T for forces and torques.
    """
    motion = unit * divide_right(Z, U)
    share, null, _ = force_split(J[:, :base], force_weight)
    maps = force_maps(M, bias, J, base, planned, a, motion, share, unit * null)
    f_0, F, tau_0, T = maps
    k, hard = cones.shape[1], len(lower) + 2 * len(tau_0)
    C = np.zeros((hard + 2 * len(least) + 1, F.shape[1] + 1))
    d = np.zeros(len(C))
    write_limit_rows(cones, lower, torque_limits, f_0[:k], F[:k], tau_0, T, C, d)
    write_joint_rows(a, motion, least, most, ease, C[hard:], d[hard:])
    C[-1, -1] = 1.0
    return motion, maps, C, d


@compiled
def at_solution(
    x: Array,
    a: Array,
    motion: Array,
    f_0: Array,
    F: Array,
    tau_0: Array,
    T: Array,
    cones: Array,
    lower: Array,
    torque_limits: Array,
    least: Array,
    most: Array,
) -> tuple[Array, Array, Array, Integers]:
    """Torques, wrenches, their margins, and the numbers of the joints' bounds that are used up.

    What rounding leaves of torques beyond their limits is cut.
    """
    n_y, k = motion.shape[1], cones.shape[1]
    joints = used_up(a + motion.dot(x[:n_y]), least, most)
    torques, wrenches = tau_0 + T.dot(x[:-1]), (f_0 + F.dot(x[:-1]))[:k]
    margins = limit_margins(cones, lower, torque_limits, wrenches, torques)
    torques = np.minimum(np.maximum(torques, -torque_limits), torque_limits)
    return torques, wrenches, margins, joints


@compiled
def within_limits(
    M: Array,
    bias: Array,
    J: Array,
    base: int,
    force_weight: Array,
    planned: Array,
    a: Array,
    Z: Array,
    U: Array,
    unit: float,
    cones: Array,
    lower: Array,
    torque_limits: Array,
    least: Array,
    most: Array,
    ease: Array,
    used: NDArray[np.bool_],
) -> tuple[bool, Array, Array, Array, Integers]:
    """Whether an answer was found and certified, and what :func:`at_solution` gives, in one call.

    ``used`` are the rows to start from, and those of the answer afterwards.
    """
    motion, maps, C, d = limited(
        M, bias, J, base, force_weight, planned, a, Z, U, unit,
        cones, lower, torque_limits, least, most, ease,
    )  # fmt: skip
    x, multipliers, found = nearest_point(C, d, used, FEW_ROUNDS)
    good = found and error_of(x, np.zeros(len(x)), C, d, x, multipliers) < TOLERANCE
    f_0, F, tau_0, T = maps
    torques, wrenches, margins, joints = at_solution(
        x, a, motion, f_0, F, tau_0, T, cones, lower, torque_limits, least, most
    )
    return good, torques, wrenches, margins, joints
