"""The pendulum with a flywheel, some way ahead, as one quadratic program.

Lengths are in units of the CoM height z, times in units of 1 / omega, omega^2 = g / z, all from the
place where the CoM shall be.  With the CoM x and its velocity v, the CoP p, the moment about the
CoM u = T dl/dt / (m g z), and the lean h = T lambda / (m z^2), the excursion of the flywheel, with
its rate r = T l / (m z^2 omega), on each of the two level axes

    x' = v,    v' = x - p - u,    h' = r,    r' = u,

whatever the robot.  The sum zeta = x + v + h + r diverges, zeta' = zeta - p - h; all else follows.
CoP and moment are constant within each of N samples of length tau_k, and

    minimise    sum_k tau_k (|p_k|^2 + |zeta|^2_Q + |h|^2_W5 + |r|^2_W + |u_k|^2_W/5)_k+1
                + 20 (|zeta_N|^2 + |h_N|^2 + |r_N|^2) + 1e4 (s_h^2 + s_z^2 + s_u^2) + 1e5 s_r^2
    subject to  p_k in the CoP's region,     u_k in what p_k and h_k leave of the moment's, by s_u,
                                             later ones in a part of that,
                h_k - F x_k in that of the lean, r_k - F v_k in that of its rate, by s_h and s_r,
                zeta_N in most of the CoP's region, by s_z.

Q = K^2 - 1 makes p = (1 + K) zeta the answer where no bound is in the way and nothing leans: K is
the stiffness of the CoM in units of m omega^2.  W = max(Q / 3, 1) is 1 for the default gains.  F is
the momentum that the legs have by the CoM's motion alone, which is no lean.  That later moments are
planned with a part of their region is a reserve for what the plan does not know.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.control.qp import CertifiedSolver, QPStatus, QuadraticProgram
from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]

HORIZON = 2.4  # 1 / omega: what is decided later hardly matters now
GROWTH = 1.2  # of a sample's length over the one before: fine near, coarse far
LEAN_WEIGHT, RATE_WEIGHT, MOMENT_WEIGHT = 5.0, 1.0, 0.2
DEFAULT_PULL = 3.0  # K^2 - 1 of the default gains
END_ZETA_WEIGHT, END_LEAN_WEIGHT, END_RATE_WEIGHT = 20.0, 20.0, 20.0
SLACK_WEIGHTS = 1e4, 1e4, 1e5, 1e4  # of moment, lean, its rate, zeta at the end
SLACKS = len(SLACK_WEIGHTS)
LATER_MOMENT = 0.6  # of the moment's region after the first sample: what is left is a reserve
END_SHARE = 0.9  # of the CoP's region, in which zeta shall be at the end


@dataclass(frozen=True)
class Region:
    """The points y (2,) with ``normals`` (k, 2) @ y <= ``offsets`` (k,)."""

    normals: Array
    offsets: Array


@dataclass(frozen=True)
class Shared:
    """Where ``on_p`` (k, 2) @ p + ``on_u`` (k, 2) @ u + ``on_h`` (k, 2) @ h <= ``most`` (k,).

    A moment needs legs that the CoP needs too, in a corner of the soles little of it is left; and
    it needs torques that bear the weight of what leans.
    """

    on_p: Array
    on_u: Array
    on_h: Array
    most: Array


@dataclass(frozen=True)
class Regions:
    """Where CoP, moment, lean and its rate can be, in the planner's units."""

    cop: Region
    moment: Shared
    lean: Region
    rate: Region


def sample_lengths(samples: int) -> Array:
    """Lengths tau_k (N,) of the samples."""
    lengths = GROWTH ** np.arange(samples)
    return np.asarray(HORIZON * lengths / lengths.sum())


def step_matrices(tau: float) -> tuple[Array, Array]:
    """(x, v, h, r) after ``tau`` as (4, 4) of itself and (4, 2) of (p, u), on one axis, exactly."""
    c, s = np.cosh(tau), np.sinh(tau)
    own = np.array([[c, s, 0, 0], [s, c, 0, 0], [0, 0, 1, tau], [0, 0, 0, 1]])
    driven = np.array([[1 - c, 1 - c], [-s, -s], [0, 0.5 * tau**2], [0, tau]])
    return own, driven


