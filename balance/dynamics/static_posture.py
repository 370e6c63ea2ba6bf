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
small torques.  Derivatives are analytic: ``computeStaticTorqueDerivatives`` of Pinocchio
differentiates the sum with the wrenches held in the bodies' axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from balance.dynamics.checks import Array
from balance.dynamics.constrained_fit import Fit, Terms, constrained_fit
from balance.dynamics.surface_place import Place, place_rows, surface_jacobian

GRAVITY = 9.81  # m/s2, of the units only: the model knows its own
MOMENT_ARM_M = 0.3  # by which moments on the base are made comparable with forces
# Weights of the objective: of a joint's distance in rad, of the base's in rad and m, of a hinted
# joint's, and of a torque's share; then of f_x, f_y, f_z, tau_x, tau_y, tau_z in units of Bearing.
JOINT_WEIGHT, TURN_WEIGHT, SHIFT_WEIGHT, HINT_WEIGHT, TORQUE_WEIGHT = 1.0, 2.0, 0.03, 3.0, 0.3
WRENCH_WEIGHTS = np.array([2.0, 2.0, 0.2, 1.5, 1.5, 0.2])
POINT_WEIGHT = 0.8  # of f_z where a point or a line bears, whose pressure has no middle to be in

Clearance = Callable[[pin.Data], tuple[Array, Array]]
"""Distances (m) of bodies beyond what they must keep, and their Jacobian, where ``data`` is."""


@dataclass(frozen=True)
class Bearing:
    """What a surface that bears can transmit: ``rows @ wrench >= lower``.

    The wrench is at the surface's centre, its components those in ``held``; in the surface's axes,
    or, where the body may turn about it, in ``axes`` (world), which stay.  ``units`` (6,) are what
    its components may be.
    """

    rows: Array
    lower: Array
    units: Array
    held: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    axes: Array | None = None


@dataclass(frozen=True)
class Touch:
    """A surface: where it is to be, and what it can transmit if it bears."""

    name: str
    place: Place
    bearing: Bearing | None = None


@dataclass(frozen=True)
class Wanted:
    """What is asked of a static posture.

    ``q_reference`` is what it is to be near to; ``hinted`` are velocity indices of joints for which
    that counts more, ``kept`` of those that stay exactly there.  ``com_xy`` is where the CoM is to
    be, if it matters.  ``torque_share`` is the share of the limits that torques may have, and
    ``range_margin`` (rad) how far joints stay inside their ranges.  Where nothing bears, balance
    and torques are no conditions.
    """

    touches: tuple[Touch, ...]
    q_reference: Array
    hinted: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    com_xy: Array | None = None
    torque_share: float = 0.8
    range_margin: float = 0.05
    clearance: Clearance | None = None


class Point(NamedTuple):
    """Where a search is: a configuration, and the wrenches of all that bears in their units."""

    q: Array
    w: Array


class Parts(NamedTuple):
    """Which rows of the conditions belong to what: names with their slices."""

    c: tuple[tuple[str, slice], ...]
    h: tuple[tuple[str, slice], ...]


