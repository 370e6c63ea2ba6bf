"""Springs and dampers at the corners of the soles, with friction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.robots import Robot
from balance.simulation.plants.body_impulses import BodyImpulses
from balance.simulation.plants.body_points import BodyPoints
from balance.simulation.plants.hard_contact import FASTEST_CORNER
from balance.simulation.plants.surface import Surfaces, most_corners

Array = NDArray[np.float64]


class SoftContact:
    """Springs and dampers at the corners, with friction; RobotDynamicsETH (3.57), implicit.

    With stiffness k, damping d and the corner at distance r from where it first touched, the
    impulse of a step is dt (-k (r + dt c) - d c), that is c + R lambda + R dt k r = 0 with
    R = 1 / (dt^2 k + dt d).  Bodies touch without give, as in a hard contact.

    Differs: (3.57) also pulls and has no friction; here the impulse stays in the Coulomb cone.
    """

    def __init__(self, robot: Robot, config: PlantConfig) -> None:
        self._stiffness, self._damping = config.soft.stiffness, config.soft.damping
        self._most = most_corners(robot)
        n = self._most * len(robot.soles)
        self._friction = np.full(n, config.friction)
        self._bodies = BodyImpulses(robot.model, config)
        self._solver = self._bodies.solver
        self._corners, self._stretch = np.zeros((n, 3)), np.zeros((n, 2))

    def set_friction(self, surface: int, friction: float) -> None:
        self._friction[self._most * surface : self._most * (surface + 1)] = friction

    @property
    def residual(self) -> float:
        return self._solver.complementarity

    def forget(self) -> None:
        self._corners[:] = 0.0
        self._stretch[:] = 0.0
        self._bodies.last = {}

    def memory(self) -> tuple[Any, ...]:
        return self._corners.copy(), self._stretch.copy(), self._bodies.last

    def recall(self, memory: tuple[Any, ...]) -> None:
        self._corners[:], self._stretch[:], self._bodies.last = memory

    def at_rest(self, factor: Array, rows: Array, v: Array, surfaces: Surfaces, dt: float) -> None:
        return None

    def impulses(
        self, W: Array, free: Array, surfaces: Surfaces, dt: float, near: BodyPoints | None = None
    ) -> Array:
        gaps = surfaces.gaps.ravel()
        close = np.flatnonzero(gaps < FASTEST_CORNER * dt)
        self._stretch[gaps > 0.0] = 0.0
        if close.size == 0 and near is None:
            self._corners[:] = 0.0
            self._solver.complementarity = 0.0
            return np.zeros_like(free)
        k, d = self._stiffness, self._damping
        compliance = 1.0 / (dt * dt * k + dt * d)
        soles, corners = 6 * surfaces.count, 3 * close.size
        B = surfaces.corner_map(close)
        g = B.dot(free[:soles])
        offset = np.column_stack([self._stretch[close], gaps[close]])
        # Above the plane there is no spring: the corner may first fall to it.
        above = np.flatnonzero(gaps[close] > 0.0)
        fall = g[3 * above + 2] + gaps[close][above] / dt
        g += (compliance * dt * k * offset).ravel()
        g[3 * above + 2] = fall
        if near is not None:
            g = np.concatenate([g, self._bodies.approach(free[soles:], near, dt)])
        delassus = self._bodies.joined(W, B)
        delassus.ravel()[:: len(delassus) + 1][:corners] += compliance
        guess, friction = self._corners[close].ravel(), self._friction[close]
        if near is None:
            found = self._solver.solve(delassus, g, guess, friction)
        else:
            found = self._bodies.solve(delassus, g, near, guess, friction)
        own = found[:corners].reshape(-1, 3)
        self._corners[:] = 0.0
        self._corners[close] = own
        self._stretch[close] = self._new_stretch(own, offset, dt)
        return np.concatenate([found[:corners].dot(B), found[corners:]])

    def _new_stretch(self, corners: Array, offset: Array, dt: float) -> Array:
        """Tangential stretch of the springs after the step, from the impulse that they gave.

        dt (-k s+ - d (s+ - s) / dt) = lambda_T; a sliding corner drags its spring's foot along.
        """
        k, d = self._stiffness, self._damping
        return np.asarray((d * offset[:, :2] - corners[:, :2]) / (dt * k + d))
