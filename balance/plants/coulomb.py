"""Pinocchio's frictional contact solvers on a dense Delassus matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_ITERATIONS = 2000
ACCEPTED_COMPLEMENTARITY = 1e-8  # N s times m/s


class CoulombSolver:
    """Points with equal friction: ADMM, warm-started; projected Gauss-Seidel where that stalls."""

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
        """Residual of the last solution, N s times m/s."""

    def solve(self, delassus: Array, g: Array, guess: Array) -> Array:
        """Impulses (3 n,), z along the normal; ``complementarity`` tells how exact they are."""
        solver, result = pin.ADMMConstraintSolver(g.size), pin.ADMMSolverResult()
        impulses, error = self._run(solver, result, self._admm, delassus, g, guess)
        if error > ACCEPTED_COMPLEMENTARITY:
            solver, result = pin.PGSConstraintSolver(g.size), pin.PGSSolverResult()
            other, other_error = self._run(solver, result, self._pgs, delassus, g, impulses)
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
