"""A static posture: surfaces in their places, and wrenches there that hold the robot still.

The unknowns are the configuration q and a wrench w of every surface that bears.  Among all that
meet the conditions

    places     every surface is where it is to be, as far as its place is given
    balance    the base rows of   g(q) - sum J(q)^T w   are zero: no force acts on the base
    cones      A w >= b for every surface that bears
    torques    the joint rows of the same sum are within a share of the torque limits
    ranges     every joint is inside its range by a margin
    clearance  bodies are apart by a margin

the one wanted is near a reference posture, with its load in the middle of what bears, and with
small torques.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array, check_floating_base
from balance.dynamics.constrained_fit import Fit, Terms, constrained_fit
from balance.dynamics.static_torque import Bearing, parts, static_torque
from balance.dynamics.surface_place import Place, place_rows

MOMENT_ARM_M = 0.3  # by which moments on the base are made comparable with forces
# Weights of the objective: of a joint's distance in rad, of the base's in rad and m, of a hinted
# joint's, and of a torque's share; then of f_x, f_y, f_z, tau_x, tau_y, tau_z in units of Bearing.
JOINT_WEIGHT, TURN_WEIGHT, SHIFT_WEIGHT, HINT_WEIGHT, TORQUE_WEIGHT = 1.0, 2.0, 0.03, 3.0, 0.3
WRENCH_WEIGHTS = np.array([2.0, 2.0, 0.2, 1.5, 1.5, 0.2])
COM_WEIGHT = 10.0  # of the CoM's distance from where it is best, in m
POINT_WEIGHT = 0.8  # of f_z where a point or a line bears, whose pressure has no middle to be in

Clearance = Callable[[pin.Data], tuple[Array, Array]]
"""Distances (m) of bodies beyond what they must keep, and their Jacobian, where ``data`` is."""
Rows = tuple[Array, Array]
"""Values (n,) and their Jacobian (n, k) by the first k of the unknowns."""


@dataclass(frozen=True)
class Wanted:
    """What is asked of a static posture.

    ``places`` are those of all surfaces, ``bearings`` of which bear; where nothing bears, balance
    and torques are no conditions.  ``q_reference`` is what the posture is to be near to; ``hinted``
    are velocity indices of joints for which that counts more, ``kept`` of those that stay exactly
    there.  ``com_xy`` is where the CoM is to be, if it matters, ``com_near`` where it is best.
    ``torque_share`` is the share of the limits that torques may have, ``range_margin`` (rad) how
    far joints stay inside their ranges.
    """

    places: tuple[Place, ...]
    bearings: tuple[Bearing, ...]
    q_reference: Array
    hinted: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    com_xy: Array | None = None
    com_near: Array | None = None
    torque_share: float = 0.8
    range_margin: float = 0.05
    clearance: Clearance | None = None


class Point(NamedTuple):
    """Where a search is: a configuration, and the wrenches of all that bears in their units."""

    q: Array
    w: Array


class StaticPosture:
    """The search for one posture of ``model``; see the module's text.

    ``limits`` are the torque limits (N m), ``weight`` is the robot's (N).
    """

    def __init__(self, model: pin.Model, wanted: Wanted) -> None:
        check_floating_base(model)
        self.model, self.wanted = model, wanted
        self.weight = float(np.linalg.norm(model.gravity.linear)) * pin.computeTotalMass(model)
        self.limits = np.array(model.upperEffortLimit[6:])
        self._data = model.createData()
        self._parts = parts(wanted.bearings)
        self._lower, self._upper = _ranges(model, wanted.range_margin, wanted.kept)
        self._near = np.full(model.nv, JOINT_WEIGHT)
        self._near[:3], self._near[3:6] = SHIFT_WEIGHT, TURN_WEIGHT
        self._near[list(wanted.hinted)] = HINT_WEIGHT
        self._little = np.concatenate([np.empty(0), *map(_wrench_weights, wanted.bearings)])

    @property
    def n_wrenches(self) -> int:
        """Number of components of all wrenches."""
        return len(self._little)

    def search(self, q_start: Array, tolerance: float = 1e-7) -> Fit[Point]:
        """The posture found from ``q_start``, where every surface has its share of the weight."""
        w = np.zeros(self.n_wrenches)
        for part in self._parts:
            w[part.start + 2] = 1.0 / len(self._parts)
        return constrained_fit(self.terms, self._add, Point(q_start, w), tolerance=tolerance)

    def wrenches(self, w: Array) -> dict[str, Array]:
        """Wrench (6,) of every surface that bears, by name."""
        bearings = zip(self.wanted.bearings, self._parts, strict=True)
        return {bearing.name: bearing.wrench(w[part]) for bearing, part in bearings}

    def static_torque(self, point: Point) -> tuple[Array, Array]:
        """Torques (nv,) at rest and their Jacobian by q and w."""
        return static_torque(self.model, self._data, point.q, self.wanted.bearings, point.w)

    def terms(self, point: Point) -> Terms:
        """Objective and conditions at ``point`` with their Jacobians."""
        model, data, wanted = self.model, self._data, self.wanted
        J_com = np.array(pin.jacobianCenterOfMass(model, data, point.q))
        com = np.array(data.com[0])
        torque = self.static_torque(point)
        distance = pin.difference(model, wanted.q_reference, point.q)
        J_d = pin.dDifference(model, wanted.q_reference, point.q, pin.ArgumentPosition.ARG1)
        kept = list(wanted.kept)
        placed = [place_rows(model, data, place) for place in wanted.places]

        objective: list[Rows] = [(self._near * distance, self._near[:, None] * J_d)]
        if wanted.com_near is not None:
            objective.append((COM_WEIGHT * (com[:2] - wanted.com_near), COM_WEIGHT * J_com[:2]))
        equal: list[Rows] = [(rows.c, rows.J_c) for rows in placed]
        bound: list[Rows] = [(rows.h, rows.J_h) for rows in placed]
        equal.append((distance[kept], J_d[kept]))
        if wanted.com_xy is not None:
            equal.append((com[:2] - wanted.com_xy, J_com[:2]))
        bound += self._ranges(point.q)
        if wanted.clearance is not None:
            bound.append(wanted.clearance(data))
        if wanted.bearings:
            share = torque[0][6:] / self.limits, torque[1][6:] / self.limits[:, None]
            objective.append((TORQUE_WEIGHT * share[0], TORQUE_WEIGHT * share[1]))
            objective.append(self._by_wrenches(self._little * point.w, np.diag(self._little)))
            equal.append(self._balance(*torque))
            bound += self._cones(point.w)
            if np.isfinite(wanted.torque_share):
                bound.append((wanted.torque_share - share[0], -share[1]))
                bound.append((wanted.torque_share + share[0], share[1]))
        n = model.nv + len(point.w)
        return Terms(*_stacked(objective, n), *_stacked(equal, n), *_stacked(bound, n))

    def _balance(self, tau: Array, J: Array) -> Rows:
        """Force and moment on the base, as shares of the weight."""
        scale = np.repeat([1.0, 1.0 / MOMENT_ARM_M], 3) / self.weight
        return scale * tau[:6], scale[:, None] * J[:6]

    def _ranges(self, q: Array) -> list[Rows]:
        """What is left to the lower and the upper stop of every joint that has them."""
        limited = np.isfinite(self._lower)
        J = np.eye(self.model.nv)[6:][limited]
        angles = q[7:][limited]
        return [(angles - self._lower[limited], J), (self._upper[limited] - angles, -J)]

    def _cones(self, w: Array) -> list[Rows]:
        """What is left to the facets of every cone."""
        found = []
        for bearing, part in zip(self.wanted.bearings, self._parts, strict=True):
            A, b = bearing.cone()
            J = np.zeros((len(A), len(w)))
            J[:, part] = A
            found.append(self._by_wrenches(A @ w[part] - b, J))
        return found

    def _by_wrenches(self, values: Array, J_w: Array) -> Rows:
        """Rows that depend on wrenches alone."""
        return values, np.hstack([np.zeros((len(values), self.model.nv)), J_w])

    def _add(self, point: Point, step: Array) -> Point:
        nv = self.model.nv
        return Point(pin.integrate(self.model, point.q, step[:nv]), point.w + step[nv:])


def _wrench_weights(bearing: Bearing) -> Array:
    """Weights of the components of a wrench."""
    weights = WRENCH_WEIGHTS.copy()
    if len(bearing.held) < len(weights):
        weights[2] = POINT_WEIGHT
    return weights[list(bearing.held)]


def _stacked(rows: Sequence[Rows], width: int) -> Rows:
    """All rows below each other; columns that a Jacobian lacks at its end are zero."""
    values = np.concatenate([np.empty(0), *(value for value, _ in rows)])
    J = np.zeros((len(values), width))
    k = 0
    for value, J_own in rows:
        J[k : k + len(value), : J_own.shape[1]] = J_own
        k += len(value)
    return values, J


def _ranges(model: pin.Model, margin: float, kept: Sequence[int]) -> tuple[Array, Array]:
    """Bounds of the joints, ``margin`` inside of their stops; joints that are kept have none."""
    lower, upper = model.lowerPositionLimit[7:].copy(), model.upperPositionLimit[7:].copy()
    inside = np.minimum(margin, 0.25 * (upper - lower))
    lower, upper = lower + inside, upper - inside
    free = ~(np.isfinite(lower) & np.isfinite(upper))
    free[[k - 6 for k in kept]] = True
    lower[free], upper[free] = -np.inf, np.inf
    return lower, upper
