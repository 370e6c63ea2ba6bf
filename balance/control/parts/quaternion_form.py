"""The equations of motion with the base's rotation as a unit quaternion; Bouyarmane2012 (32)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.whole_body import BodyView, MotionEquations
from balance.dynamics.gauss import gauss_dynamics
from balance.dynamics.gauss.state import chart_from_pinocchio, chart_state

Array = NDArray[np.float64]

CHART = "quaternion"


def quaternion_equations(body: BodyView) -> MotionEquations:
    """Bouyarmane2012 (32) with (30), in q = (x_0, quaternion, joint angles) and its derivatives.

    The chart's constraint q^T S^T S qdd + qdot^T S^T S qdot = 0 is one more row below the contact
    Jacobian, and its multiplier lambda one more entry below the contact wrenches: the program with
    them is (38).  Its minimiser also satisfies (35), the equation that (37) uses, because (35) is
    (32) with lambda eliminated.

    Pinocchio's acceleration is dv/dt = E qdd + e, with R^T (d2x_0/dt2 - omega x dx_0/dt) for the
    base, so the Jacobians of contacts and tasks in these coordinates follow from those on dv/dt.
    """
    plain = body.equations()
    q, qdot = chart_from_pinocchio(body.model, CHART, body.q, body.v)
    gauss = gauss_dynamics(body.model, CHART, q, qdot)
    state = chart_state(body.model, CHART, q, qdot)
    R_T = state.chart.to_matrix(state.theta).T
    nv, base = body.model.nv, 3 + state.chart.size
    E, e = np.zeros((nv, len(q))), np.zeros(nv)
    E[:3, :3], E[3:6, 3:base], E[6:, base:] = R_T, R_T @ state.J_omega, np.eye(nv - 6)
    omega_W = state.J_omega @ state.theta_dot
    e[:3] = -R_T @ np.cross(omega_W, qdot[:3])
    e[3:6] = R_T @ (state.J_omega_dot @ state.theta_dot)
    return MotionEquations(
        M=gauss.M,
        bias=gauss.N @ qdot - gauss.gravity,
        J=np.concatenate([plain.J @ E, gauss.C]),
        drift=np.concatenate([plain.drift + plain.J @ e, gauss.constraint_bias]),
        moving=np.concatenate([np.arange(base), plain.moving[6:] + base - 6]),
        base=base,
        to_dv=E,
        dv_bias=e,
    )
