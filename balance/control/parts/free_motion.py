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

from balance.control.parts.whole_body import MotionEquations
from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import (
    CLOSED_CHAIN,
    RANK_TOLERANCE,
    divide_transposed,
    pivoted_qr,
    solve_positive,
)

Array = NDArray[np.float64]

WEAKEST_BEARING = 1e-3  # of the pivots of how contacts bear the base, relative to the largest


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
        eq = equations
        self._equations = eq
        self._planned = np.zeros(len(eq.J)) if planned is None else planned
        self._share, self._null, complete = force_split(eq.J[:, : eq.base], force_weight)
        if not complete:
            self.a_0, self.Z = _constrained_motion(_without_support(eq, hold_contacts))
        elif hold_contacts:
            self.a_0, self.Z = _constrained_motion(eq)
        else:
            self.a_0, self.Z = np.zeros(len(eq.M)), np.eye(len(eq.M))
        self.n_y, self.n_z = self.Z.shape[1], self._null.shape[1]
        self.n_x = self.n_y + self.n_z
        self._maps: tuple[Array, Array, Array, Array] | None = None

    def force_maps(self) -> tuple[Array, Array, Array, Array]:
        """f_0, F, tau_0 and T, made when first asked for."""
        if self._maps is None:
            eq = self._equations
            self._maps = force_maps(
                eq.M, eq.bias, eq.J, eq.base, self._planned,
                self.a_0, self.Z, self._share, self._null,
            )  # fmt: skip
        return self._maps

    @property
    def f_0(self) -> Array:
        """Forces (r,) at x = 0."""
        return self.force_maps()[0]

    @property
    def F(self) -> Array:
        """How forces change with x (r, n_x)."""
        return self.force_maps()[1]

    @property
    def tau_0(self) -> Array:
        """Torques (nj,) at x = 0."""
        return self.force_maps()[2]

    @property
    def T(self) -> Array:
        """How torques change with x (nj, n_x)."""
        return self.force_maps()[3]

    def forces(self, x: Array) -> tuple[Array, Array]:
        """Torques (nj,) and forces (r,) at ``x``."""
        f_0, F, tau_0, T = self.force_maps()
        return tau_0 + T.dot(x), f_0 + F.dot(x)

    def on_accelerations(
        self, equations: MotionEquations, rows: Array, values: Array
    ) -> tuple[Array, Array]:
        """Linear conditions ``rows @ dv/dt = values`` as conditions B y = c."""
        rows, values = equations.on_coordinates(rows, values)
        return rows.dot(self.Z), values - rows.dot(self.a_0)


def minimiser(H: Array, g: Array) -> Array | None:
    """The y that minimises 1/2 y^T H y - g^T y; None if H is not positive definite."""
    _, y, positive = solve_positive(H, g)
    return y if positive else None


@compiled
def force_maps(
    M: Array,
    bias: Array,
    J: Array,
    base: int,
    planned: Array,
    a_0: Array,
    Z: Array,
    share: Array,
    null: Array,
) -> tuple[Array, Array, Array, Array]:
    """f_0, F, tau_0 and T of a = a_0 + Z y, from the even ``share`` and the ``null`` forces.

    The share is of what ``planned`` forces do not bear.
    """
    moved, inertia_0 = M.dot(Z), M.dot(a_0) + bias
    f_0 = planned + share.dot(inertia_0[:base] - planned.dot(J)[:base])
    F = bearing_forces(moved[:base], share, null)
    J_q_T = np.ascontiguousarray(J[:, base:].T)
    T = -J_q_T.dot(F)
    T[:, : Z.shape[1]] += moved[base:]
    return f_0, F, inertia_0[base:] - J_q_T.dot(f_0), T


@compiled
def bearing_forces(moved: Array, share: Array, null: Array) -> Array:
    """F, from how the forces on the base change with y, the even ``share`` and ``null`` forces."""
    n_y = moved.shape[1]
    F = np.empty((len(share), n_y + null.shape[1]))
    F[:, :n_y] = share.dot(moved)
    F[:, n_y:] = null
    return F


