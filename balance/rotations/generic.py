"""Angular-velocity Jacobian of any chart from its partial derivatives (Bouyarmane2012 II)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from balance.rotations.chart import Chart
from balance.rotations.so3 import Array


def angular_velocity_jacobian(chart: Chart, chi: ArrayLike) -> Array:
    """J (..., 3, d) with omega = J dchi/dt in the fixed axes; Bouyarmane2012 (10).

    J = R_3 R_2^T dR_1/dchi + R_2 R_1^T dR_3/dchi + R_1 R_3^T dR_2/dchi over the columns of R.  It
    needs nothing but R(chi) and its partial derivatives.  It equals ``chart.rate_map`` for charts
    of three coordinates and for quaternions.  With other constrained charts the two agree on every
    rate that the constraint allows, which are the only ones that have an angular velocity; beyond
    those (10) depends on how R is continued.
    """
    R = chart.to_matrix(chi)
    return _triple(R, R, chart.partials(chi))


def angular_velocity_jacobian_rate(chart: Chart, chi: ArrayLike, chi_dot: ArrayLike) -> Array:
    """dJ/dt (..., 3, d): Bouyarmane2012 (10) is trilinear, so the product rule has three terms."""
    R = chart.to_matrix(chi)
    dR = chart.partials(chi)
    R_dot = np.einsum("...ijk,...k->...ij", dR, np.asarray(chi_dot, dtype=float))
    dR_dot = chart.partials_rate(chi, chi_dot)
    return _triple(R_dot, R, dR) + _triple(R, R_dot, dR) + _triple(R, R, dR_dot)


def _triple(X: Array, Y: Array, Z: Array) -> Array:
    """X_3 Y_2^T Z_1 + X_2 Y_1^T Z_3 + X_1 Y_3^T Z_2 over columns; Z is (..., row, column, d)."""
    X_shifted = X[..., :, [2, 0, 1]]
    Y_shifted = Y[..., :, [1, 2, 0]]
    return np.einsum("...ic,...jc,...jcd->...id", X_shifted, Y_shifted, Z)
