"""Unilateral Coulomb contact of the sole corners with level ground, at velocity level.

For the impulses lambda of the corners near the ground and their velocities after the step,
c = W lambda + g with the Delassus matrix W = J (M + dt B)^-1 J^T, it holds for every corner

    lambda in K,   c + mu |c_T| e_n in K*,   lambda . (c + mu |c_T| e_n) = 0,

with K the circular friction cone (Signorini's condition and maximum dissipation at once).

Two ways lead there.  If all near corners can stick, the soles' velocities are known to be zero and
one small linear solve gives the impulses exactly; that is the case in nearly every step of a
standing robot.  Otherwise Pinocchio's ADMM solver finds them, warm-started, and its projected
Gauss-Seidel solver is asked too when ADMM stays above the tolerance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv, dtrtrs

from balance.robots import Robot

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

CONTACT_RANGE_M = 0.02  # corners higher than this above the ground cannot touch it in one step
RECOVERY_SPEED = 0.01  # m/s, at most, with which a penetration is undone
FLAT_SPEED = 1e-3  # m/s; soles that close their gaps more slowly are flat on the ground
MAX_ITERATIONS = 2000
ACCEPTED_COMPLEMENTARITY = 1e-8  # N s times m/s


class SoleContacts:
    """The sole corners, and the impulses that the ground gives them."""

    def __init__(self, robot: Robot, friction: float, tolerance: float) -> None:
        self.friction = friction
        self._soles = [_Sole(robot, index) for index in range(len(robot.soles))]
        self._solver = _CoulombSolver(robot.model, friction, tolerance)
        self._impulses = np.zeros((4 * len(self._soles), 3))
        self.residual = 0.0
        """Complementarity residual of the last step, N s times m/s."""

    def forget(self) -> None:
        """Drop everything that was kept for warm starts."""
        self._impulses[:] = 0.0
        self._solver.forget()

    def resolve(
        self,
        model: pin.Model,
        data: pin.Data,
        factor: Array,
        v_free: Array,
        dt: float,
        wrenches: Array,
    ) -> Array:
        """Velocity after contact (nv,); writes the mean wrench of each sole into ``wrenches``.

        ``factor`` is the upper Cholesky factor of M + dt B, ``v_free`` the velocity if nothing
        touched.
        """
        for sole in self._soles:
            sole.update(model, data)
        gaps = np.concatenate([sole.gaps for sole in self._soles])
        near = np.flatnonzero(gaps < CONTACT_RANGE_M)
        if near.size == 0:
            wrenches[:] = 0.0
            self._impulses[:] = 0.0
            self.residual = 0.0
            return v_free
        J = np.concatenate([sole.J for sole in self._soles])
        half = dtrtrs(factor, J.T, trans=1)[0]
        W = half.T.dot(half)
        free = J.dot(v_free)
        # The corner may close its gap within the step, and leaves a penetration slowly.
        closing = np.maximum(gaps / dt, -RECOVERY_SPEED)
        foot_impulses = None
        if np.abs(closing).max() < FLAT_SPEED:
            foot_impulses = self._all_stick(W, free, closing)
        if foot_impulses is None:
            foot_impulses = self._coulomb(W, free, closing, near)
        for index, sole in enumerate(self._soles):
            wrenches[index] = sole.wrench(foot_impulses[6 * index : 6 * index + 6]) / dt
        return v_free + dtrtrs(factor, half.dot(foot_impulses))[0]

    def _all_stick(self, W: Array, free: Array, closing: Array) -> Array | None:
        """Impulses of all soles (6 k,) that bring them to rest, or None if a corner cannot stick.

        The corners of a rigid sole share its wrench; the least-squares share is as good as any
        other that lies in the cones, for the soles' motion is the same.
        """
        target = np.concatenate(
            [sole.stick_velocity(closing[4 * i : 4 * i + 4]) for i, sole in enumerate(self._soles)]
        )
        _, impulses, failed = dposv(W, target - free)
        if failed:
            return None
        corners = np.concatenate(
            [sole.share(impulses[6 * i : 6 * i + 6]) for i, sole in enumerate(self._soles)]
        )
        tangential = np.sqrt(corners[:, 0] ** 2 + corners[:, 1] ** 2)
        if (tangential > self.friction * corners[:, 2]).any():
            return None
        self._impulses[:] = corners
        velocity = W.dot(impulses) + free - target
        self.residual = float(np.abs(velocity).max() * np.abs(corners).max())
        return np.asarray(impulses)

    def _coulomb(self, W: Array, free: Array, closing: Array, near: Indices) -> Array:
        """Impulses of all soles (6 k,) from the full Coulomb problem of the ``near`` corners."""
        B = np.concatenate([self._soles[c // 4].corner_rows(c, len(self._soles)) for c in near])
        g = B.dot(free)
        g[2::3] += closing[near]
        impulses = self._solver.solve(B.dot(W).dot(B.T), g, self._impulses[near].ravel())
        self.residual = self._solver.complementarity
        self._impulses[:] = 0.0
        self._impulses[near] = impulses.reshape(-1, 3)
        return np.asarray(impulses.dot(B))


class _CoulombSolver:
    """Pinocchio's contact solvers on a dense Delassus matrix with equal friction everywhere."""

    def __init__(self, model: pin.Model, friction: float, tolerance: float) -> None:
        self._model, self._friction = model, friction
        self._admm, self._pgs = pin.ADMMSolverSettings(), pin.PGSSolverSettings()
        for settings in (self._admm, self._pgs):
            settings.absolute_feasibility_tol = tolerance
            settings.absolute_complementarity_tol = tolerance
            settings.relative_feasibility_tol = 0.0
            settings.relative_complementarity_tol = 0.0
            settings.max_iterations = MAX_ITERATIONS
        self._cones: dict[int, tuple[Any, Any]] = {}
        self.complementarity = 0.0

    def forget(self) -> None:
        """Drop the solver objects, which are made anew when needed."""
        self._cones.clear()

    def solve(self, delassus: Array, g: Array, guess: Array) -> Array:
        """Impulses (3 n,) of the Coulomb problem; ``complementarity`` tells how well."""
        impulses, error = self._run(
            pin.ADMMConstraintSolver(g.size), pin.ADMMSolverResult(), self._admm, delassus, g, guess
        )
        if error > ACCEPTED_COMPLEMENTARITY:
            other, other_error = self._run(
                pin.PGSConstraintSolver(g.size),
                pin.PGSSolverResult(),
                self._pgs,
                delassus,
                g,
                impulses,
            )
            if other_error < error:
                impulses, error = other, other_error
        self.complementarity = error
        return impulses

    def _run(
        self, solver: Any, result: Any, settings: Any, delassus: Array, g: Array, guess: Array
    ) -> tuple[Array, float]:
        models, datas = self._cone(g.size // 3)
        result.setConstraintImpulseGuess(guess)
        solver.solve(pin.DelassusOperatorDense(delassus), g, models, datas, settings, result)
        impulses = np.array(result.retrieveConstraintImpulses())
        return impulses, coulomb_complementarity(delassus, g, impulses, self._friction)

    def _cone(self, n: int) -> tuple[Any, Any]:
        """The cones of ``n`` points, in the form that Pinocchio's solvers want."""
        if n not in self._cones:
            models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
            for _ in range(n):
                point = pin.PointContactConstraintModel(self._model, 1)
                point.setFriction(self._friction)
                models.append(pin.ConstraintModel(point))
                datas.append(pin.ConstraintData(point.createData()))
            self._cones[n] = (models, datas)
        return self._cones[n]


def coulomb_complementarity(delassus: Array, g: Array, impulses: Array, friction: float) -> float:
    """Largest |lambda . (c + mu |c_T| e_n)| over the contacts, N s times m/s."""
    velocity = (delassus @ impulses + g).reshape(-1, 3)
    slip = np.hypot(velocity[:, 0], velocity[:, 1])
    products = (impulses.reshape(-1, 3) * velocity).sum(axis=1)
    return float(np.abs(products + friction * slip * impulses[2::3]).max())


class _Sole:
    """Pose, Jacobian and corner heights of one sole."""

    def __init__(self, robot: Robot, index: int) -> None:
        sole = robot.soles[index]
        frame = robot.model.frames[sole.frame_id]
        self.index, self.joint = index, frame.parentJoint
        self.X_JS = frame.placement * sole.placement
        self.corners = sole.corners
        # Velocities of the four corners from that of the centre, all in the sole's axes.
        self._map = np.concatenate([_point_rows(corner) for corner in self.corners])
        self._share = np.linalg.pinv(self._map.T)
        # c_z = v_z + omega_x y - omega_y x is to be -closing at all four corners.
        x, y = self.corners[:, 0], self.corners[:, 1]
        self._plane = -np.linalg.pinv(np.stack([np.ones(4), y, -x], axis=1))

    def update(self, model: pin.Model, data: pin.Data) -> None:
        """Take pose and Jacobian (6, nv), at the centre and in world axes, from ``data``."""
        X_WS = data.oMi[self.joint] * self.X_JS
        self.rotation = X_WS.rotation
        self.arms = self.corners.dot(self.rotation.T)
        self.gaps = X_WS.translation[2] + self.arms[:, 2]
        self.J = pin.getFrameJacobian(model, data, self.joint, self.X_JS, pin.LOCAL_WORLD_ALIGNED)

    def corner_rows(self, corner: int, n_soles: int) -> Array:
        """(3, 6 k): velocity of a corner, world axes, from those of all soles' centres."""
        rows = np.zeros((3, 6 * n_soles))
        rows[:, 6 * self.index : 6 * self.index + 6] = _point_rows(self.arms[corner % 4])
        return rows

    def stick_velocity(self, closing: Array) -> Array:
        """Velocity of the centre (6,), world axes, with which every corner just closes its gap."""
        v_z, omega_x, omega_y = self._plane.dot(closing)
        velocity = np.empty(6)
        velocity[:3] = (0.0, 0.0, v_z)
        velocity[3:] = self.rotation[:, 0] * omega_x + self.rotation[:, 1] * omega_y
        return velocity

    def share(self, impulse: Array) -> Array:
        """Least impulses of the four corners (4, 3), world axes, that add up to ``impulse``."""
        local = np.concatenate([impulse[:3].dot(self.rotation), impulse[3:].dot(self.rotation)])
        return np.asarray(self._share.dot(local).reshape(4, 3).dot(self.rotation.T))

    def wrench(self, world: Array) -> Array:
        """A wrench at the sole's centre, from world axes to the sole's own."""
        return np.concatenate([world[:3].dot(self.rotation), world[3:].dot(self.rotation)])


def _point_rows(arm: Array) -> Array:
    """(3, 6): velocity of a point at ``arm`` from the centre, given the centre's 6D velocity."""
    x, y, z = arm
    return np.array([[1.0, 0, 0, 0, z, -y], [0, 1.0, 0, -z, 0, x], [0, 0, 1.0, y, -x, 0]])
