"""Centroidal momentum h = A v, its inertia, and what maps wrenches at the CoM to the joints.

Garofalo2015 (2)-(5), (16)-(17), (30)-(32) and appendix A.  Pinocchio's ``Ag`` is the A of the
paper: momentum about the CoM, world axes, linear part first; v is Pinocchio's velocity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_state, check_vector
from balance.errors import InputError, SingularityError

_RELATIVE_RANK_TOLERANCE = 1e-12
"""Smallest principal inertia, relative to trace(I) + m |c|^2, that rounding leaves meaningful."""


@dataclass(frozen=True, slots=True)
class CentroidalMomentum:
    """The centroidal momentum at one state, world axes about the CoM, linear part first."""

    A: Array
    """(6, nv) centroidal momentum matrix; rows :3 are A_p = m J_CoM (5), rows 3: are A_l."""
    dA: Array
    """(6, nv) time derivative of A along v."""
    h: Array
    """(6,) momentum A v (2), kg m/s and kg m^2/s."""
    com: Array
    """(3,) CoM in the world, m."""
    mass: float
    """Total mass, kg."""
    inertia: Array
    """(3, 3) locked inertia about the CoM, world axes, kg m^2: L^C of Traversaro2016 (31)."""

    @property
    def A_p(self) -> Array:
        """(3, nv) rows of the linear momentum (3)."""
        return self.A[:3]

    @property
    def A_l(self) -> Array:
        """(3, nv) rows of the angular momentum (4)."""
        return self.A[3:]

    @property
    def Lambda_h(self) -> Array:
        """(6, 6) inertia of h (16), the inverse of the locked inertia: diag(E/m, L^-1)."""
        Lambda_h = np.zeros((6, 6))
        Lambda_h[:3, :3] = np.eye(3) / self.mass
        Lambda_h[3:, 3:] = np.linalg.inv(self.inertia)
        return Lambda_h

    @property
    def average_velocity(self) -> Array:
        """(6,) velocity of the CoM and average angular velocity L^-1 l, Traversaro2016 (33)."""
        return self.Lambda_h @ self.h


def centroidal_momentum(
    model: pin.Model, q: ArrayLike, v: ArrayLike, data: pin.Data | None = None
) -> CentroidalMomentum:
    """Centroidal momentum, its matrix and that matrix's derivative, Garofalo2015 (2)-(5)."""
    q, v = check_state(model, q, v)
    data = model.createData() if data is None else data
    pin.dccrba(model, data, q, v)
    mass, inertia = locked_inertia(model, data)
    A, dA = data.Ag.copy(), data.dAg.copy()
    return CentroidalMomentum(A, dA, A @ v, data.com[0].copy(), mass, inertia)


def locked_inertia(model: pin.Model, data: pin.Data) -> tuple[float, Array]:
    """Mass and (3, 3) inertia about the CoM with all joints locked, from ``data`` after ccrba.

    Raises SingularityError when they cannot be inverted: the momentum then says nothing about
    the velocity of the base.
    """
    mass = float(data.Ig.mass)
    if not mass > 0.0:
        raise SingularityError(
            f"model '{model.name}' has a total mass of {mass:g} kg, so its locked inertia is "
            "singular; give at least one link a positive mass"
        )
    inertia = np.array(data.Ig.inertia)
    smallest = float(np.linalg.eigvalsh(inertia)[0])
    com = data.com[0]
    if smallest <= _RELATIVE_RANK_TOLERANCE * (np.trace(inertia) + mass * com @ com):
        raise SingularityError(
            f"the locked inertia of model '{model.name}' about its CoM is singular at this state "
            f"(smallest principal moment {smallest:.3g} kg m^2), since all its mass lies on one "
            "line; give a link a positive rotational inertia"
        )
    return mass, inertia


def wrench_at_com(wrench: ArrayLike, point: ArrayLike, com: ArrayLike) -> Array:
    """Wrench (6,) at ``point``, world axes, N and N m, carried to the CoM, for (6)."""
    wrench = check_vector("wrench", wrench, 6)
    arm = check_vector("point", point, 3) - check_vector("com", com, 3)
    carried = wrench.copy()
    carried[3:] += np.cross(arm, wrench[:3])
    return carried


def dynamically_consistent_inverse(T: ArrayLike, M: ArrayLike) -> Array:
    """T^{+M} = M^-1 T^T (T M^-1 T^T)^-1, footnote 1 of Garofalo2015; (nv, k) for T (k, nv)."""
    T, M = np.asarray(T, dtype=float), np.asarray(M, dtype=float)
    if T.ndim != 2 or M.shape != (T.shape[1], T.shape[1]):
        raise InputError(
            f"T has shape {T.shape} and M has shape {M.shape}; expected (k, nv) and (nv, nv)"
        )
    try:
        weighted = np.linalg.solve(M, T.T)
        inverse: Array = np.linalg.solve(T @ weighted, weighted.T).T
    except np.linalg.LinAlgError as error:
        raise SingularityError(
            "the dynamically consistent inverse does not exist, since M or T M^-1 T^T is "
            "singular; check for massless links in M and dependent rows in T"
        ) from error
    return inverse


def com_wrench_map(momentum: CentroidalMomentum) -> Array:
    """(6, nv) T whose transpose takes a wrench at the CoM to generalised forces, (30)-(32).

    T = Lambda_h A.  Being the Jacobian of the average velocity Lambda_h h, it is also J_{G,B} of
    Traversaro2016 (35).
    """
    return momentum.Lambda_h @ momentum.A
