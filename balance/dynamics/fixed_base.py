"""A fixed-base mechanism as a free-floating one with a link held, Traversaro2016 remark IV.2.

Take the held link as the base: its velocity and acceleration vanish, so the joint rows of the
equations of motion (23) close among themselves and contain no reaction,

    M_jj ddq + C_jj dq + G_j = tau + sum_L J_L,j^T f_L,

while the base rows give the reaction that holds the link.  For a fixed base the torques
J_L,j^T f_L of external wrenches are therefore unique.  Seen from any other base the reaction,
which is not zero, enters the joint rows as well: there they depend on the choice.
One floating model serves for every link that may be held, such as the foot that a robot stands on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.base_frame import change_base, inverse_with_joints
from balance.dynamics.base_velocity import CENTROIDAL, MODEL_BASE, base_velocity
from balance.dynamics.checks import Array, check_floating_base, check_vector
from balance.errors import FrameError, InputError


@dataclass(frozen=True, slots=True)
class FixedBase:
    """Equations of motion of the joints of a robot with one link held to the world."""

    frame: str
    """Frame of the link that is held."""
    M: Array
    """(nj, nj) inertia of the joints."""
    velocity_terms: Array
    """(nj,) C dq, N m."""
    gravity: Array
    """(nj,) gravity torques, N m."""
    coupling: Array
    """(6, nj) base rows of the mass matrix: what a joint acceleration asks of the held link."""
    holding_bias: Array
    """(6,) reaction without accelerations, external wrenches left out; at the frame, world axes."""
    force_map: Array
    """(nv, nv) generalised forces for Pinocchio's v to those for the held link as base."""

    def torques_of(self, J: ArrayLike, wrench: ArrayLike) -> Array:
        """(nj,) joint torques J_j^T f of a wrench, from Pinocchio's Jacobian ``J`` (6, nv)."""
        rows = np.asarray(J, dtype=float)
        if rows.shape != (6, len(self.force_map)):
            raise InputError(f"J has shape {rows.shape}; expected (6, {len(self.force_map)})")
        forces: Array = self.force_map @ (rows.T @ check_vector("wrench", wrench, 6))
        return forces[6:]

    def acceleration(self, torques: ArrayLike) -> Array:
        """(nj,) joint accelerations under ``torques`` (nj,), external ones added by the caller."""
        tau = check_vector("torques", torques, len(self.M))
        rates = np.linalg.solve(self.M, tau - self.velocity_terms - self.gravity)
        return np.asarray(rates, dtype=np.float64)

    def reaction(self, acceleration: ArrayLike) -> Array:
        """(6,) wrench that holds the link, at the frame's origin, world axes, N and N m."""
        return self.coupling @ check_vector("acceleration", acceleration, len(self.M)) + (
            self.holding_bias
        )


def fixed_base(
    model: pin.Model,
    q: ArrayLike,
    dq: ArrayLike,
    frame: str = MODEL_BASE,
    data: pin.Data | None = None,
) -> FixedBase:
    """The robot with the link of ``frame`` held to the world where ``q`` puts it.

    ``dq`` (nj,) are the joint velocities; the base moves as the held link demands.  ``frame`` is a
    frame of the model or ``B``, its own base.
    """
    check_floating_base(model)
    q = check_vector("q", q, model.nq)
    rates = check_vector("dq", dq, model.nv - 6)
    data = model.createData() if data is None else data
    if frame == CENTROIDAL or (not model.existFrame(frame) and "[" in frame):
        raise FrameError(
            f"'{frame}' is no link and cannot be held to the world; name a frame of a link"
        )
    still = np.concatenate([np.zeros(6), rates])
    S_inv = inverse_with_joints(base_velocity(model, data, q, still, frame).J)
    base = change_base(model, q, S_inv @ still, frame, data=data)
    return FixedBase(
        frame=frame,
        M=base.M[6:, 6:],
        velocity_terms=base.C[6:, 6:] @ rates,
        gravity=base.G[6:],
        coupling=base.M[:6, 6:],
        holding_bias=base.C[:6, 6:] @ rates + base.G[:6],
        force_map=S_inv.T,
    )