class Planner:
    """Solves the program again and again; all but the state is constant."""

    def __init__(
        self,
        regions: Regions,
        stiffness: Array,
        following: Array,
        samples: int,
        solver: CertifiedSolver,
    ) -> None:
        """``stiffness`` (2, 2) is K, ``following`` (2, 2) is F."""
        self.solver, self.regions, self.samples = solver, regions, samples
        self.beyond = 0.0
        """How far, in z, the last plan left zeta at its end beyond the part of the CoP's region."""
        self._following = following
        self.lengths = sample_lengths(samples)
        self._n = 4 * samples + SLACKS
        own, driven = self._predictions()
        self._cost(own, driven, stiffness)
        self._bounds(own, driven)

    def _predictions(self) -> tuple[Array, Array]:
        """State after each sample as (N, 8, 8) of the first one and (N, 8, n) of the unknowns."""
        n, axes = self.samples, np.eye(2)
        own, driven = np.zeros((n, 8, 8)), np.zeros((n, 8, self._n))
        before_own, before_driven = np.eye(8), np.zeros((8, self._n))
        for k, tau in enumerate(self.lengths):
            A, B = (np.kron(one, axes) for one in step_matrices(float(tau)))
            own[k] = A.dot(before_own)
            driven[k] = A.dot(before_driven)
            driven[k][:, 4 * k : 4 * k + 4] += B
            before_own, before_driven = own[k], driven[k]
        return own, driven

    def _cost(self, own: Array, driven: Array, stiffness: Array) -> None:
        values, vectors = np.linalg.eigh(stiffness.dot(stiffness) - np.eye(2))
        pull = (vectors * np.maximum(values, 0.0)).dot(vectors.T)
        # What leaning costs beside zeta is the same however stiff the CoM is held.
        leaning = (vectors * np.maximum(values / DEFAULT_PULL, 1.0)).dot(vectors.T)
        zeta = np.kron(np.ones(4), np.eye(2))
        of_state = zeta.T.dot(pull).dot(zeta)
        of_state[4:6, 4:6] += LEAN_WEIGHT * leaning
        of_state[6:, 6:] += RATE_WEIGHT * leaning
        at_end = END_ZETA_WEIGHT * zeta.T.dot(zeta)
        at_end += np.diag(np.repeat([0.0, 0.0, END_LEAN_WEIGHT, END_RATE_WEIGHT], 2))
        H, gradient = np.zeros((self._n, self._n)), np.zeros((self._n, 8))
        for k, tau in enumerate(self.lengths):
            weight = tau * of_state + (at_end if k == self.samples - 1 else 0.0)
            H += driven[k].T.dot(weight).dot(driven[k])
            gradient += driven[k].T.dot(weight).dot(own[k])
            own_part = slice(4 * k, 4 * k + 2), slice(4 * k + 2, 4 * k + 4)
            H[own_part[0], own_part[0]] += tau * np.eye(2)
            H[own_part[1], own_part[1]] += tau * MOMENT_WEIGHT * leaning
        H.ravel()[:: self._n + 1][-SLACKS:] = SLACK_WEIGHTS
        self._H, self._gradient = 0.5 * (H + H.T), -gradient

    def _bounds(self, own: Array, driven: Array) -> None:
        """C w >= d - D state - E centre, for the unknowns w and the desired CoM ``centre``."""
        cop, moment = self.regions.cop, self.regions.moment
        ways = (self.regions.lean, 4, -3), (self.regions.rate, 6, -2)
        rows, lower, of_state, of_centre = [], [], [], []
        for k in range(self.samples):
            share = LATER_MOMENT if k else 1.0
            here, turned = slice(4 * k, 4 * k + 2), slice(4 * k + 2, 4 * k + 4)
            C = np.zeros((len(cop.offsets) + len(moment.most), self._n))
            C[: len(cop.offsets), here] = -cop.normals
            C[len(cop.offsets) :, here] = -share * moment.on_p
            C[len(cop.offsets) :, turned] = -moment.on_u
            C[len(cop.offsets) :, -4] = 1.0
            before = np.zeros((len(C), 8))
            before[len(cop.offsets) :, 4:6] = -share * moment.on_h
            if k:
                C += before.dot(driven[k - 1])
            rows.append(C)
            lower += [-cop.offsets, -share * moment.most]
            of_state.append(before.dot(own[k - 1]) if k else before)
            of_centre += [-cop.normals, -share * moment.on_p]
            for region, first, slack in ways:
                pick = np.zeros((2, 8))
                pick[:, first : first + 2] = np.eye(2)
                pick[:, first - 4 : first - 2] = -self._following
                C = -region.normals.dot(pick).dot(driven[k])
                C[:, slack] = 1.0
                rows.append(C)
                lower.append(-region.offsets)
                of_state.append(-region.normals.dot(pick).dot(own[k]))
                of_centre.append(np.zeros((len(C), 2)))
        zeta = np.kron(np.ones(4), np.eye(2))
        C = -cop.normals.dot(zeta).dot(driven[-1])
        C[:, -1] = 1.0
        slacks = np.eye(self._n)[-SLACKS:]
        self._C = np.ascontiguousarray(np.concatenate([*rows, C, slacks]))
        self._lower = np.concatenate([*lower, -END_SHARE * cop.offsets, np.zeros(SLACKS)])
        ends = -cop.normals.dot(zeta).dot(own[-1])
        self._of_state = np.concatenate([*of_state, ends, np.zeros((SLACKS, 8))])
        self._of_centre = np.concatenate(
            [*of_centre, -END_SHARE * cop.normals, np.zeros((SLACKS, 2))]
        )

    def program(self, state: Array, centre: Array) -> QuadraticProgram:
        """The program from ``state`` (x, v, h, r) (8,), relative to the desired CoM ``centre``."""
        d = bounds_at(self._lower, self._of_state, self._of_centre, state, centre)
        return QuadraticProgram(self._H, self._gradient.dot(state), self._C, d)

    def plan(self, state: Array, centre: Array) -> tuple[Array, Array] | None:
        """CoP, relative to ``centre``, and moment (2,) for now; None without an answer."""
        solution = self.solver.solve(self.program(state, centre))
        if solution.status is not QPStatus.SOLVED:
            return None
        self.beyond = float(solution.x[-1])
        return solution.x[:2].copy(), solution.x[2:4].copy()

    def used(self, state: Array, centre: Array) -> float:
        """How much of the CoP's region zeta uses, 1 at its edge, seen from ``centre``."""
        cop = self.regions.cop
        return share_used(cop.normals, cop.offsets, state, centre)


@compiled
def share_used(normals: Array, offsets: Array, state: Array, centre: Array) -> float:
    """The largest n . zeta / (offset - n . centre) of the half-planes of a region."""
    zeta = state[:2] + state[2:4] + state[4:6] + state[6:]
    return float((normals.dot(zeta) / (offsets - normals.dot(centre))).max())


@compiled
def bounds_at(
    lower: Array, of_state: Array, of_centre: Array, state: Array, centre: Array
) -> Array:
    """d - D state - E centre."""
    return lower - of_state.dot(state) - of_centre.dot(centre)
