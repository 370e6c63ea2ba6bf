"""The equations of motion written for another base frame, Traversaro2016.

The velocity nu = (base velocity, joint velocities) of a base frame B' follows from the one of
the model's own base B as nu' = T nu; forces follow with the dual T^-T, and so do M, C and G.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.base_velocity import MODEL_BASE, base_velocity
from balance.dynamics.checks import Array, check_state, symmetrise
from balance.errors import InputError


@dataclass(frozen=True, slots=True)
class BaseChange:
    """The equations of motion M dnu/dt + C nu + G = (0, tau) + sum_L J_L^T f_L for a new base."""

    frame: str
    """The new base, as given."""
    T: Array
    """(nv, nv) velocity transformation nu' = T nu from the model's base (19), (29), (38), (40)."""
    T_dual: Array
    """(nv, nv) force transformation T^-T (20)-(21), (41)."""
    dT: Array
    """(nv, nv) time derivative of T."""
    M: Array
    """(nv, nv) mass matrix (24a)."""
    C: Array
    """(nv, nv) Coriolis matrix (24b), with dM/dt - 2 C skew-symmetric."""
    G: Array
    """(nv,) gravity term (24c)."""
    nu: Array
    """(nv,) velocity of the new base, then of the joints (18b)."""
    origin: Array
    """(3,) origin of the new base in the inertial frame, m (18a)."""
    rotation: Array | None
    """(3, 3) its rotation; None for ``centroidal``, whose velocity belongs to no frame (33)."""

    @property
    def T_inv(self) -> Array:
        """(nv, nv) transformation back to the model's base, nu = T_inv nu'."""
        return self.T_dual.T

    def jacobian(self, J: ArrayLike) -> Array:
        """Jacobian for the new base from ``J`` (k, nv) for the model's base (22)."""
        J = np.asarray(J, dtype=float)
        if J.ndim != 2 or J.shape[1] != len(self.nu):
            raise InputError(f"J has shape {J.shape}; expected (k, {len(self.nu)})")
        return J @ self.T_inv

    def kinetic_energy(self) -> float:
        """Kinetic energy of the robot, J (25)."""
        return 0.5 * float(self.nu @ self.M @ self.nu)


def change_base(
    model: pin.Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    representation: str = "mixed",
    data: pin.Data | None = None,
) -> BaseChange:
    """Equations of motion for the base ``frame``, Traversaro2016 (18)-(29), (36)-(44).

    ``frame`` is the name of a frame of the model, a compound ``"C[D]"`` with the origin of frame
    C and the orientation of frame D (26)-(29), or ``"centroidal"`` for the average 6D velocity
    (33)-(40).  ``B`` stands for the model's own base and, as an origin, ``G`` for the CoM:
    ``"G[B]"`` is the base of (36)-(38).

    ``q`` and ``v`` follow Pinocchio.  The base velocities on both sides of T, and so M, C and G,
    are in the given velocity ``representation``: ``mixed`` as in the paper, ``body`` or
    ``inertial``.  ``data`` is overwritten; without it a new one is made.
    """
    q, v = check_state(model, q, v)
    data = model.createData() if data is None else data
    new = base_velocity(model, data, q, v, frame, representation)
    old = base_velocity(model, data, q, v, MODEL_BASE, representation)
    M = symmetrise(pin.crba(model, data, q))
    C = pin.computeCoriolisMatrix(model, data, q, v)
    gravity = pin.computeGeneralizedGravity(model, data, q)

    # S takes Pinocchio's velocity v to the velocity nu' of the new base.
    S, S_inv, dS = _with_joints(new.J), inverse_with_joints(new.J), _rate_with_joints(new.dJ)
    S_old, S_old_inv = _with_joints(old.J), inverse_with_joints(old.J)
    T = S @ S_old_inv
    return BaseChange(
        frame=frame,
        T=T,
        T_dual=(S_old @ S_inv).T,
        dT=(dS - T @ _rate_with_joints(old.dJ)) @ S_old_inv,
        M=S_inv.T @ M @ S_inv,
        C=S_inv.T @ (C - M @ S_inv @ dS) @ S_inv,
        G=S_inv.T @ gravity,
        nu=S @ v,
        origin=new.origin,
        rotation=new.rotation,
    )


def _with_joints(J: Array) -> Array:
    """(nv, nv) [J; 0 E], which keeps the joint velocities, as in (19)."""
    S = np.eye(J.shape[1])
    S[:6] = J
    return S


def inverse_with_joints(J: Array) -> Array:
    """(nv, nv) inverse of [J_b J_q; 0 E], block by block as in (21)."""
    S_inv = np.eye(J.shape[1])
    S_inv[:6, :6] = np.linalg.inv(J[:, :6])
    S_inv[:6, 6:] = -S_inv[:6, :6] @ J[:, 6:]
    return S_inv


def _rate_with_joints(dJ: Array) -> Array:
    """(nv, nv) time derivative [dJ; 0] of [J; 0 E]."""
    dS = np.zeros((dJ.shape[1], dJ.shape[1]))
    dS[:6] = dJ
    return dS
