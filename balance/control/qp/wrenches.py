"""The contact-wrench QP: contact wrenches whose sum is nearest to a wanted wrench at the CoM.

With w the stacked wrenches of k contacts, of each the components that it can transmit, in its own
axes (:mod:`balance.robots.contact_rows`), and G the map that carries them to the CoM in world axes,

    minimise  |G w - w_CoM|^2_W + eps |w - w_0|^2_R    subject to    every wrench in its cone.

w_0 is the even share: the wrenches with G w_0 = w_CoM that use the contacts least, where R measures
each component in units of what the contact can bear.  When w_0 lies in the cones it is the exact
minimiser, because both terms vanish there, and no iteration is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from balance.control.qp import CertifiedSolver, QPStatus, QuadraticProgram
from balance.control.qp.diagnosis import Limit
from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import solve_symmetric
from balance.robots.contact_rows import ContactRows
from balance.robots.contacts import ContactSurface, WrenchCone

Array = NDArray[np.float64]

LEAST_SHARE = 0.05  # of the load of the largest contact


@dataclass(slots=True)
class WrenchSolution:
    """Contact wrenches (k, 6) in the contacts' axes, and how they were found."""

    wrenches: Array
    stacked: Array
    """What the contacts transmit of them (r,)."""
    status: QPStatus
    active: NDArray[np.integer[Any]]
    total: Array
    """Achieved wrench at the CoM (6,), N and N m, world axes."""
    residual: Array
    """Wanted minus achieved wrench at the CoM (6,), N and N m, world axes."""


class WrenchDistribution:
    """Solves the contact-wrench QP of a fixed set of contacts again and again.

    ``linear_weight`` and ``angular_weight`` are the diagonal of W; ``regularisation`` is eps.
    With ``plain_share`` R is the identity, and w_0 the pseudo-inverse of RobotDynamicsETH (3.119).
    """

    def __init__(
        self,
        surfaces: Sequence[ContactSurface],
        cones: Sequence[WrenchCone],
        share_friction: float,
        solver: CertifiedSolver,
        *,
        linear_weight: float,
        angular_weight: float,
        regularisation: float,
        plain_share: bool = False,
    ) -> None:
        self.solver = solver
        self.contacts = ContactRows(surfaces)
        self.rows = block_diag(*(cone.rows for cone in cones))
        if not self.contacts.all_held:
            self.rows = self.rows[:, self.contacts.entries]
        self.lower = np.concatenate([cone.lower for cone in cones])
        self.limits = tuple(
            Limit(surface.name, name)
            for surface, cone in zip(surfaces, cones, strict=True)
            for name in cone.names
        )
        self.names = tuple(map(str, self.limits))
        self.n = self.contacts.count
        capacity = self.contacts.stacked(np.array(_capacities(surfaces, share_friction)))
        if plain_share:
            capacity = np.ones(self.n)
        # R^-1 and W on the columns and rows of G: arrays of equal shapes multiply twice as fast.
        self._inverse_share_weight = np.tile(capacity**2, (6, 1))
        weight = np.repeat([linear_weight, angular_weight], 3)
        self._weight = np.repeat(weight[:, None], self.n, axis=1)
        self._regulariser = regularisation / capacity**2
        self._none = np.empty(0, dtype=int)
        ends = np.cumsum([len(cone.lower) for cone in cones])
        self._least_rows = ends - [len(cone.lower) for cone in cones]
        self._most_rows = ends - 1

    def bound(self, least: Array, most: Array) -> None:
        """Change the bounds of the contacts' normal forces (k,), N, of cones that have both."""
        self.lower[self._least_rows] = least
        self.lower[self._most_rows] = -most

    def solve(self, G: Array, wanted: Array) -> WrenchSolution:
        """Contact wrenches for the ``wanted`` wrench at the CoM (6,); ``G`` is (6, r)."""
        share, spans, margin = even_share(
            G, wanted, self._inverse_share_weight, self.rows, self.lower
        )
        if spans and margin >= 0.0:  # and nothing of the wanted wrench is left
            wrenches = self.contacts.each(share)
            return WrenchSolution(wrenches, share, QPStatus.SOLVED, self._none, wanted, np.zeros(6))
        stacked = share if spans else self.even_share(G, wanted)
        status, active = QPStatus.SOLVED, self._none
        if not (margin if spans else (self.rows.dot(stacked) - self.lower).min()) >= 0.0:
            solution = self.solver.solve(self.program(G, wanted, stacked))
            stacked, status, active = solution.x, solution.status, solution.active
        total = G.dot(stacked)
        wrenches = self.contacts.each(stacked)
        return WrenchSolution(wrenches, stacked, status, active, total, wanted - total)

    def even_share(self, G: Array, wanted: Array) -> Array:
        """The least wrenches, in the metric R, that add up to ``wanted`` regardless of cones."""
        share, spans, _ = even_share(G, wanted, self._inverse_share_weight, self.rows, self.lower)
        if spans:
            return share
        scaled = G * self._inverse_share_weight
        multiplier = np.linalg.lstsq(scaled.dot(G.T), wanted, rcond=1e-10)[0]
        return np.asarray(multiplier.dot(scaled))

    def program(self, G: Array, wanted: Array, share: Array) -> QuadraticProgram:
        """The quadratic program itself."""
        H, g = cost_of_wrenches(G, wanted, share, self._weight, self._regulariser)
        return QuadraticProgram(H, g, self.rows, self.lower)

    def describe(self, active: NDArray[np.integer[Any]]) -> list[str]:
        """Names of the rows with these indices, as a user would say them."""
        return [self.names[index] for index in active]


@compiled
def cost_of_wrenches(
    G: Array, wanted: Array, share: Array, weight: Array, regulariser: Array
) -> tuple[Array, Array]:
    """H = G^T W G + eps R and g = G^T W w_CoM + eps R w_0; ``weight`` (6, r) has W's rows."""
    weighted = weight * G
    H = G.T.dot(weighted)
    H.reshape(-1)[:: len(share) + 1] += regulariser
    return H, wanted.dot(weighted) + regulariser * share


@compiled
def even_share(
    G: Array, wanted: Array, inverse_weight: Array, rows: Array, lower: Array
) -> tuple[Array, bool, float]:
    """w_0 = R^-1 G^T (G R^-1 G^T)^-1 w_CoM, and the least of ``rows`` w_0 - ``lower``.

    In between, whether the contacts span all six directions; w_0 is of no meaning otherwise.
    """
    scaled = G * inverse_weight
    _, multiplier, spans = solve_symmetric(G.dot(scaled.T), wanted)
    share = multiplier.dot(scaled)
    margins = rows.dot(share)
    margins -= lower
    return share, spans, margins[margins.argmin()]


def _capacities(surfaces: Sequence[ContactSurface], friction: float) -> list[Array]:
    """How much each contact is to bear: (f_x, f_y, f_z, tau_x, tau_y, tau_z) in relative units.

    Normal forces go by area, so that a hand bears less than a foot, and points without an area bear
    ``LEAST_SHARE``; the other components by what the friction cone and the rectangle allow per
    newton of normal force.
    """
    areas = np.array([surface.half_length * surface.half_width for surface in surfaces])
    areas = np.maximum(areas, LEAST_SHARE * areas.max())
    return [
        share * np.array([friction, friction, 1.0, Y, X, friction * (X + Y)])
        for share, X, Y in zip(
            areas / areas.max(),
            (surface.half_length for surface in surfaces),
            (surface.half_width for surface in surfaces),
            strict=True,
        )
    ]
