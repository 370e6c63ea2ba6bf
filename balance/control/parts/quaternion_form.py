"""The equations of motion with the base's rotation as a unit quaternion; Bouyarmane2012 (32)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.control.parts.whole_body import BodyView, MotionEquations

BASE = 7
"""Coordinates of the base: x_0 (3) in world axes, and the quaternion (x, y, z, w)."""


def quaternion_equations(body: BodyView, plain: MotionEquations | None = None) -> MotionEquations:
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
    nv = body.model.nv
    plain = plain or body.equations()
    u, v_B, omega_B = body.q[3:7], body.v[:3], body.v[3:6]
    n = BASE + nv - 6
    E, e = np.zeros((nv, n)), np.zeros(nv)
    E[:3, :3] = body.R_WB.T
    rates = E[3:6, 3:BASE]
    rates[:, :3] = -2.0 * pin.skew(u[:3])
    rates[0, 0] = rates[1, 1] = rates[2, 2] = 2.0 * u[3]
    rates[:, 3] = -2.0 * u[:3]
    E[6:, BASE:] = np.eye(nv - 6)
    e[:3] = -pin.skew(omega_B).dot(v_B)
    u_dot = 0.25 * omega_B.dot(rates)  # E^-1 = E^T / 4 on unit quaternions, (2.99)
    C = np.zeros((1, n))
    C[0, 3:BASE] = u
    return MotionEquations(
        M=E.T.dot(plain.M).dot(E),
        bias=(plain.M.dot(e) + plain.bias).dot(E),
        J=np.concatenate([plain.J.dot(E), C]),
        drift=np.append(plain.drift + plain.J.dot(e), u_dot.dot(u_dot)),
        moving=np.concatenate([np.arange(BASE), plain.moving[6:] + BASE - 6]),
        base=BASE,
        to_dv=E,
        dv_bias=e,
    )
