"""Contact of the robot's surfaces with their planes, at velocity level.

With c the velocities of the surfaces' corners after the step and lambda the impulses there,
c = W lambda + g, where W = J (M + dt B)^-1 J^T is the Delassus matrix and g the velocity without
contact; z is out of the plane that a surface touches.  Three models close the problem:

* ``hard``: unilateral contact with Coulomb friction,

      lambda in K,   c~ = c + mu |c_T| e_n in K*,   lambda . c~ = 0,

  with K the circular friction cone and c_n including the gap divided by dt (Signorini's condition
  and maximum dissipation at once).
* ``soft``: springs and dampers at the corners, RobotDynamicsETH (3.57), taken implicitly, so that
  any stiffness is stable: a compliance is added to the diagonal of W.  Cones as above.
* ``welded``: the surfaces stay where they are, whatever force that takes; about a point or a line
  the body may turn.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv, dtrtrs

from balance.config import PlantConfig
from balance.robots import Robot
from balance.robots.contact_rows import ContactRows
from balance.simulation.ground import GroundMotion
from balance.simulation.plants.coulomb import CoulombSolver
from balance.simulation.plants.surface import Surfaces, most_corners, sticking_rows

Array = NDArray[np.float64]

FASTEST_CORNER = 20.0  # m/s; a corner that would need more to reach its plane is left alone
RECOVERY_SPEED = 0.01  # m/s, at most, with which a penetration is undone
FLAT_M = 1e-6  # surfaces whose corners are nearer to their planes, all in all, lie flat on them
FLAT_FRICTION = 0.999  # share of the friction that is sure to hold at the tilt FLAT_M allows
WELD_RECOVERY = 0.1  # share of a weld's position error that is removed in one step


class ContactModel(Protocol):
    """What the plant asks of a contact model."""

    @property
    def residual(self) -> float:
        """How exactly the last step solved the problem, N s times m/s."""
        ...

    def forget(self) -> None:
        """Drop everything that is kept from step to step."""
        ...

    def set_friction(self, surface: int, friction: float) -> None:
        """Change the friction coefficient under one surface."""
        ...

    def impulses(self, W: Array, free: Array, surfaces: Surfaces, dt: float) -> Array:
        """Impulses on all surfaces (6 k,) in the axes of ``surfaces``, at their centres.

        ``W`` (6 k, 6 k) and ``free`` (6 k,) are the Delassus matrix and the velocity without
        contact of the surfaces' centres.
        """
        ...


class Contacts:
    """All contact surfaces of a robot under one contact model."""

    def __init__(self, robot: Robot, config: PlantConfig, data: pin.Data) -> None:
        k = len(robot.soles)
        # The surfaces' Jacobians, and the generalised impulse of everything else in the last row.
        self._rows = np.zeros((6 * k + 1, robot.model.nv))
        self._J, self.drive = self._rows[:-1], self._rows[-1]
        self.surfaces = Surfaces(robot, data, self._J)
        self.model = make_contact_model(robot, config)
        self.wrenches = np.zeros((k, 6))
        """Wrench of each surface in its own axes, mean over the last step (k, 6)."""
        self.on_base = np.zeros(6)
        """Impulse of the last step's contacts on the robot, base axes, about the base's origin."""
        self._ground_velocity: Array | None = None

    def carry(self, ground: GroundMotion, time: float, dt: float) -> None:
        """Move the ground under the surfaces, for the step from ``time`` to ``time + dt``.

        The step asks how fast the surfaces move relative to their planes.
        """
        self._ground_velocity = self.surfaces.carry(ground, time, dt)

    def forget(self) -> None:
        """Drop everything that is kept from step to step."""
        self.model.forget()
        self.wrenches[:] = 0.0

    def resolve(self, factor: Array, v: Array, dt: float) -> Array:
        """Velocity after a step (nv,) in which ``drive`` and the contacts act.

        ``factor`` is the upper Cholesky factor U of M + dt B.  With Y = U^-T [J^T  drive] the
        products Y^T Y hold the Delassus matrix and what ``drive`` adds to the surfaces' velocities.
        """
        self.surfaces.update()
        half = dtrtrs(factor, self._rows.T, trans=1)[0]
        products = half.T.dot(half)
        free = self._J.dot(v) + products[:-1, -1]
        if self._ground_velocity is not None:
            free -= self._ground_velocity
        impulses = self.model.impulses(products[:-1, :-1], free, self.surfaces, dt)
        np.divide(impulses.reshape(-1, 6), dt, out=self.wrenches)
        np.dot(impulses, self._J[:, :6], out=self.on_base)
        return v + dtrtrs(factor, half[:, :-1].dot(impulses) + half[:, -1])[0]


class HardContact:
    """Unilateral contact with Coulomb friction.

    If all surfaces lie flat and stick, what they hold of their velocities is known and one small
    linear solve gives the impulses exactly; that is the case in nearly every step of a standing
    robot.  Otherwise Pinocchio's contact solvers find the impulses of the corners.
    """

    def __init__(self, robot: Robot, config: PlantConfig) -> None:
        self._robot = robot
        self._most = most_corners(robot)
        self._held = ContactRows(robot.soles)
        friction = np.full(self._most * len(robot.soles), config.friction)
        self._solver = CoulombSolver(robot.model, friction, config.contact_tolerance)
        self._sticking = sticking_rows(robot, FLAT_FRICTION * friction[:: self._most])
        self.forget()

    def set_friction(self, surface: int, friction: float) -> None:
        _set_friction(self._solver.friction, self._most, surface, friction)
        friction_each = self._solver.friction[:: self._most]
        self._sticking = sticking_rows(self._robot, FLAT_FRICTION * friction_each)

    def forget(self) -> None:
        self._corners: Array | None = None
        self._stuck: tuple[Array, Array, Array] | None = None

    @property
    def residual(self) -> float:
        if self._stuck is None:
            return self._solver.complementarity
        W, impulses, change = self._stuck
        return float(np.abs(W.dot(impulses) - change).max() * np.abs(impulses).max())

    def impulses(self, W: Array, free: Array, surfaces: Surfaces, dt: float) -> Array:
        gaps = surfaces.gaps.ravel()
        touching = gaps if surfaces.present is None else gaps[surfaces.present]
        if touching.dot(touching) < FLAT_M**2:
            change, held = surfaces.closing_velocity(gaps / dt) - free, self._held
            if not held.all_held:
                change, W_held = change[held.entries], W[np.ix_(held.entries, held.entries)]
            else:
                W_held = W
            _, impulses, failed = dposv(W_held, change)
            margins = self._sticking.dot(impulses)
            if not failed and margins[margins.argmin()] >= 0.0:
                self._stuck = W_held, impulses, change
                return held.each(impulses).ravel()
        return self._slide(W, free, surfaces, gaps, dt)

    def _slide(self, W: Array, free: Array, surfaces: Surfaces, gaps: Array, dt: float) -> Array:
        """Impulses by a solver for the corners that may touch, whether they stick or not."""
        guess = self._guess(surfaces)
        self._stuck, self._corners = None, np.zeros_like(guess)
        near = np.flatnonzero(gaps < FASTEST_CORNER * dt)
        if near.size == 0:
            self._solver.complementarity = 0.0
            return np.zeros_like(free)
        B = surfaces.corner_map(near)
        g = B.dot(free)
        # A corner may close its gap within the step, and leaves a penetration slowly.
        g[2::3] += np.maximum(gaps[near] / dt, -RECOVERY_SPEED)
        corners = self._solver.solve(B.dot(W).dot(B.T), g, guess[near].ravel(), near)
        self._corners[near] = corners.reshape(-1, 3)
        return corners.dot(B)

    def _guess(self, surfaces: Surfaces) -> Array:
        """Impulses of the corners (m k, 3) in the last step."""
        if self._stuck is not None:
            return surfaces.share(self._held.each(self._stuck[1]).ravel())
        return np.zeros((surfaces.gaps.size, 3)) if self._corners is None else self._corners


class SoftContact:
    """Springs and dampers at the corners, with friction; RobotDynamicsETH (3.57), implicit.

    With stiffness k, damping d and the corner at distance r from where it first touched, the
    impulse of a step is dt (-k (r + dt c) - d c), that is c + R lambda + R dt k r = 0 with
    R = 1 / (dt^2 k + dt d).

    Differs: (3.57) also pulls and has no friction; here the impulse stays in the Coulomb cone.
    """

    def __init__(self, robot: Robot, config: PlantConfig) -> None:
        self._stiffness, self._damping = config.soft.stiffness, config.soft.damping
        self._most = most_corners(robot)
        n = self._most * len(robot.soles)
        friction = np.full(n, config.friction)
        self._solver = CoulombSolver(robot.model, friction, config.contact_tolerance)
        self._corners, self._stretch = np.zeros((n, 3)), np.zeros((n, 2))

    def set_friction(self, surface: int, friction: float) -> None:
        _set_friction(self._solver.friction, self._most, surface, friction)

    @property
    def residual(self) -> float:
        return self._solver.complementarity

    def forget(self) -> None:
        self._corners[:] = 0.0
        self._stretch[:] = 0.0

    def impulses(self, W: Array, free: Array, surfaces: Surfaces, dt: float) -> Array:
        gaps = surfaces.gaps.ravel()
        near = np.flatnonzero(gaps < FASTEST_CORNER * dt)
        self._stretch[gaps > 0.0] = 0.0
        if near.size == 0:
            self._corners[:] = 0.0
            self._solver.complementarity = 0.0
            return np.zeros_like(free)
        k, d = self._stiffness, self._damping
        compliance = 1.0 / (dt * dt * k + dt * d)
        B = surfaces.corner_map(near)
        g = B.dot(free)
        offset = np.column_stack([self._stretch[near], gaps[near]])
        # Above the plane there is no spring: the corner may first fall to it.
        above = np.flatnonzero(gaps[near] > 0.0)
        fall = g[3 * above + 2] + gaps[near][above] / dt
        g += (compliance * dt * k * offset).ravel()
        g[3 * above + 2] = fall
        delassus = B.dot(W).dot(B.T)
        delassus.ravel()[:: len(delassus) + 1] += compliance
        corners = self._solver.solve(delassus, g, self._corners[near].ravel(), near)
        self._corners[:] = 0.0
        self._corners[near] = corners.reshape(-1, 3)
        self._stretch[near] = self._new_stretch(corners.reshape(-1, 3), offset, dt)
        return corners.dot(B)

    def _new_stretch(self, corners: Array, offset: Array, dt: float) -> Array:
        """Tangential stretch of the springs after the step, from the impulse that they gave.

        dt (-k s+ - d (s+ - s) / dt) = lambda_T; a sliding corner drags its spring's foot along.
        """
        k, d = self._stiffness, self._damping
        return np.asarray((d * offset[:, :2] - corners[:, :2]) / (dt * k + d))


class WeldedContact:
    """The surfaces are fixed to the world; for studies of a law without slipping or tipping."""

    def __init__(self, robot: Robot, config: PlantConfig) -> None:
        self._held = ContactRows(robot.soles)
        self.forget()

    def set_friction(self, surface: int, friction: float) -> None:
        """What is welded holds on any ground."""

    def forget(self) -> None:
        self._anchors: Array | None = None
        self.residual = 0.0

    def impulses(self, W: Array, free: Array, surfaces: Surfaces, dt: float) -> Array:
        poses = surfaces.poses()
        if self._anchors is None:
            self._anchors = poses
        change = -WELD_RECOVERY / dt * _displacements(self._anchors, poses) - free
        if not self._held.all_held:
            entries = self._held.entries
            W, change = W[np.ix_(entries, entries)], change[entries]
        _, impulses, failed = dposv(W, change)
        if failed:  # the surfaces hinder each other: take the least impulses
            impulses = np.linalg.lstsq(W, change, rcond=1e-10)[0]
        self.residual = float(np.abs(W.dot(impulses) - change).max())
        return self._held.each(impulses).ravel()


def _set_friction(corners: Array, most: int, surface: int, friction: float) -> None:
    """Write the coefficient of one surface's corners, of which there is room for ``most``."""
    corners[most * surface : most * (surface + 1)] = friction


def _displacements(anchors: Array, poses: Array) -> Array:
    """Displacements (6 k,) of surfaces from their anchors, both (k, 4, 3), in surface axes."""
    moved = np.empty((len(poses), 6))
    for index, (anchor, pose) in enumerate(zip(anchors, poses, strict=True)):
        R_SP = pose[:3]
        moved[index, :3] = R_SP.dot(pose[3] - anchor[3])
        moved[index, 3:] = R_SP.dot(pin.log3(R_SP.T @ anchor[:3]))
    return moved.ravel()


def make_contact_model(robot: Robot, config: PlantConfig) -> ContactModel:
    """The contact model that ``plant.contact`` names."""
    models: dict[str, type[HardContact] | type[SoftContact] | type[WeldedContact]] = {
        "hard": HardContact,
        "soft": SoftContact,
        "welded": WeldedContact,
    }
    return models[config.contact](robot, config)
