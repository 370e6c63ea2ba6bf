"""Inverse dynamics of a robot on its contacts, and the freedom that its torques have.

RobotDynamicsETH 3.10, with the equations of motion of :mod:`balance.dynamics.contact`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.dynamics.constraints import Contact
from balance.dynamics.contact import constrained_dynamics
from balance.errors import InputError

_ZERO = 1e-9  # singular value, relative to the largest one, of a direction without effect
_REACHED = 1e-6  # largest error of an acceleration that counts as produced, relative to its size


@dataclass(frozen=True, slots=True)
class FloatingBaseTorques:
    """Torques that produce a motion, and how they can be redistributed.

    Attributes:
        torques: tau (nj,), N m.
        redistribution: (nj, m) orthonormal basis of the torques that change the contact forces
            alone, the null space of N_c^T S^T; adding any of them leaves the motion as it is.
        force_on_environment: F_c (rows), N and N m, world axes at the contact points.
    """

    torques: Array
    redistribution: Array
    force_on_environment: Array


def floating_base_torques(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    acceleration: ArrayLike,
    contacts: Sequence[Contact],
    *,
    preferred: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> FloatingBaseTorques:
    """Torques for ``acceleration`` dv/dt (nv,) on ``contacts``; RobotDynamicsETH (3.99)-(3.100).

        tau = (N_c^T S^T)^+ N_c^T (M dv/dt + b + g) + N(N_c^T S^T) tau_0,

    with N_c the support null space and tau_0 the ``preferred`` torques (nj,), zero if not given.
    Of all torques that produce the motion these are the nearest to tau_0: sum_j weight_j
    (tau_j - tau_0j)^2 is least.  ``weight`` (nj,) is one if not given, as in the notes; one over
    the squared torque limit shares the load in proportion to what the joints can bear.

    The acceleration must keep the contacts where they are, J_c dv/dt + dJ_c/dt v = 0.
    """
    wanted = check_vector("acceleration", acceleration, model.nv)
    nj = model.nv - 6
    tau_0 = np.zeros(nj) if preferred is None else check_vector("preferred", preferred, nj)
    scale = np.sqrt(_check_weight(weight, nj))
    at_rest = constrained_dynamics(model, q, v, np.zeros(nj), contacts)
    N_c, M = at_rest.support.N_c, at_rest.support.M
    P = N_c.T[:, 6:] / scale
    U, sigma, Vt = np.linalg.svd(P, full_matrices=True)
    rank = int((sigma > _ZERO * sigma.max(initial=0.0)).sum())
    missing = N_c.T @ (M @ wanted + at_rest.h) - P @ (scale * tau_0)
    step = Vt[:rank].T @ ((U[:, :rank].T @ missing) / sigma[:rank])
    torques = tau_0 + step / scale
    moved = constrained_dynamics(model, q, v, torques, contacts)
    error = float(np.abs(moved.acceleration - wanted).max())
    if error > _REACHED * (1.0 + float(np.abs(wanted).max())):
        raise InputError(
            f"no joint torques produce this acceleration on these contacts (off by {error:.3g}); "
            "it must satisfy J_c dv/dt + dJ_c/dt v = 0, and the contacts must bear the base"
        )
    null_space = (Vt[rank:] / scale).T
    redistribution = np.linalg.qr(null_space)[0]
    return FloatingBaseTorques(torques, redistribution, moved.force_on_environment)


def _check_weight(weight: ArrayLike | None, size: int) -> Array:
    if weight is None:
        return np.ones(size)
    values = check_vector("weight", weight, size)
    if not (values > 0.0).all():
        raise InputError(f"weight has an entry of {values.min():g}; all must be positive")
    return values
