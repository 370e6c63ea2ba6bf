"""What holds a robot still in a given posture: contact wrenches and torques, by linear programs.

At a fixed configuration the static torques  g - sum J^T w  are linear in the wrenches w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array
from balance.dynamics.static_posture import Point, StaticPosture, Touch


@dataclass(frozen=True)
class Equilibrium:
    """Wrenches (6,) by surface and joint torques (N m) whose largest share of a limit is least."""

    wrenches: dict[str, Array]
    torques: Array
    shares: Array


def least_effort(search: StaticPosture, q: Array) -> Equilibrium | None:
    """The wrenches in their cones that hold ``q`` with the least largest share of torque limits.

    None if no wrenches in the cones hold it, whatever the torques.
    """
    from scipy.optimize import linprog  # slow to import

    tau_0, B, A, b = _linear(search, q)
    limits = search.limits[:, None]
    m = B.shape[1]
    share = np.hstack([B[6:] / limits, -np.ones((len(limits), 1))])
    opposite = np.hstack([-B[6:] / limits, -np.ones((len(limits), 1))])
    rest = tau_0[6:] / search.limits
    found = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.vstack([share, opposite, np.hstack([-A, np.zeros((len(A), 1))])]),
        b_ub=np.concatenate([-rest, rest, -b]),
        A_eq=np.hstack([B[:6], np.zeros((6, 1))]) / search.weight,
        b_eq=-tau_0[:6] / search.weight,
        bounds=[(None, None)] * m + [(0.0, None)],
    )
    if found.status != 0:
        return None
    w = found.x[:-1]
    torques = tau_0[6:] + B[6:] @ w
    return Equilibrium(search.wrenches(Point(q, w)), torques, np.abs(torques) / search.limits)


def com_shortfall(search: StaticPosture, q: Array) -> Array | None:
    """The smallest horizontal shift (m) of the CoM after which the cones could hold ``q``.

    None if no shift helps.
    """
    from scipy.optimize import linprog

    tau_0, B, A, b = _linear(search, q)
    m = B.shape[1]
    # Gravity acts at the CoM: moved by d (world), it adds the moment d x (-m g z) to the base.
    R = pin.Quaternion(q[3:7]).toRotationMatrix().T
    moments = np.zeros((6, 2))
    for axis in (0, 1):
        shift = np.eye(3)[axis]
        moments[3:, axis] = -R @ np.cross(shift, [0.0, 0.0, -search.weight])
    split = np.hstack([moments, -moments])  # d = d_plus - d_minus
    found = linprog(
        np.append(np.zeros(m), np.ones(4)),
        A_ub=np.hstack([-A, np.zeros((len(A), 4))]),
        b_ub=-b,
        A_eq=np.hstack([B[:6], split]) / search.weight,
        b_eq=-tau_0[:6] / search.weight,
        bounds=[(None, None)] * m + [(0.0, None)] * 4,
    )
    if found.status != 0:
        return None
    return np.asarray(found.x[m : m + 2] - found.x[m + 2 :])


def _linear(search: StaticPosture, q: Array) -> tuple[Array, Array, Array, Array]:
    """tau_0 and B with torques tau_0 + B w; A and b with A w >= b, w in the bearings' units."""
    zero = Point(q, np.zeros(search.n_wrenches))
    tau_0, J = search.static_torque(zero)
    A = np.zeros((0, search.n_wrenches))
    b = np.empty(0)
    k = 0
    for touch in search.bearing:
        rows, lower = _scaled_cone(touch)
        block = np.zeros((len(rows), search.n_wrenches))
        block[:, k : k + rows.shape[1]] = rows
        A, b, k = np.vstack([A, block]), np.append(b, lower), k + rows.shape[1]
    return tau_0, J[:, search.model.nv :], A, b


def _scaled_cone(touch: Touch) -> tuple[Array, Array]:
    assert touch.bearing is not None
    held = list(touch.bearing.held)
    A = touch.bearing.rows[:, held] * touch.bearing.units[held]
    norms = np.linalg.norm(A, axis=1)
    return A / norms[:, None], touch.bearing.lower / norms
