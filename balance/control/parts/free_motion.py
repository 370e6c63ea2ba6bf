"""What the equations of motion and the contacts leave free, as coordinates of a small program.

Of the unknowns (a, f, tau) of :mod:`balance.control.parts.whole_body` only as many are free as the
robot has joints.  With x = (y, z),

    a = a_0 + Z y,        f = f_0 + F x,        tau = tau_0 + T x,

satisfy M a + bias = S^T tau + J^T f and J a + drift = 0 for every x.  The columns of Z span the
motions that keep the contacts still; where contacts are too few to bear the base in all directions,
those of them that its fall in the others leaves.  The unactuated rows ask for forces with
J_b^T f = M_b a + bias_b; among them z = 0 selects the even share, the least forces in a given
metric, and z adds forces that hold the contacts against each other without moving anything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqp3, dorgqr, dposv, dtrtrs

from balance.control.parts.whole_body import MotionEquations

Array = NDArray[np.float64]

_RANK_TOLERANCE = 1e-10  # of a diagonal entry of R, relative to the largest
# The same for contacts at rest.  Hips that turn about one axis while feet and thighs are held do so
# only as long as both axes are in line; off by what is measured, a rule to the letter blocks them.
_CLOSED_CHAIN = 1e-3


class FreeMotion:
    """The maps above at one state.

    ``a_0`` (n,), ``Z`` (n, n_y), ``f_0`` (r,), ``F`` (r, n_x), ``tau_0`` (nj,), ``T`` (nj, n_x).
    ``force_weight`` (r,) is the diagonal of the metric of the even share; |z|^2 is the cost, in it,
    of deviating from the share.  Without ``hold_contacts`` J a + drift = 0 is left out, y is a
    itself and n_x is larger by the number of contact constraints.
    """

    def __init__(
        self,
        equations: MotionEquations,
        force_weight: Array,
        *,
        hold_contacts: bool = True,
        planned: Array | None = None,
    ) -> None:
        """With ``planned`` forces (r,) the even share is of what these do not bear."""
        eq, base = equations, equations.base
        share, null, complete = _force_split(eq.J[:, :base], force_weight)
        if not complete:
            self.a_0, self.Z = _constrained_motion(_without_support(eq, hold_contacts))
        elif hold_contacts:
            self.a_0, self.Z = _constrained_motion(eq)
        else:
            self.a_0, self.Z = np.zeros(len(eq.M)), np.eye(len(eq.M))
        self.n_y, self.n_z = self.Z.shape[1], null.shape[1]
        self.n_x = self.n_y + self.n_z
        moved = eq.M.dot(self.Z)
        inertia_0 = eq.M.dot(self.a_0) + eq.bias
        self.f_0 = share.dot(inertia_0[:base])
        if planned is not None:
            self.f_0 += planned - share.dot(planned.dot(eq.J[:, :base]))
        self.F = np.concatenate([share.dot(moved[:base]), null], axis=1)
        J_q_T = eq.J[:, base:].T
        self.tau_0 = inertia_0[base:] - J_q_T.dot(self.f_0)
        self.T = -J_q_T.dot(self.F)
        self.T[:, : self.n_y] += moved[base:]

    def forces(self, x: Array) -> tuple[Array, Array]:
        """Torques (nj,) and forces (r,) at ``x``."""
        return self.tau_0 + self.T.dot(x), self.f_0 + self.F.dot(x)

    def on_accelerations(
        self, equations: MotionEquations, rows: Array, values: Array
    ) -> tuple[Array, Array]:
        """Linear conditions ``rows @ dv/dt = values`` as conditions B y = c."""
        if equations.to_dv is not None and equations.dv_bias is not None:
            values = values - rows.dot(equations.dv_bias)
            rows = rows.dot(equations.to_dv)
        return rows.dot(self.Z), values - rows.dot(self.a_0)


def minimiser(H: Array, g: Array) -> Array | None:
    """The y that minimises 1/2 y^T H y - g^T y; None if H is not positive definite.

    Contacts may leave nothing to choose: then y is empty, which LAPACK would not take.
    """
    if not len(g):
        return g
    _, y, failed = dposv(H, g)
    return None if failed else y


def _constrained_motion(eq: MotionEquations) -> tuple[Array, Array]:
    """A solution of J a + drift = 0 and a basis of the null space of J.

    The coordinates that move no contact stay as they are, so that only the few others are mixed.
    Rows of J that follow from others, as those of a closed chain with few joints, are left out, and
    so are those that hold a motion of the others by next to nothing.
    """
    n, columns = len(eq.M), eq.moving
    Q, R, order, rank = _pivoted_qr(eq.J[:, columns].T, _CLOSED_CHAIN)
    particular = dtrtrs(R[:rank, :rank], -eq.drift[order[:rank]], trans=1)[0]
    a_0 = np.zeros(n)
    a_0[columns] = Q[:, :rank].dot(particular)
    kept = len(columns) - rank
    Z = np.zeros((n, kept + n - len(columns)))
    Z[columns, :kept] = Q[:, rank:]
    others = np.ones(n, dtype=bool)
    others[columns] = False
    Z[others, kept:] = np.eye(n - len(columns))
    return a_0, Z


def _without_support(eq: MotionEquations, hold_contacts: bool) -> MotionEquations:
    """The equations with the motions that no contact force bears as further conditions on a.

    Where contacts do not hold the base in a direction n, J_b n = 0, as in its fall about the line
    through two points, the unactuated rows leave n^T (M_b a + bias_b) = 0.
    """
    base = eq.base
    _, sigma, Vt = np.linalg.svd(eq.J[:, :base])
    rank = int((sigma > _RANK_TOLERANCE * sigma[0]).sum())
    n = Vt[rank:]
    J, drift = n.dot(eq.M[:base]), n.dot(eq.bias[:base])
    if hold_contacts:
        J, drift = np.concatenate([eq.J, J]), np.concatenate([eq.drift, drift])
    return replace(eq, J=J, drift=drift, moving=np.arange(len(eq.M)))


def _force_split(J_b: Array, weight: Array) -> tuple[Array, Array, bool]:
    """The even share (r, base) of a generalised force on the base, and the forces (r, n_z) without.

    The first gives, for any b that forces can give, the least f in the metric ``weight`` with
    J_b^T f = b; the second is orthonormal in that metric and has J_b^T f = 0.  The third tells
    whether forces can give every b.
    """
    unit = weight**-0.5
    scaled = (J_b.T * unit).T
    Q, R, order, rank = _pivoted_qr(scaled)
    inverse = np.zeros((rank, scaled.shape[1]))
    inverse[:, order[:rank]] = dtrtrs(R[:rank, :rank], np.eye(rank), trans=1)[0]
    Q = (Q.T * unit).T
    return Q[:, :rank].dot(inverse), Q[:, rank:], rank == scaled.shape[1]


def _pivoted_qr(
    matrix: Array, tolerance: float = _RANK_TOLERANCE
) -> tuple[Array, Array, NDArray[np.intp], int]:
    """Q (m, m), R, the order of the columns and the rank of ``matrix`` (m, n)."""
    m, n = matrix.shape
    factors, order, reflectors, _, _ = dgeqp3(matrix)
    size = min(m, n)
    full = np.zeros((m, m), order="F")
    full[:, :size] = factors[:, :size]
    Q = dorgqr(full, reflectors)[0]
    diagonal = np.abs(factors.diagonal())
    rank = int((diagonal > tolerance * diagonal[0]).sum())
    return Q, factors, order - 1, rank
