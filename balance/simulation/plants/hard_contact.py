"""Unilateral contact with Coulomb friction, without any give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.dynamics.compiled import compiled
from balance.dynamics.linear_algebra import contiguous, solve_symmetric
from balance.robots import Robot
from balance.robots.contact_rows import ContactRows
from balance.robots.same_body import shared_corners
from balance.simulation.plants.body_impulses import RECOVERY_SPEED, BodyImpulses
from balance.simulation.plants.body_points import BodyPoints
from balance.simulation.plants.step_maps import seen_by_contacts, velocity_after
from balance.simulation.plants.surface import (
    Surfaces,
    closing_velocity,
    most_corners,
    sticking_rows,
)

Array = NDArray[np.float64]

FASTEST_CORNER = 20.0  # m/s; a corner that would need more to reach its plane is left alone
FLAT_M = 1e-6  # surfaces whose corners are nearer to their planes, all in all, lie flat on them
LIFTED_M = 1e-4  # surfaces whose corners are all higher than this are off their planes
FLAT_FRICTION = 0.999  # share of the friction that is sure to hold at the tilt FLAT_M allows
UNMET = 1e-9  # m/s or rad/s, by which held surfaces may move
INDETERMINATE = 1e-9  # of the largest eigenvalue of W: what holds so little is not told apart


class _Subset:
    """Some of a robot's surfaces: which, what they hold among 6 k, and when they stick."""

    def __init__(self, robot: Robot, friction: Array, numbers: tuple[int, ...]) -> None:
        self.chosen = np.isin(np.arange(len(robot.soles)), numbers)
        self.entries = np.concatenate(
            [6 * number + np.array(robot.soles[number].held) for number in numbers]
        )
        part = replace(robot, soles=tuple(robot.soles[number] for number in numbers))
        self.sticking = sticking_rows(part, friction[self.chosen])


