"""Dynamics of a floating-base robot in contact with a rigid environment; RobotDynamicsETH 3.7.

    M dv/dt + h + J_c^T F_c = S^T tau,    J_c dv/dt + dJ_c/dt v = 0,                 (3.56), (3.60)

with h = b + g the velocity and gravity terms, and F_c what the robot exerts **on the environment**
(the reaction on the robot is -F_c), in world axes at the contact points.

Redundant contacts, such as the four corners of one sole, make J_c M^-1 J_c^T singular.  We factor
instead of regularising: with M = L L^T, the singular value decomposition of J_c L^-T reveals the
rank, and the formulas hold with pseudo-inverses in place of inverses.  Accelerations, post-impact
velocities and the wrench on each link are then exact; of the many sets of forces that produce them
we return the one of least norm.  A proximal term, Pinocchio's choice, converges to the same motion
over several iterations; it pays in a solver's inner loop, not in a formula to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from balance.dynamics.checks import Array, check_state, check_vector, symmetrise
from balance.dynamics.constraints import (
    RANK_TOLERANCE,
    Contact,
    contact_drift,
    contact_jacobian,
)
from balance.errors import SingularityError


@dataclass(frozen=True, slots=True)
class Support:
    """What contacts do to the inertia of a robot.

    Attributes:
        M: mass matrix (nv, nv).
        J_c: stacked contact Jacobian (rows, nv).
        Lambda_c: inertia seen at the contacts, (J_c M^-1 J_c^T)^-1; RobotDynamicsETH (3.67).
        J_c_bar: its dynamically consistent inverse M^-1 J_c^T Lambda_c (nv, rows).
        N_c: dynamically consistent support null space I - J_c_bar J_c; RobotDynamicsETH (3.62).
        rank: number of independent constraints.
    """

    M: Array
    J_c: Array
    Lambda_c: Array
    J_c_bar: Array
    N_c: Array
    rank: int


@dataclass(frozen=True, slots=True)
class ConstrainedDynamics:
    """Motion and forces of a robot whose contacts stay where they are.

    Attributes:
        acceleration: dv/dt (nv), Pinocchio's convention.
        force_on_environment: F_c (rows) of RobotDynamicsETH (3.61), N and N m.
        h: velocity and gravity terms b + g (nv).
        drift: dJ_c/dt v (rows).
        support: the matrices of the contacts.
    """

    acceleration: Array
    force_on_environment: Array
    h: Array
    drift: Array
    support: Support


@dataclass(frozen=True, slots=True)
class Impact:
    """A perfectly inelastic impact.

    Attributes:
        v_after: velocity after the impact (nv).
        impulse_on_environment: (rows), N s and N m s; RobotDynamicsETH (3.66).
        energy_change: change of the kinetic energy in J, never positive; RobotDynamicsETH (3.71).
        support: the matrices of the contacts.
    """

    v_after: Array
    impulse_on_environment: Array
    energy_change: float
    support: Support


def support(
    model: pin.Model,
    q: ArrayLike,
    contacts: Sequence[Contact],
    rank_tolerance: float = RANK_TOLERANCE,
) -> Support:
    """Contact inertia (3.67) and support null space (3.62) of RobotDynamicsETH.

    A singular value of J_c L^-T (L L^T = M) below ``rank_tolerance`` times the largest one counts
    as zero: that row of the constraints follows from others.
    """
    q, _ = check_state(model, q, np.zeros(model.nv))
    M = symmetrise(pin.crba(model, model.createData(), q))
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise SingularityError(
            f"the mass matrix of '{model.name}' is not positive definite; "
            "give every link at the end of a chain a mass and an inertia"
        ) from None
    J_c = contact_jacobian(model, q, contacts)
    U, s, Vt = np.linalg.svd(solve_triangular(L, J_c.T, lower=True).T, full_matrices=False)
    keep = s > rank_tolerance * s.max(initial=0.0)
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    # J_c L^-T = U diag(s) Vt, so M^-1 J_c^T Lambda_c = L^-T (J_c L^-T)^+.
    J_c_bar = solve_triangular(L, (Vt.T / s) @ U.T, lower=True, trans="T")
    return Support(
        M=M,
        J_c=J_c,
        Lambda_c=(U / s**2) @ U.T,
        J_c_bar=J_c_bar,
        N_c=np.eye(model.nv) - J_c_bar @ J_c,
        rank=int(keep.sum()),
    )


def constrained_dynamics(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    torques: ArrayLike,
    contacts: Sequence[Contact],
    rank_tolerance: float = RANK_TOLERANCE,
) -> ConstrainedDynamics:
    """Acceleration and contact forces with the contacts at rest; RobotDynamicsETH (3.61)-(3.64).

    ``torques`` (nv - 6) are those of the joints.  F_c follows from (3.61), the acceleration from
    the constraint-consistent equation (3.63).

    Differs: (3.63) is printed with N_c^T b + g; the substitution that leads to it gives
    N_c^T (b + g), which is used here and agrees with (3.64).
    The notes assume J_c v = 0.  With redundant contacts and another v the constraint (3.60) may be
    contradictory, and is then met in the least-squares sense.
    """
    q, v = check_state(model, q, v)
    tau = check_vector("torques", torques, model.nv - 6)
    at_contacts = support(model, q, contacts, rank_tolerance)
    M, J_c, Lambda_c = at_contacts.M, at_contacts.J_c, at_contacts.Lambda_c
    h = pin.nonLinearEffects(model, model.createData(), q, v)
    drift = contact_drift(model, q, v, contacts)
    pushing = np.concatenate([np.zeros(6), tau]) - h
    force = at_contacts.J_c_bar.T @ pushing + Lambda_c @ drift
    consistent = at_contacts.N_c.T @ pushing - J_c.T @ Lambda_c @ drift
    return ConstrainedDynamics(
        acceleration=np.linalg.solve(M, consistent),
        force_on_environment=force,
        h=h,
        drift=drift,
        support=at_contacts,
    )


def impact(
    model: pin.Model,
    q: ArrayLike,
    v_before: ArrayLike,
    contacts: Sequence[Contact],
    rank_tolerance: float = RANK_TOLERANCE,
) -> Impact:
    """Velocity jump when ``contacts`` are made at velocity ``v_before``.

    RobotDynamicsETH (3.65)-(3.69): all contact points come to rest at once (J_c v_after = 0), and
    the impulse, the velocity and the energy change follow.
    """
    q, v = check_state(model, q, v_before)
    at_contacts = support(model, q, contacts, rank_tolerance)
    contact_velocity = at_contacts.J_c @ v
    impulse = at_contacts.Lambda_c @ contact_velocity
    return Impact(
        v_after=at_contacts.N_c @ v,
        impulse_on_environment=impulse,
        energy_change=float(-0.5 * contact_velocity @ impulse),
        support=at_contacts,
    )