class StaticPosture:
    """The search for one posture of ``model``; see the module's text.

    ``bearing`` are the touches that bear, ``limits`` the torque limits (N m), ``weight`` is in N.
    """

    def __init__(self, model: pin.Model, wanted: Wanted) -> None:
        self.model, self.wanted = model, wanted
        self._data = model.createData()
        self.bearing = [touch for touch in wanted.touches if touch.bearing is not None]
        self._sizes = [len(touch.bearing.held) for touch in self.bearing if touch.bearing]
        self.weight = GRAVITY * pin.computeTotalMass(model)
        self.limits = np.array(model.upperEffortLimit[6:])
        self._weights = self._objective_weights()
        self._lower, self._upper = _ranges(model, wanted.range_margin, wanted.kept)
        self.parts = Parts((), ())

    def search(self, q_start: Array, tolerance: float = 1e-7) -> Fit[Point]:
        """The posture found from ``q_start``."""
        share = np.zeros(self.n_wrenches)
        k = 0
        for size in self._sizes:  # every surface begins with an even share of the weight
            share[k + 2] = 1.0 / len(self._sizes)
            k += size
        point = Point(q_start.copy(), share)
        return constrained_fit(self.terms, self._add, point, tolerance=tolerance)

    @property
    def n_wrenches(self) -> int:
        """Number of components of all wrenches."""
        return sum(self._sizes)

    def wrenches(self, point: Point) -> dict[str, Array]:
        """Wrench (6,) of every surface that bears."""
        found, k = {}, 0
        for touch, size in zip(self.bearing, self._sizes, strict=True):
            assert touch.bearing is not None
            wrench = np.zeros(6)
            held = list(touch.bearing.held)
            wrench[held] = point.w[k : k + size] * touch.bearing.units[held]
            found[touch.name] = wrench
            k += size
        return found

    def _add(self, point: Point, step: Array) -> Point:
        nv = self.model.nv
        return Point(pin.integrate(self.model, point.q, step[:nv]), point.w + step[nv:])

    def terms(self, point: Point) -> Terms:
        """Objective and conditions at ``point`` with their Jacobians."""
        model, data, wanted = self.model, self._data, self.wanted
        nv, n = model.nv, model.nv + len(point.w)
        J_com = pin.jacobianCenterOfMass(model, data, point.q)
        com = np.array(data.com[0])
        tau, J_tau = self.static_torque(point)

        equal = _Rows(n)
        bound = _Rows(n)
        for touch in wanted.touches:
            rows = place_rows(model, data, touch.place)
            equal.add(f"place of {touch.name}", rows.c, rows.J_c)
            bound.add(f"window of {touch.name}", rows.h, rows.J_h)
        if self.bearing:
            base = np.repeat([1.0, 1.0 / MOMENT_ARM_M], 3) / self.weight
            equal.add("balance", base * tau[:6], base[:, None] * J_tau[:6])
        if wanted.com_xy is not None:
            equal.add("CoM", com[:2] - wanted.com_xy, J_com[:2])
        distance = pin.difference(model, wanted.q_reference, point.q)
        J_d = pin.dDifference(model, wanted.q_reference, point.q, pin.ArgumentPosition.ARG1)
        kept = list(wanted.kept)
        equal.add("kept joints", distance[kept], J_d[kept])

        share = tau[6:] / self.limits
        J_share = J_tau[6:] / self.limits[:, None]
        if self.bearing and np.isfinite(wanted.torque_share):
            bound.add("torque", wanted.torque_share - share, -J_share)
            bound.add("torque", wanted.torque_share + share, J_share)
        self._add_ranges(bound, point.q)
        self._add_cones(bound, point.w)
        if wanted.clearance is not None:
            bound.add("clearance", *wanted.clearance(data))

        objective = _Rows(n)
        objective.add("near", self._weights * distance, self._weights[:, None] * J_d)
        if self.bearing:
            objective.add("torque", TORQUE_WEIGHT * share, TORQUE_WEIGHT * J_share)
        weights = np.concatenate([np.empty(0), *map(_wrench_weights, self.bearing)])
        J_w = np.zeros((len(weights), n))
        J_w[:, nv:] = np.diag(weights)
        objective.add("wrenches", weights * point.w, J_w)
        self.parts = Parts(tuple(equal.parts), tuple(bound.parts))
        return Terms(*objective.stacked(), *equal.stacked(), *bound.stacked())

    def static_torque(self, point: Point) -> tuple[Array, Array]:
        """g(q) - sum J^T w and its Jacobian by (q, w)."""
        model, data = self.model, self._data
        pin.computeJointJacobians(model, data, point.q)
        pin.updateFramePlacements(model, data)
        forces = pin.StdVec_Force()
        for _ in range(model.njoints):
            forces.append(pin.Force.Zero())
        blocks = []
        turning: list[Array] = []
        wrenches = self.wrenches(point)
        jacobians = {t.name: surface_jacobian(model, data, t.place) for t in self.bearing}
        for touch in self.bearing:
            assert touch.bearing is not None
            frame = model.frames[touch.place.frame]
            X_JS = frame.placement * touch.place.placement
            J_S = jacobians[touch.name]
            R_SC = np.eye(3)
            if touch.bearing.axes is not None:
                R_WS = data.oMf[touch.place.frame].rotation @ touch.place.placement.rotation
                R_SC = R_WS.T @ touch.bearing.axes
            wrench = wrenches[touch.name]
            force, moment = R_SC @ wrench[:3], R_SC @ wrench[3:]
            if touch.bearing.axes is not None:
                turned = np.vstack([pin.skew(force), pin.skew(moment)]) @ J_S[3:]
                turning.append(-J_S.T @ turned)
            forces[frame.parentJoint] += X_JS.act(pin.Force(force, moment))
            J_C = np.vstack([R_SC.T @ J_S[:3], R_SC.T @ J_S[3:]])
            held = list(touch.bearing.held)
            blocks.append(-J_C[held].T * touch.bearing.units[held])
        J_q = np.array(pin.computeStaticTorqueDerivatives(model, data, point.q, forces))
        tau = np.array(pin.computeStaticTorque(model, data, point.q, forces))
        for more in turning:
            J_q += more
        return tau, np.hstack([J_q, *blocks])

    def _add_ranges(self, rows: _Rows, q: Array) -> None:
        limited = np.isfinite(self._lower)
        J = np.eye(self.model.nv)[6:][limited]
        rows.add("lower stop", q[7:][limited] - self._lower[limited], J)
        rows.add("upper stop", self._upper[limited] - q[7:][limited], -J)

    def _add_cones(self, rows: _Rows, w: Array) -> None:
        k, nv = 0, self.model.nv
        for touch, size in zip(self.bearing, self._sizes, strict=True):
            assert touch.bearing is not None
            A = touch.bearing.rows[:, list(touch.bearing.held)]
            A = A * touch.bearing.units[list(touch.bearing.held)]
            norms = np.linalg.norm(A, axis=1)
            J = np.zeros((len(A), rows.width))
            J[:, nv + k : nv + k + size] = A / norms[:, None]
            value = (A @ w[k : k + size] - touch.bearing.lower) / norms
            rows.add(f"cone of {touch.name}", value, J)
            k += size

    def _objective_weights(self) -> Array:
        weights = np.full(self.model.nv, JOINT_WEIGHT)
        weights[:3], weights[3:6] = SHIFT_WEIGHT, TURN_WEIGHT
        weights[list(self.wanted.hinted)] = HINT_WEIGHT
        return weights


