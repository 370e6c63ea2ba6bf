"""Gauss' principle of least constraint itself: the functional D, and the motion that minimises it.

Bouyarmane2012 (22)-(23), (31).  Cut free, every link would accelerate as the forces on it alone
say; of all accelerations that the joints allow, the true one deviates least from those, each
weighted with the link's inertia.  No mass matrix and no velocity matrix are formed: this is the
principle that (24)-(35) are derived from, and their oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector
from balance.dynamics.gauss.equations import chart_constraint
from balance.dynamics.gauss.forward import PointForce, point_of
from balance.dynamics.gauss.jacobians import BodyJacobians, body_jacobians
from balance.dynamics.gauss.joints import actuated_velocities
from balance.dynamics.gauss.state import ChartState, chart_state, pinocchio_configuration
from balance.errors import SingularityError

_RANK_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class GaussFunctional:
    """D(qdd) = |rows qdd - free|^2 / 2 - rest qdd over all links, Bouyarmane2012 (22), with (30).

    Attributes:
        rows: (r, n) accelerations of the links per qdd, times the square root of their inertia.
        free: (r,) accelerations of the links cut free less those at qdd = 0, likewise.
        rest: (n,) forces on links without mass, and moments about axes without inertia, as
            generalised ones.  Cut free such a link would accelerate without bound, so D has lost an
            infinite constant and can be negative; zero if every link has inertia.
        C: (c, n) rows of the charts' constraints.
        constraint_bias: (c,) with C qdd + constraint_bias = 0, (30).
    """

    rows: Array
    free: Array
    rest: Array
    C: Array
    constraint_bias: Array

    def deviation(self, qddot: ArrayLike) -> float:
        """D, Bouyarmane2012 (22)."""
        qdd = self._check(qddot)
        missing = self.rows @ qdd - self.free
        return float(0.5 * missing @ missing - self.rest @ qdd)

    def gradient(self, qddot: ArrayLike) -> Array:
        """dD/dqdd (n,), Bouyarmane2012 (23): M qdd + N qdot - gravity - forces, by (24)."""
        missing = self.rows @ self._check(qddot) - self.free
        return np.asarray(self.rows.T @ missing - self.rest)

    def minimiser(self) -> Array:
        """The acceleration qdd (n,) of least deviation among those that satisfy (30).

        By orthogonal factorisations, without the normal equations: C is met first, what is left
        free is a least-squares problem.  The multiplier of (31) is that of its optimality.
        """
        U, s, Vt = np.linalg.svd(self.C, full_matrices=True)
        rank = len(s)
        on_constraint = -Vt[:rank].T @ ((U.T @ self.constraint_bias) / s)
        Z = Vt[rank:].T
        gap = self.free - self.rows @ on_constraint
        Q, R = np.linalg.qr(self.rows @ Z)
        pivots = np.abs(np.diag(R))
        if pivots.min() < _RANK_TOLERANCE * pivots.max():
            raise SingularityError(
                "links beyond some joint have neither mass nor inertia, so the motion of least "
                "deviation is not unique; give them some"
            )
        pull = np.linalg.solve(R.T, Z.T @ self.rest)
        return on_constraint + Z @ np.linalg.solve(R, Q.T @ gap + pull)

    def _check(self, qddot: ArrayLike) -> Array:
        return check_vector("qddot", qddot, self.rows.shape[1])


def gauss_functional(
    model: pin.Model,
    chart: str,
    q: ArrayLike,
    qdot: ArrayLike,
    torques: ArrayLike,
    contacts: Sequence[PointForce] = (),
) -> GaussFunctional:
    """The functional D of Bouyarmane2012 (22) at a state under torques and contact forces.

    Footnote 2 of the paper: a link cut free accelerates by m a = sum f and
    I alpha = (I omega) x omega + sum a x f.  Here the sums are over gravity, contacts and motors,
    which act on their link and in reverse on the one before.

    Differs: a rotor (``model.armature``) is a body with one coordinate, that of its joint, and no
    force of its own; the paper has none.
    """
    state = chart_state(model, chart, q, qdot)
    bodies = range(1, model.njoints)
    centres = np.stack([model.inertias[k].lever for k in bodies])
    J = body_jacobians(state, bodies, centres)
    rows, free, rest = _weighted_links(state, J, *_forces_on_links(state, J, torques, contacts))
    rotor_rows, rotor_free = _rotors(state)
    C, bias = chart_constraint(state)
    return GaussFunctional(
        np.vstack([rows, rotor_rows]), np.concatenate([free, rotor_free]), rest, C, bias
    )


def _weighted_links(
    state: ChartState, J: BodyJacobians, force: Array, moment: Array
) -> tuple[Array, Array, Array]:
    """Rows, free part and rest of the links, see :class:`GaussFunctional`.

    Weighted with a square root of the inertia I = S S^T, an acceleration is S^T times itself, and
    that of a moment S^-1 times the moment.
    """
    inertias = list(state.model.inertias)[1:]
    root_mass = np.sqrt([inertia.mass for inertia in inertias])[:, None]
    inertia = np.stack([inertia.inertia for inertia in inertias])
    S, S_inv = _square_roots(inertia)
    S_T = np.swapaxes(S, 1, 2)
    omega = J.J_r @ state.qdot
    moment = moment + np.cross(_each(inertia, omega), omega)
    linear = np.divide(force, root_mass, out=np.zeros_like(force), where=root_mass > 0.0)
    angular = _each(S_inv, moment)
    n = len(state.q)
    rows = [(root_mass[:, :, None] * J.J_t).reshape(-1, n), (S_T @ J.J_r).reshape(-1, n)]
    free = [
        (linear - root_mass * (J.J_t_dot @ state.qdot)).ravel(),
        (angular - _each(S_T, J.J_r_dot @ state.qdot)).ravel(),
    ]
    rest = np.einsum("kin,ki->n", J.J_t, force - root_mass * linear)
    rest += np.einsum("kin,ki->n", J.J_r, moment - _each(S, angular))
    return np.vstack(rows), np.concatenate(free), rest


def _each(matrices: Array, vectors: Array) -> Array:
    """The product of matrix and vector of each link, (k, 3, 3) and (k, 3)."""
    return np.einsum("kij,kj->ki", matrices, vectors)


def _forces_on_links(
    state: ChartState, J: BodyJacobians, torques: ArrayLike, contacts: Sequence[PointForce]
) -> tuple[Array, Array]:
    """Force (k, 3) in world axes and moment (k, 3) about the centre of mass in link axes."""
    model = state.model
    count = model.njoints - 1
    weight = np.array([model.inertias[k].mass for k in range(1, count + 1)])
    force, moment = np.outer(weight, model.gravity.linear), np.zeros((count, 3))

    def add(link: int, f: Array, at: Array) -> None:
        """A force in world axes at a point in the link's axes."""
        force[link - 1] += f
        arm = at - model.inertias[link].lever
        moment[link - 1] += np.cross(arm, J.R[link - 1].T @ f)

    for contact in contacts:
        link, point = point_of(model, contact)
        add(link, check_vector("force", contact.force, 3), point)
    motors = actuated_velocities(state.parts)
    effort = np.zeros(model.nv - 6)
    effort[motors] = check_vector("torques", torques, len(motors))
    data = model.createData()
    pin.computeJointJacobians(model, data, pinocchio_configuration(state, np.zeros(3)))
    for part in state.parts:
        columns = slice(part.v.start - 6, part.v.stop - 6)
        S = pin.getJointJacobian(model, data, part.joint, pin.LOCAL)[:, part.v]
        # A wrench that does the work of the torques on the joint's motion, and no other.
        wrench = np.linalg.pinv(S).T @ effort[columns]
        f_W = J.R[part.joint - 1] @ wrench[:3]
        t_W = J.R[part.joint - 1] @ wrench[3:]
        origin_W = data.oMi[part.joint].translation
        parent = int(model.parents[part.joint])
        for link, sign in ((part.joint, 1.0), (parent, -1.0)):
            if link > 0:
                add(link, sign * f_W, data.oMi[link].actInv(origin_W))
                moment[link - 1] += sign * J.R[link - 1].T @ t_W
    return force, moment


def _square_roots(inertia: Array) -> tuple[Array, Array]:
    """S (k, 3, 3) with S S^T = I, and its pseudo-inverse, also for links without inertia."""
    values, vectors = np.linalg.eigh(inertia)
    # What is left of an inertia of zero after moving it between frames counts as zero.
    values = np.where(values > _RANK_TOLERANCE * values.max(initial=0.0), values, 0.0)
    roots = np.sqrt(values)[:, None, :]
    inverses = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0.0)
    return vectors * roots, np.swapaxes(vectors * inverses, 1, 2)


def _rotors(state: ChartState) -> tuple[Array, Array]:
    """Rows and free part of the rotors."""
    root = np.sqrt(state.model.armature[6:])
    rows = np.zeros((len(root), len(state.q)))
    if state.rate_map is None:
        rows[:, state.joints] = np.diag(root)
        return rows, np.zeros(len(root))
    E, E_dot = state.rate_map
    rows[:, state.joints] = root[:, None] * E
    return rows, -root * (E_dot @ state.qdot[state.joints])