@compiled
def borne_forces(
    M: Array, bias: Array, J: Array, base: int, force_weight: Array, planned: Array, a: Array
) -> tuple[Array, Array, bool]:
    """Torques, and forces in the even share, at accelerations ``a``; whether contacts bear that.

    The share of what ``planned`` forces p do not bear has f = p + W^-1 J_b m, W the metric, with
    the m that gives J_b^T f = M_b a + bias_b.
    """
    J_b, inertia = np.ascontiguousarray(J[:, :base]), M.dot(a) + bias
    spread = (J_b.T / force_weight).T
    U, m, positive = solve_positive(J_b.T.dot(spread), inertia[:base] - planned.dot(J_b))
    pivots = np.diag(U)
    f = planned + spread.dot(m)
    bears = positive and bool(pivots.min() > WEAKEST_BEARING * pivots.max())
    return inertia[base:] - f.dot(J)[base:], f, bears


@compiled
def least_squares(
    a_0: Array,
    Z: Array,
    rows: Array,
    values: Array,
    joint_rows: Array,
    joint_values: Array,
) -> tuple[Array, Array, bool]:
    """The a = a_0 + Z y that minimises |rows a - values|^2 + |joint_rows * a_q - joint_values|^2,

    a_q the last accelerations, as many as ``joint_rows``; upper U with |U y|^2 the cost of y beyond
    it, and whether there is but one.
    """
    first = len(a_0) - len(joint_rows)
    B, B_q = rows.dot(Z), (Z[first:].T * joint_rows).T
    c, c_q = values - rows.dot(a_0), joint_values - joint_rows * a_0[first:]
    H = B.T.dot(B) + B_q.T.dot(B_q)
    U, y, positive = solve_positive(H, c.dot(B) + c_q.dot(B_q))
    return a_0 + Z.dot(y), U, positive


def _constrained_motion(eq: MotionEquations) -> tuple[Array, Array]:
    """A solution of J a + drift = 0 and a basis of the null space of J.

    The coordinates that move no contact stay as they are, so that only the few others are mixed.
    Rows of J that follow from others, as those of a closed chain with few joints, are left out, and
    so are those that hold a motion of the others by next to nothing.
    """
    n, columns = len(eq.M), eq.moving
    Q, R, order, rank = pivoted_qr(eq.J[:, columns].T, CLOSED_CHAIN)
    known = -eq.drift[order[:rank]].reshape(-1, 1)
    particular = divide_transposed(np.ascontiguousarray(R[:rank, :rank]), known)
    a_0 = np.zeros(n)
    a_0[columns] = Q[:, :rank].dot(particular[:, 0])
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
    rank = int((sigma > RANK_TOLERANCE * sigma[0]).sum())
    n = Vt[rank:]
    J, drift = n.dot(eq.M[:base]), n.dot(eq.bias[:base])
    if hold_contacts:
        J, drift = np.concatenate([eq.J, J]), np.concatenate([eq.drift, drift])
    return replace(eq, J=J, drift=drift, moving=np.arange(len(eq.M)))


@compiled
def force_split(J_b: Array, weight: Array) -> tuple[Array, Array, bool]:
    """The even share (r, base) of a generalised force on the base, and the forces (r, n_z) without.

    The first gives, for any b that forces can give, the least f in the metric ``weight`` with
    J_b^T f = b; the second is orthonormal in that metric and has J_b^T f = 0.  The third tells
    whether forces can give every b.
    """
    unit = weight**-0.5
    scaled = (J_b.T * unit).T
    Q, R, order, rank = pivoted_qr(scaled, RANK_TOLERANCE)
    inverse = np.zeros((rank, scaled.shape[1]))
    R = np.ascontiguousarray(R[:rank, :rank])
    inverse[:, order[:rank]] = divide_transposed(R, np.eye(rank))
    Q = np.ascontiguousarray((Q.T * unit).T)
    share = np.ascontiguousarray(Q[:, :rank]).dot(inverse)
    return share, np.ascontiguousarray(Q[:, rank:]), rank == scaled.shape[1]
