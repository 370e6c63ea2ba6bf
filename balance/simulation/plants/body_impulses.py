"""Impulses at the points where bodies touch, found together with those of the soles."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from balance.config import PlantConfig
from balance.simulation.plants.body_points import BodyPoints
from balance.simulation.plants.coulomb import CoulombSolver

Array = NDArray[np.float64]

RECOVERY_SPEED = 0.01  # m/s, at most, with which a penetration is undone
DEEP_M = 0.005  # but what is deeper, as no sound run has it,
RETURN_S = 0.02  # comes back to that within a time constant, as in the other engine
GIVE = 1e-3
"""Share of the points' own mean inverse mass that is added as compliance.  A robot that lies has
more contacts than it can move, and this tells how they share its weight; a point that bears 100 N
sinks in by some 1e-8 m."""


class BodyImpulses:
    """The points of bodies as hard contacts with friction, whatever the soles stand on.

    What a point gave in the last step is where the solver starts in the next.
    """

    def __init__(self, model: pin.Model, config: PlantConfig) -> None:
        self.solver = CoulombSolver(model, config.contact_tolerance)
        self._friction = config.friction
        self.last: dict[int, Array] = {}
        """Impulse (3,) of each point that was near in the last step, by its key."""

    def approach(self, free: Array, near: BodyPoints, dt: float) -> Array:
        """Velocities (3 n,) without contact, against which the points' impulses work.

        A point may close its gap within the step, and leaves a penetration slowly.
        """
        g = free.copy()
        slowest = np.minimum(-RECOVERY_SPEED, (near.gaps + DEEP_M) / RETURN_S)
        g[2::3] += np.maximum(near.gaps / dt, slowest)
        return g

    @staticmethod
    def joined(W: Array, B: Array) -> Array:
        """Delassus matrix of corners, with ``B`` from the surfaces' velocities, and of points."""
        (corners, soles), points = B.shape, len(W) - B.shape[1]
        joined = np.empty((corners + points, corners + points))
        mixed = B.dot(W[:soles])
        joined[:corners, :corners] = mixed[:, :soles].dot(B.T)
        joined[:corners, corners:] = mixed[:, soles:]
        joined[corners:, :corners] = mixed[:, soles:].T
        joined[corners:, corners:] = W[soles:, soles:]
        return joined

    def solve(
        self,
        delassus: Array,
        g: Array,
        near: BodyPoints,
        corners: Array | None = None,
        corner_friction: Array | None = None,
    ) -> Array:
        """Impulses (3 c + 3 n,) of c corners of soles, whose guess is ``corners``, and n points.

        ``delassus`` is written to.
        """
        zero = np.zeros(3)
        guess = np.concatenate([self.last.get(key, zero) for key in near.keys])
        friction = np.full(len(near.keys), self._friction)
        if corners is not None and corner_friction is not None:
            guess = np.concatenate([corners.ravel(), guess])
            friction = np.concatenate([corner_friction, friction])
        diagonal = delassus.ravel()[:: len(delassus) + 1][-3 * len(near.keys) :]
        diagonal += GIVE * diagonal.mean()
        impulses = self.solver.solve(delassus, g, guess, friction, quick=True)
        own = impulses[-3 * len(near.keys) :].reshape(-1, 3)
        self.last = dict(zip(near.keys, own, strict=True))
        return impulses

    def beside_held(
        self, W: Array, change: Array, W_hb: Array, W_bb: Array, g: Array, near: BodyPoints
    ) -> tuple[Array, Array, bool]:
        """Impulses of rows whose velocity changes by ``change``, those of the points, and failure.

        ``W`` is the Delassus matrix of the held rows, ``W_hb`` and ``W_bb`` those with the points
        and of them.  The held rows' impulses are eliminated.
        """
        _, found, failed = dposv(W, np.column_stack([W_hb, change]))
        if failed:  # the surfaces hinder each other: take the least impulses
            found = np.linalg.lstsq(W, np.column_stack([W_hb, change]), rcond=1e-10)[0]
        response, held = found[:, :-1], found[:, -1]
        g = g + W_hb.T.dot(held)
        if g[2::3].min() >= 0.0:  # none of them gets there
            self.last = {}
            self.solver.complementarity = 0.0
            return held, np.zeros(g.size), bool(failed)
        impulses = self.solve(W_bb - W_hb.T.dot(response), g, near)
        return held - response.dot(impulses), impulses, bool(failed)
