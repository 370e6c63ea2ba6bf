"""Contact of the robot's surfaces with their planes, at velocity level.

With c the velocities of the surfaces' corners after the step and lambda the impulses there,
c = W lambda + g, where W = J (M + dt B)^-1 J^T is the Delassus matrix and g the velocity without
contact.  Everything is in the axes of the plane that a surface touches, z out of the plane.  Three
models close the problem:

* ``hard``: unilateral contact with Coulomb friction,

      lambda in K,   c~ = c + mu |c_T| e_n in K*,   lambda . c~ = 0,

  with K the circular friction cone and c_n including the gap divided by dt (Signorini's condition
  and maximum dissipation at once).
* ``soft``: springs and dampers at the corners, RobotDynamicsETH (3.57), taken implicitly, so that
  any stiffness is stable: a compliance is added to the diagonal of W.  Cones as above.
* ``welded``: the surfaces stay where they are, whatever force that takes.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv, dtrtrs

from balance.config import Plant
from balance.plants.coulomb import CoulombSolver
from balance.plants.surface import SurfaceState
from balance.robots import Robot

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

FASTEST_CORNER = 20.0  # m/s; a corner that would need more to reach its plane is left alone
RECOVERY_SPEED = 0.01  # m/s, at most, with which a penetration is undone
FLAT_SPEED = 1e-3  # m/s; surfaces that close their gaps more slowly are flat on their plane
WELD_RECOVERY = 0.1  # share of a weld's position error that is removed in one step


class ContactModel(Protocol):
    """What the plant asks of a contact model."""

    residual: float

    def forget(self) -> None:
        """Drop everything that is kept from step to step."""
        ...

    def impulses(self, W: Array, free: Array, surfaces: list[SurfaceState], dt: float) -> Array:
        """Impulses on all surfaces (6 k,): plane axes, at their centres.

        ``W`` (6 k, 6 k) and ``free`` (6 k,) are the Delassus matrix and the velocity without
        contact of the surfaces' centres.
        """
        ...


class Contacts:
    """All contact surfaces of a robot under one contact model."""

    def __init__(self, robot: Robot, config: Plant) -> None:
        self.surfaces = [SurfaceState(robot.model, surface) for surface in robot.soles]
        self.model = make_contact_model(robot, config)

    @property
    def residual(self) -> float:
        """Complementarity residual of the last step, N s times m/s."""
        return self.model.residual

    def forget(self) -> None:
        """Drop everything that is kept from step to step."""
        self.model.forget()

    def resolve(
        self,
        model: pin.Model,
        data: pin.Data,
        factor: Array,
        v_free: Array,
        dt: float,
        wrenches: Array,
    ) -> Array:
        """Velocity after contact (nv,); writes the mean wrench of each surface into ``wrenches``.

        ``factor`` is the upper Cholesky factor of M + dt B, ``v_free`` the velocity if nothing
        touched.
        """
        for surface in self.surfaces:
            surface.update(model, data)
        J = np.concatenate([surface.J for surface in self.surfaces])
        half = dtrtrs(factor, J.T, trans=1)[0]
        impulses = self.model.impulses(half.T.dot(half), J.dot(v_free), self.surfaces, dt)
        for index, surface in enumerate(self.surfaces):
            wrenches[index] = surface.wrench(impulses[6 * index : 6 * index + 6]) / dt
        return v_free + dtrtrs(factor, half.dot(impulses))[0]


class HardContact:
    """Unilateral contact with Coulomb friction.

    If all corners can stick, the surfaces' velocities are known to be zero and one small linear
    solve gives the impulses exactly; that is the case in nearly every step of a standing robot.
    Otherwise Pinocchio's contact solvers find them.
    """

    def __init__(self, robot: Robot, config: Plant) -> None:
        self.friction = config.friction
        self._solver = CoulombSolver(robot.model, config.friction, config.contact_tolerance)
        self._corners = np.zeros((4 * len(robot.soles), 3))
        self.residual = 0.0

    def forget(self) -> None:
        self._corners[:] = 0.0

    def impulses(self, W: Array, free: Array, surfaces: list[SurfaceState], dt: float) -> Array:
        gaps = np.concatenate([surface.gaps for surface in surfaces])
        near = np.flatnonzero(gaps < FASTEST_CORNER * dt)
        if near.size == 0:
            self._corners[:] = 0.0
            self.residual = 0.0
            return np.zeros_like(free)
        # A corner may close its gap within the step, and leaves a penetration slowly.
        closing = np.maximum(gaps / dt, -RECOVERY_SPEED)
        if np.abs(closing).max() < FLAT_SPEED:
            sticking = self._all_stick(W, free, surfaces, closing)
            if sticking is not None:
                return sticking
        B = corner_map(surfaces, near)
        g = B.dot(free)
        g[2::3] += closing[near]
        corners = self._solver.solve(B.dot(W).dot(B.T), g, self._corners[near].ravel())
        self.residual = self._solver.complementarity
        self._corners[:] = 0.0
        self._corners[near] = corners.reshape(-1, 3)
        return np.asarray(corners.dot(B))

    def _all_stick(
        self, W: Array, free: Array, surfaces: list[SurfaceState], closing: Array
    ) -> Array | None:
        """Impulses that bring all surfaces to rest, or None if a corner cannot stick.

        The corners of a rigid surface share its wrench; the least-squares share is as good as any
        other that lies in the cones, for the surfaces' motion is the same.
        """
        target = np.concatenate(
            [s.closing_velocity(closing[4 * i : 4 * i + 4]) for i, s in enumerate(surfaces)]
        )
        _, impulses, failed = dposv(W, target - free)
        if failed:
            return None
        corners = np.concatenate(
            [s.share(impulses[6 * i : 6 * i + 6]) for i, s in enumerate(surfaces)]
        )
        tangential = np.sqrt(corners[:, 0] ** 2 + corners[:, 1] ** 2)
        if (tangential > self.friction * corners[:, 2]).any():
            return None
        self._corners[:] = corners
        velocity = W.dot(impulses) + free - target
        self.residual = float(np.abs(velocity).max() * np.abs(corners).max())
        return np.asarray(impulses)


class SoftContact:
    """Springs and dampers at the corners, with friction; RobotDynamicsETH (3.57), implicit.

    With stiffness k, damping d and the corner at distance r from where it first touched, the
    impulse of a step is dt (-k (r + dt c) - d c), that is c + R lambda + R dt k r = 0 with
    R = 1 / (dt^2 k + dt d).

    Differs: (3.57) also pulls and has no friction; here the impulse stays in the Coulomb cone.
    """

    def __init__(self, robot: Robot, config: Plant) -> None:
        self._stiffness, self._damping = config.soft.stiffness, config.soft.damping
        self._friction = config.friction
        self._solver = CoulombSolver(robot.model, config.friction, config.contact_tolerance)
        n = 4 * len(robot.soles)
        self._corners, self._stretch = np.zeros((n, 3)), np.zeros((n, 2))
        self.residual = 0.0

    def forget(self) -> None:
        self._corners[:] = 0.0
        self._stretch[:] = 0.0

    def impulses(self, W: Array, free: Array, surfaces: list[SurfaceState], dt: float) -> Array:
        gaps = np.concatenate([surface.gaps for surface in surfaces])
        near = np.flatnonzero(gaps < FASTEST_CORNER * dt)
        away = gaps > 0.0
        self._stretch[away] = 0.0
        if near.size == 0:
            self._corners[:] = 0.0
            self.residual = 0.0
            return np.zeros_like(free)
        k, d = self._stiffness, self._damping
        compliance = 1.0 / (dt * dt * k + dt * d)
        B = corner_map(surfaces, near)
        g = B.dot(free)
        offset = np.column_stack([self._stretch[near], gaps[near]])
        g += (compliance * dt * k * offset).ravel()
        # Above the plane there is no spring: the corner may first fall to it.
        above = np.flatnonzero(gaps[near] > 0.0)
        g[3 * above + 2] = B[3 * above + 2].dot(free) + gaps[near][above] / dt
        delassus = B.dot(W).dot(B.T)
        delassus[np.diag_indices_from(delassus)] += compliance
        corners = self._solver.solve(delassus, g, self._corners[near].ravel())
        self.residual = self._solver.complementarity
        self._corners[:] = 0.0
        self._corners[near] = corners.reshape(-1, 3)
        self._stretch[near] = self._new_stretch(corners.reshape(-1, 3), offset, dt)
        return np.asarray(corners.dot(B))

    def _new_stretch(self, corners: Array, offset: Array, dt: float) -> Array:
        """Tangential stretch of the springs after the step, from the impulse that they gave.

        dt (-k s+ - d (s+ - s) / dt) = lambda_T; a sliding corner drags its spring's foot along.
        """
        k, d = self._stiffness, self._damping
        return np.asarray((d * offset[:, :2] - corners[:, :2]) / (dt * k + d))


class WeldedContact:
    """The surfaces are fixed to the world; for studies of a law without slipping or tipping."""

    def __init__(self, robot: Robot, config: Plant) -> None:
        self._anchors: list[pin.SE3] = []
        self.residual = 0.0

    def forget(self) -> None:
        self._anchors = []

    def impulses(self, W: Array, free: Array, surfaces: list[SurfaceState], dt: float) -> Array:
        if not self._anchors:
            self._anchors = [surface.X_PS.copy() for surface in surfaces]
        error = np.concatenate(
            [
                _pose_error(anchor, surface.X_PS)
                for anchor, surface in zip(self._anchors, surfaces, strict=True)
            ]
        )
        target = -WELD_RECOVERY / dt * error
        _, impulses, failed = dposv(W, target - free)
        if failed:  # the surfaces hinder each other: take the least impulses
            impulses = np.linalg.lstsq(W, target - free, rcond=1e-10)[0]
        self.residual = float(np.abs(W.dot(impulses) + free - target).max())
        return np.asarray(impulses)


def corner_map(surfaces: list[SurfaceState], corners: Indices) -> Array:
    """(3 n, 6 k): velocities of corners from those of all surfaces' centres, plane axes."""
    B = np.zeros((3 * corners.size, 6 * len(surfaces)))
    for row, corner in enumerate(corners):
        index = corner // 4
        B[3 * row : 3 * row + 3, 6 * index : 6 * index + 6] = surfaces[index].corner_rows(
            corner % 4
        )
    return B


def _pose_error(anchor: pin.SE3, pose: pin.SE3) -> Array:
    """Displacement (6,) of ``pose`` from ``anchor`` in plane axes."""
    turn = pin.log3(pose.rotation @ anchor.rotation.T)
    return np.concatenate([pose.translation - anchor.translation, turn])


def make_contact_model(robot: Robot, config: Plant) -> ContactModel:
    """The contact model that ``plant.contact`` names."""
    models: dict[str, type[HardContact] | type[SoftContact] | type[WeldedContact]] = {
        "hard": HardContact,
        "soft": SoftContact,
        "welded": WeldedContact,
    }
    return models[config.contact](robot, config)
