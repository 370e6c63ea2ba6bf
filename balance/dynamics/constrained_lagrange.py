"""Motion under constraints on velocities or configurations, by multipliers; RobotDynamicsETH 3.4.5.

    M dv/dt + h + J_m^T lambda_m + (df/dq)^T lambda_c = tau                                 (3.37)

with h = b + g.  Contacts are the special case of :mod:`balance.dynamics.contact`; here a constraint
is any set of rows, so that rolling without slipping, a knife edge or a closed loop can be one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector, symmetrise
from balance.dynamics.differential_kinematics import RANK_TOLERANCE, damped_inverse
from balance.errors import InputError

_STEP = 1e-4


@dataclass(frozen=True, slots=True)
class ConstraintRows:
    """Rows that an acceleration must satisfy: ``J`` dv/dt + ``bias`` = 0, shapes (c, nv) and (c,).

    Of a motion constraint A(q) v + a_0(t) = 0, RobotDynamicsETH (3.35), J is A and the bias
    dA/dt v + da_0/dt.  Of a configuration constraint f(q) = 0, J is df/dq and the bias dJ/dt v.

    Differs: (3.36) prints A with a column for each constraint; J^T lambda in (3.37) needs a row.
    """

    J: Array
    bias: Array

    def __post_init__(self) -> None:
        J, bias = np.asarray(self.J, dtype=float), np.asarray(self.bias, dtype=float)
        if J.ndim != 2 or bias.shape != J.shape[:1]:
            raise InputError(
                f"a constraint has rows of shape {J.shape} and a bias of shape {bias.shape}; "
                "expected (c, nv) and (c,)"
            )
        object.__setattr__(self, "J", J)
        object.__setattr__(self, "bias", bias)


@dataclass(frozen=True, slots=True)
class ConstrainedMotion:
    """``acceleration`` dv/dt (nv,) and the ``multipliers`` (c,) of all constraints, in order.

    The constraints act on the robot with the generalised force -J^T lambda.
    """

    acceleration: Array
    multipliers: Array


def constrained_motion(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Sequence[ConstraintRows],
) -> ConstrainedMotion:
    """Solve (3.37) with the constraints' second derivatives; ``tau`` (nv,) generalised forces.

    Constraints that follow from others share the force: the multipliers of least norm are returned,
    and the acceleration is unique all the same.
    """
    q, v = check_vector("q", q, model.nq), check_vector("v", v, model.nv)
    force = check_vector("tau", tau, model.nv)
    J = np.vstack([np.zeros((0, model.nv)), *(rows.J for rows in constraints)])
    bias = np.concatenate([np.zeros(0), *(rows.bias for rows in constraints)])
    M = symmetrise(pin.crba(model, model.createData(), q))
    h = pin.nonLinearEffects(model, model.createData(), q, v)
    free = np.linalg.solve(M, force - h)
    by_multiplier = np.linalg.solve(M, J.T)
    inertia = J @ by_multiplier
    threshold = RANK_TOLERANCE * float(np.linalg.norm(inertia, 2)) if len(J) else 0.0
    multipliers = damped_inverse(inertia, threshold=threshold) @ (J @ free + bias)
    return ConstrainedMotion(free - by_multiplier @ multipliers, multipliers)


def configuration_constraint(
    model: pin.Model, q: ArrayLike, v: ArrayLike, f: Callable[[Array], ArrayLike]
) -> ConstraintRows:
    """Rows of f(q) = 0 by central differences on the configuration manifold.

    Good to about 1e-8 in J and 1e-6 in the bias; write exact rows where f's derivatives are known.
    """
    q, v = check_vector("q", q, model.nq), check_vector("v", v, model.nv)

    def value(at: Array) -> Array:
        return np.atleast_1d(np.asarray(f(at), dtype=float))

    def slope(at: Array, direction: Array) -> Array:
        ahead, behind = (pin.integrate(model, at, s * _STEP * direction) for s in (1.0, -1.0))
        return (value(ahead) - value(behind)) / (2.0 * _STEP)

    J = np.column_stack([slope(q, axis) for axis in np.eye(model.nv)])
    # d2f/dt2 along the motion with dv/dt = 0 is dJ/dt v.
    ahead, behind = (pin.integrate(model, q, s * _STEP * v) for s in (1.0, -1.0))
    bias = (value(ahead) - 2.0 * value(q) + value(behind)) / _STEP**2
    return ConstraintRows(J, bias)