class HardContact:
    """Unilateral contact with Coulomb friction.

    If all surfaces lie flat and stick, what they hold of their velocities is known and one small
    linear solve gives the impulses exactly; that is the case in nearly every step of a standing
    robot, and of one whose soles bear in turns if those that lie flat stick and the others are off
    the ground.  Otherwise Pinocchio's contact solvers find the impulses of the corners.
    """

    def __init__(self, robot: Robot, config: PlantConfig) -> None:
        self._robot = robot
        self._most = most_corners(robot)
        self._held = ContactRows(robot.soles)
        self._friction = np.full(self._most * len(robot.soles), config.friction)
        self._bodies = BodyImpulses(robot.model, config)
        self._solver = self._bodies.solver
        self._sticking = sticking_rows(robot, FLAT_FRICTION * self._friction[:: self._most])
        self._some: dict[tuple[int, ...], _Subset] = {}
        corners = np.array([len(sole.corners) for sole in robot.soles])
        self._absent = np.arange(self._most) >= corners[:, None]
        self._twins = shared_corners(robot)
        self.forget()

    def set_friction(self, surface: int, friction: float) -> None:
        self._friction[self._most * surface : self._most * (surface + 1)] = friction
        self._sticking = sticking_rows(self._robot, FLAT_FRICTION * self._friction[:: self._most])
        self._some = {}

    def forget(self) -> None:
        self._corners: Array | None = None
        self._stuck: tuple[Array, Array, Array, Array] | None = None
        self._bodies.last = {}

    def memory(self) -> tuple[Any, ...]:
        return self._corners, self._stuck, self._bodies.last

    def recall(self, memory: tuple[Any, ...]) -> None:
        self._corners, self._stuck, self._bodies.last = memory

    @property
    def residual(self) -> float:
        if self._stuck is None:
            return self._solver.complementarity
        W, impulses, change, _ = self._stuck
        return float(np.abs(W.dot(impulses) - change).max() * np.abs(impulses).max())

    def at_rest(
        self, factor: Array, rows: Array, v: Array, surfaces: Surfaces, dt: float
    ) -> tuple[Array, Array, Array] | None:
        if surfaces.present is not None:
            return None
        held, velocity, wrenches, on_base, W, impulses, change = at_rest(
            factor, rows, v, surfaces.gaps, surfaces.plane_fit, surfaces.normals,
            self._held.entries, self._sticking, dt,
        )  # fmt: skip
        if not held:
            return None
        self._stuck = W, impulses, change, wrenches
        return velocity, wrenches, on_base

    def impulses(
        self, W: Array, free: Array, surfaces: Surfaces, dt: float, near: BodyPoints | None = None
    ) -> Array:
        gaps = surfaces.gaps.ravel()
        touching = gaps if surfaces.present is None else gaps[surfaces.present]
        if touching.dot(touching) < FLAT_M**2:
            found = self._stick(W, free, surfaces, gaps, dt, near)
            if found is not None:
                return found
        elif self._robot.in_turns and near is None:
            flat, others = self._flat_ones(surfaces)
            found = self._stick_some(W, free, surfaces, gaps, dt, flat, others) if flat else None
            if found is not None:
                return found
        return self._slide(W, free, surfaces, gaps, dt, near)

    def _stick(
        self,
        W: Array,
        free: Array,
        surfaces: Surfaces,
        gaps: Array,
        dt: float,
        near: BodyPoints | None,
    ) -> Array | None:
        """Impulses if all surfaces lie flat and none slides or tips; None if one must."""
        held, soles, own = self._held, 6 * surfaces.count, None
        if near is None:
            W_held, change, impulses, firm, margin = flat_impulses(
                W, free, gaps, surfaces.plane_fit, surfaces.normals, held.entries, self._sticking,
                dt,
            )  # fmt: skip
            if not firm:
                impulses, failed = least_impulses(W_held, change)
                margin = -np.inf if failed else self._sticking.dot(impulses).min()
        else:
            closing = closing_velocity(surfaces.plane_fit, surfaces.normals, gaps / dt)
            change = (closing - free[:soles])[held.entries]
            W_held = W[np.ix_(held.entries, held.entries)]
            g = self._bodies.approach(free[soles:], near, dt)
            W_hb, W_bb = W[held.entries, soles:], W[soles:, soles:]
            impulses, own, failed = self._bodies.beside_held(W_held, change, W_hb, W_bb, g, near)
            change = change - W_hb.dot(own)
            margin = -np.inf if failed else self._sticking.dot(impulses).min()
        if not margin >= 0.0:
            return None
        wrenches = held.each(impulses).ravel()
        self._stuck = W_held, impulses, change, wrenches
        return wrenches if own is None else np.concatenate([wrenches, own])

    def _flat_ones(self, surfaces: Surfaces) -> tuple[tuple[int, ...], NDArray[np.bool_]]:
        """Numbers of the surfaces that lie flat, if all others are off their planes; else none.

        And which corners (m k,) are another matter: those of the others, without any that a flat
        surface has, too.  Of two that share corners the larger one counts.
        """
        gaps = np.where(self._absent, 0.0, surfaces.gaps)
        flat = np.einsum("ij,ij->i", gaps, gaps) < FLAT_M**2
        off = (surfaces.gaps > LIFTED_M) | self._absent
        covered = np.zeros_like(off)
        for number, corner, other in self._twins:
            covered[number, corner] = flat[other]
        for number in {number for number, _, _ in self._twins}:
            whole = (covered[number] | self._absent[number]).all()
            flat[number] &= not (whole and self._absent[number].any())
        if not (flat | (off | covered).all(axis=1)).all():
            return (), covered.ravel()
        others = ~(covered | self._absent | flat[:, None]).ravel()
        return tuple(np.flatnonzero(flat).tolist()), others

    def _stick_some(
        self,
        W: Array,
        free: Array,
        surfaces: Surfaces,
        gaps: Array,
        dt: float,
        flat: tuple[int, ...],
        others: NDArray[np.bool_],
    ) -> Array | None:
        """As :meth:`_stick`, of those surfaces that lie flat; None if one of ``others`` lands."""
        if flat not in self._some:
            mu = FLAT_FRICTION * self._friction[:: self._most]
            self._some[flat] = _Subset(self._robot, mu, flat)
        some = self._some[flat]
        flat_gaps = np.where(np.repeat(some.chosen, self._most), gaps, 0.0)
        W_held, change, impulses, firm, margin = flat_impulses(
            W, free, flat_gaps, surfaces.plane_fit, surfaces.normals, some.entries, some.sticking,
            dt,
        )  # fmt: skip
        if not firm:
            impulses, failed = least_impulses(W_held, change)
            margin = -np.inf if failed else some.sticking.dot(impulses).min()
        if not margin >= 0.0:
            return None
        wrenches = np.zeros(6 * surfaces.count)
        wrenches[some.entries] = impulses
        low = np.flatnonzero((gaps < FASTEST_CORNER * dt) & others)
        if low.size:
            speeds = surfaces.corner_map(low)[2::3].dot(free + W.dot(wrenches))
            if (gaps[low] + dt * speeds).min() < 0.0:
                return None
        self._stuck = W_held, impulses, change, wrenches
        return wrenches.copy()

    def _slide(
        self,
        W: Array,
        free: Array,
        surfaces: Surfaces,
        gaps: Array,
        dt: float,
        near: BodyPoints | None,
    ) -> Array:
        """Impulses by a solver for the corners that may touch, whether they stick or not."""
        guess = self._guess(surfaces)
        self._stuck, self._corners = None, np.zeros_like(guess)
        close = np.flatnonzero(gaps < FASTEST_CORNER * dt)
        if close.size == 0 and near is None:
            self._solver.complementarity = 0.0
            return np.zeros_like(free)
        soles, corners = 6 * surfaces.count, 3 * close.size
        B = surfaces.corner_map(close)
        g = B.dot(free[:soles])
        # A corner may close its gap within the step, and leaves a penetration slowly.
        g[2::3] += np.maximum(gaps[close] / dt, -RECOVERY_SPEED)
        guess, friction = guess[close].ravel(), self._friction[close]
        if near is None:
            found = self._solver.solve(B.dot(W).dot(B.T), g, guess, friction)
        else:
            g = np.concatenate([g, self._bodies.approach(free[soles:], near, dt)])
            found = self._bodies.solve(self._bodies.joined(W, B), g, near, guess, friction)
        self._corners[close] = found[:corners].reshape(-1, 3)
        return np.concatenate([found[:corners].dot(B), found[corners:]])

    def _guess(self, surfaces: Surfaces) -> Array:
        """Impulses of the corners (m k, 3) in the last step."""
        if self._stuck is not None:
            return surfaces.share(self._stuck[3])
        return np.zeros((surfaces.gaps.size, 3)) if self._corners is None else self._corners


