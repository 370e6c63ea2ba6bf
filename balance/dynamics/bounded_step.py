"""One step of a constrained Gauss-Newton iteration within bounds, by least squares alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.dynamics.checks import Array

Mask = NDArray[np.bool_]

RANK_TOLERANCE = 1e-9  # of singular values, relative to the largest
DAMPING = 1e-3  # Levenberg-Marquardt damping per squared residual


def nearest_bounded_step(
    J: Array, residual: Array, wish: Array, weights: Array, free: Mask, low: Array, high: Array
) -> Array:
    """Minimise |W^(1/2) (x - wish)|^2 subject to J x = -residual, low <= x <= high.

    ``W = diag(weights)``, and x is zero where ``free`` is false.

    A coordinate that would leave its range is put on the bound, and the others are solved for
    again.  That is not a full active-set method (a coordinate once on its bound stays there for
    this step), but the next step of the iteration starts with all of them free again.
    """
    step = np.zeros(J.shape[1])
    moving = free.copy()
    scale = 1.0 / np.sqrt(weights)
    while True:
        gap = -residual - J @ np.where(moving, 0.0, step)
        x = _nearest_solution(J[:, moving] * scale[moving], gap, wish[moving] / scale[moving])
        step[moving] = scale[moving] * x
        outside = moving & ((step < low) | (step > high))
        if not outside.any():
            return step
        step[outside] = np.clip(step, low, high)[outside]
        moving &= ~outside


def _nearest_solution(J: Array, gap: Array, wish: Array) -> Array:
    """The solution of J x = gap nearest to ``wish``: damped along J, exact in its null space.

    The damping vanishes with the gap, so the iteration converges quadratically.  Directions in
    which one condition depends on others are dropped.
    """
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    keep = s > RANK_TOLERANCE * s.max(initial=0.0)
    U, s, Vt = U[:, keep], s[keep], Vt[keep]
    damping = DAMPING * float(gap @ gap)
    return wish + Vt.T @ (s / (s**2 + damping) * (U.T @ gap) - Vt @ wish)
