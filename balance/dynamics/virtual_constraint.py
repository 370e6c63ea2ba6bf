"""Connection and curvature left by virtual constraints.

Saccon2017 VI.  A virtual constraint makes the joints functions s(theta) of k variables, as gaits
with a phase variable do.  The connection per theta is a ds/dtheta, and its curvature is that of
the mechanism on the surface,

    B_ab = sum_ij B_ij ds_i/dtheta_a ds_j/dtheta_b.

It vanishes for k = 1, whatever the mechanism: then the centroidal frame is a function of theta.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array
from balance.dynamics.connection import check_one_dof_joints, mechanical_connection
from balance.dynamics.curvature import curvature
from balance.errors import InputError


def constrained_connection(model: pin.Model, s: ArrayLike, slope: ArrayLike) -> Array:
    """(6, k) connection a ds/dtheta under a virtual constraint with the ``slope`` (nj, k)."""
    slope = _check_slope(model, slope)
    connection: Array = mechanical_connection(model, s).connection @ slope
    return connection


def constrained_curvature(model: pin.Model, s: ArrayLike, slope: ArrayLike) -> Array:
    """(k, k, 6) curvature that a virtual constraint with the ``slope`` ds/dtheta (nj, k) leaves."""
    slope = _check_slope(model, slope)
    B: Array = np.einsum("ijk,ia,jb->abk", curvature(model, s), slope, slope)
    return B


def _check_slope(model: pin.Model, slope: ArrayLike) -> Array:
    """``slope`` as a matrix (nj, k) of finite numbers, or a clear error."""
    check_one_dof_joints(model)
    rows = np.asarray(slope, dtype=float)
    if rows.ndim != 2 or rows.shape[0] != model.nv - 6 or not np.isfinite(rows).all():
        raise InputError(f"slope has shape {rows.shape}; expected finite ({model.nv - 6}, k)")
    return rows