@compiled
def at_rest(
    U: Array,
    rows: Array,
    v: Array,
    gaps: Array,
    plane_fit: Array,
    normals: Array,
    entries: NDArray[np.intp],
    sticking: Array,
    dt: float,
) -> tuple[bool, Array, Array, Array, Array, Array, Array]:
    """A step in which all surfaces lie flat and stick, in one call; first, whether they do.

    Then the velocity after it, the impulses (6 k,), their sum on the base, and what
    :func:`flat_impulses` says: W, impulses and the change of what is held.
    """
    heights = gaps.copy().ravel()
    wrenches = np.zeros(6 * len(gaps))
    if not heights.dot(heights) < FLAT_M**2:
        return False, v, wrenches, v, rows, v, v
    half, W, free = seen_by_contacts(U, rows, v)
    W_held, change, impulses, firm, margin = flat_impulses(
        W, free, heights, plane_fit, normals, entries, sticking, dt
    )
    if not (firm and margin >= 0.0):
        return False, v, wrenches, v, rows, v, v
    wrenches[entries] = impulses
    on_base = wrenches.dot(contiguous(rows[:-1, :6]))
    return True, velocity_after(U, half, wrenches, v), wrenches, on_base, W_held, impulses, change


@compiled
def flat_impulses(
    W: Array,
    free: Array,
    gaps: Array,
    plane_fit: Array,
    normals: Array,
    entries: NDArray[np.intp],
    sticking: Array,
    dt: float,
) -> tuple[Array, Array, Array, bool, float]:
    """Impulses of surfaces that lie flat, if none slides or tips.

    ``entries`` are those of 6 k velocities that they hold.  W and the change of these velocities,
    the impulses (r,), whether W alone determines them, and the least of the ``sticking`` rows: if
    it is negative, one must slide or tip.
    """
    change = closing_velocity(plane_fit, normals, gaps / dt) - free
    if len(entries) < len(free):
        change, W = change[entries], W[entries][:, entries]
    factor, impulses, regular = solve_symmetric(W, change)
    pivots = np.abs(factor.T.ravel()[:: len(factor) + 1])
    firm = regular and pivots.min() ** 2 > INDETERMINATE * pivots.max() ** 2
    margins = sticking.dot(impulses)
    return W, change, impulses, firm, margins[margins.argmin()]


def held_impulses(W: Array, change: Array) -> tuple[Array, bool]:
    """The least impulses (r,) that change the velocities of held surfaces, and whether none does.

    Feet and thighs that close a chain may press against each other with forces that move nothing:
    rigid bodies do not tell how large they are.  None is what contacts with any give settle to.
    """
    factor, impulses, regular = solve_symmetric(W, change)
    pivots = np.abs(factor.diagonal())
    if regular and pivots.min() ** 2 > INDETERMINATE * pivots.max() ** 2:
        return impulses, False
    return least_impulses(W, change)


def least_impulses(W: Array, change: Array) -> tuple[Array, bool]:
    """As :func:`held_impulses`, where W does not determine all of them."""
    values, axes = np.linalg.eigh(W)
    kept = values > INDETERMINATE * values[-1]
    impulses = axes[:, kept].dot(change.dot(axes[:, kept]) / values[kept])
    return impulses, bool(np.abs(W.dot(impulses) - change).max(initial=0.0) > UNMET)
