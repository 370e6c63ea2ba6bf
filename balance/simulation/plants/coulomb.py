"""Pinocchio's frictional contact solvers on a dense Delassus matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_ITERATIONS = 2000
ACCEPTED_COMPLEMENTARITY = 1e-8  # N s times m/s
QUICK_ITERATIONS = 300
QUICK_TOLERANCE = 1e-7
QUICK_MEMORY = 5  # steps that Anderson's acceleration looks back; halves the iterations
MOST_KEPT = 256  # sets of cones; bodies that touch here and there make ever new ones


class CoulombSolver:
    """Points with friction: ADMM, warm-started; projected Gauss-Seidel where that stalls.

    Where ``quick``, for many points of many bodies, ADMM alone answers with what a few hundred
    iterations give: such problems have more unknowns than the robot can move, and Gauss-Seidel does
    not get to their end either.
    """

    def __init__(self, model: pin.Model, tolerance: float) -> None:
        self._model = model
        self._admm, self._pgs = pin.ADMMSolverSettings(), pin.PGSSolverSettings()
        self._quick = pin.ADMMSolverSettings()
        for settings in (self._admm, self._pgs, self._quick):
            quick = settings is self._quick
            bound = max(tolerance, QUICK_TOLERANCE) if quick else tolerance
            settings.absolute_feasibility_tol = bound
            settings.absolute_complementarity_tol = bound
            settings.relative_feasibility_tol = 0.0
            settings.relative_complementarity_tol = 0.0
            settings.max_iterations = QUICK_ITERATIONS if quick else MAX_ITERATIONS
        self._quick.anderson_capacity = QUICK_MEMORY
        self._cones: dict[tuple[float, ...], tuple[Any, Any]] = {}
        self.complementarity = 0.0
        """Residual of the last solution, N s times m/s."""

    def solve(
        self, delassus: Array, g: Array, guess: Array, friction: Array, quick: bool = False
    ) -> Array:
        """Impulses (3 n,) of points with coefficients ``friction`` (n,), z along the normal.

        ``complementarity`` tells how exact they are.
        """
        solver, result = pin.ADMMConstraintSolver(g.size), pin.ADMMSolverResult()
        settings = self._quick if quick else self._admm
        impulses, error = self._run(solver, result, settings, delassus, g, guess, friction)
        if error > ACCEPTED_COMPLEMENTARITY and not quick:
            solver, result = pin.PGSConstraintSolver(g.size), pin.PGSSolverResult()
            other, other_error = self._run(
                solver, result, self._pgs, delassus, g, impulses, friction
            )
            if other_error < error:
                impulses, error = other, other_error
        self.complementarity = error
        return impulses

    def _run(
        self,
        solver: Any,
        result: Any,
        settings: Any,
        delassus: Array,
        g: Array,
        guess: Array,
        mu: Array,
    ) -> tuple[Array, float]:
        models, datas = self._cone(tuple(mu.tolist()))
        result.setConstraintImpulseGuess(guess)
        # Pinocchio 4.1 leaves 32 bytes behind for each such operator, 4 MB in an hour of pushes;
        # the sparse one leaves none, but takes twice as long.
        solver.solve(pin.DelassusOperatorDense(delassus), g, models, datas, settings, result)
        impulses = np.array(result.retrieveConstraintImpulses())
        return impulses, coulomb_complementarity(delassus, g, impulses, mu)

    def _cone(self, mu: tuple[float, ...]) -> tuple[Any, Any]:
        """The cones of points with these coefficients, in the form that the solvers want."""
        if mu not in self._cones:
            if len(self._cones) >= MOST_KEPT:
                self._cones.clear()
            models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
            for friction in mu:
                point = pin.PointContactConstraintModel(self._model, 1)
                point.setFriction(friction)
                models.append(pin.ConstraintModel(point))
                datas.append(pin.ConstraintData(point.createData()))
            self._cones[mu] = (models, datas)
        return self._cones[mu]


def coulomb_complementarity(
    delassus: Array, g: Array, impulses: Array, friction: float | Array
) -> float:
    """Largest |lambda . (c + mu |c_T| e_n)| over the contacts, N s times m/s."""
    velocity = (delassus @ impulses + g).reshape(-1, 3)
    slip = np.hypot(velocity[:, 0], velocity[:, 1])
    products = (impulses.reshape(-1, 3) * velocity).sum(axis=1)
    return float(np.abs(products + friction * slip * impulses[2::3]).max())