def _wrench_weights(touch: Touch) -> Array:
    """Weights of the components of a wrench."""
    assert touch.bearing is not None
    weights = WRENCH_WEIGHTS.copy()
    if len(touch.bearing.held) < len(weights):
        weights[2] = POINT_WEIGHT
    return weights[list(touch.bearing.held)]


class _Rows:
    """Rows of conditions and their Jacobian, gathered under names."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.parts: list[tuple[str, slice]] = []
        self._values: list[Array] = [np.empty(0)]
        self._jacobians: list[Array] = [np.empty((0, width))]
        self._count = 0

    def add(self, name: str, values: Array, J: Array) -> None:
        """Add rows; columns that ``J`` lacks at its end are zero."""
        if not len(values):
            return
        full = np.zeros((len(values), self.width))
        full[:, : J.shape[1]] = J
        self.parts.append((name, slice(self._count, self._count + len(values))))
        self._values.append(values)
        self._jacobians.append(full)
        self._count += len(values)

    def stacked(self) -> tuple[Array, Array]:
        return np.concatenate(self._values), np.concatenate(self._jacobians)


def _ranges(model: pin.Model, margin: float, kept: Sequence[int]) -> tuple[Array, Array]:
    """Bounds of the joints, ``margin`` inside of their stops; joints that are kept have none."""
    lower, upper = model.lowerPositionLimit[7:].copy(), model.upperPositionLimit[7:].copy()
    inside = np.minimum(margin, 0.25 * (upper - lower))
    lower, upper = lower + inside, upper - inside
    for k in kept:
        lower[k - 6], upper[k - 6] = -np.inf, np.inf
    free = ~(np.isfinite(lower) & np.isfinite(upper))
    lower[free], upper[free] = -np.inf, np.inf
    return lower, upper
