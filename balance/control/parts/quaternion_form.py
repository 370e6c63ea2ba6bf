"""The equations of motion with the base's rotation as a unit quaternion; Bouyarmane2012 (32)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.held_columns import HeldColumns
from balance.control.parts.whole_body import BodyView, MotionEquations
from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]

BASE = 7
"""Coordinates of the base: x_0 (3) in world axes, and the quaternion (x, y, z, w)."""


def quaternion_equations(
    body: BodyView,
    plain: MotionEquations | None = None,
    columns: HeldColumns | None = None,
) -> MotionEquations:
    """Bouyarmane2012 (32) with (30), in q = (x_0, quaternion, joint angles) and its derivatives,
    from ``plain`` ones in Pinocchio's velocities; the body's own if not given.

    The chart's constraint q^T S^T S qdd + qdot^T S^T S qdot = 0 is one more row below the contact
    Jacobian, and its multiplier lambda one more entry below the contact wrenches: the program with
    them is (38).  Its minimiser also satisfies (35), the equation that (37) uses, because (35) is
    (32) with lambda eliminated.

    Pinocchio's velocity is v = E qdot, so dv/dt = E qdd + e, and everything follows from the
    equations in v: M_q = E^T M E, N qdot = E^T (M e + bias), J_q = J E.  For the base

        E = [R^T 0; 0 2 H_B],    H_B = [w 1 - [x y z]x, -(x y z)],    e = (-omega_B x v_B, 0),

    H_B as RobotDynamicsETH (2.98), for angular velocities in the base's axes; H_B of the rates
    times the rates vanishes.

    Differs: the paper sums (25) and (26) over the bodies; ``dynamics.gauss.gauss_dynamics`` does
    that, the tests compare the two, and a control step has no time for it.
    """
    plain = plain or body.equations()
    M, bias, J, drift, E, e = chart_equations(
        plain.M, plain.bias, plain.J, plain.drift, body.R_WB, body.q, body.v
    )
    return MotionEquations(
        M, bias, J, drift, body.chart_moving, base=BASE, to_dv=E, dv_bias=e, columns=columns
    )


@compiled
def chart_equations(
    M: Array, bias: Array, J: Array, drift: Array, R_WB: Array, q: Array, v: Array
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """M_q, the bias, J_q and its drift with the chart's row below, E and e, block by block."""
    r, nv = J.shape
    n, x, y, z, w = BASE + nv - 6, 2.0 * q[3], 2.0 * q[4], 2.0 * q[5], 2.0 * q[6]
    E, e = np.zeros((nv, n)), np.zeros(nv)
    E[:3, :3] = R_WB.T
    E[3, 3], E[3, 4], E[3, 5], E[3, 6] = w, z, -y, -x
    E[4, 3], E[4, 4], E[4, 5], E[4, 6] = -z, w, x, -y
    E[5, 3], E[5, 4], E[5, 5], E[5, 6] = y, -x, w, -z
    for i in range(6, nv):
        E[i, i + 1] = 1.0
    e[0] = v[5] * v[1] - v[4] * v[2]
    e[1] = v[3] * v[2] - v[5] * v[0]
    e[2] = v[4] * v[0] - v[3] * v[1]
    E_b, J_b = E[:6, :BASE].copy(), np.ascontiguousarray(J[:, :6])
    M_q, top = np.empty((n, n)), E_b.T.dot(np.ascontiguousarray(M[:6]))
    M_q[:BASE, :BASE] = np.ascontiguousarray(top[:, :6]).dot(E_b)
    M_q[:BASE, BASE:] = top[:, 6:]
    M_q[BASE:, :BASE] = top[:, 6:].T
    M_q[BASE:, BASE:] = M[6:, 6:]
    forced, bias_q = M.dot(e) + bias, np.empty(n)
    bias_q[:BASE] = forced[:6].dot(E_b)
    bias_q[BASE:] = forced[6:]
    J_q, drift_q = np.zeros((r + 1, n)), np.empty(r + 1)
    J_q[:r, :BASE] = J_b.dot(E_b)
    J_q[:r, BASE:] = J[:, 6:]
    J_q[r, 3:BASE] = q[3:7]
    rates = 0.25 * v[3:6].dot(np.ascontiguousarray(E_b[3:, 3:]))  # E^-1 = E^T / 4, (2.99)
    drift_q[:r] = drift + J_b.dot(e[:6])
    drift_q[r] = rates.dot(rates)
    return M_q, bias_q, J_q, drift_q, E, e
