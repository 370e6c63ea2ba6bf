"""The impulse that locks all joints at once, Traversaro2016 V-B.

In the average angular velocity of a robot in flight the paper sees the angular velocity that
remains when an impulse stops all joint motions.  The impulse is internal, so it is the impact law
with the constraint dq = 0,

    M (v+ - v) = Q^T P,      Q v+ = 0,

and nothing here knows of momentum: that v+ is the locked velocity is a result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_state, symmetrise


@dataclass(frozen=True, slots=True)
class JointLock:
    """What locking all joints at once does to a robot in flight."""

    impulse: Array
    """(nj,) impulses of the joints, N m s or N s."""
    velocity: Array
    """(nv,) velocity after, Pinocchio's convention; its joint part is zero."""
    energy_lost: float
    """Kinetic energy that the lock takes, J: that of the joints' own motion, dq^T Lambda_q dq / 2
    with Lambda_q of Garofalo2015 (18)."""


def lock_joints(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> JointLock:
    """Stop every joint of a robot in flight by internal impulses, Traversaro2016 V-B.

    ``data`` is overwritten; without it a new one is made.
    """
    q, v = check_state(model, q, v)
    data = model.createData() if data is None else data
    M = symmetrise(pin.crba(model, data, q))
    nv, nj = model.nv, model.nv - 6
    equations = np.zeros((nv + nj, nv + nj))
    equations[:nv, :nv] = M
    equations[nv:, 6:nv] = equations[6:nv, nv:] = np.eye(nj)
    solution = np.linalg.solve(equations, np.concatenate([M @ v, np.zeros(nj)]))
    after = solution[:nv]
    after[6:] = 0.0
    lost = 0.5 * float(v @ M @ v - after @ M @ after)
    return JointLock(-solution[nv:], after, lost)
