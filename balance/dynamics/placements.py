"""The placements of all joints as one array, without copying them out of Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

Array = NDArray[np.float64]

_NUMBER = np.dtype(float).itemsize


def joint_placements(data: pin.Data) -> Array:
    """A view (njoints, 4, 3) of ``data.oMi``, which lasts as long as ``data`` does.

    Rows 0 to 2 of a block are the axes of a joint's frame and row 3 its origin, in world
    coordinates.  Hence ``[*p, 1] @ view[j]`` is where point p of joint j's frame is in the world,
    ``[*d, 0] @ view[j]`` is where direction d points, and one product places many of them.
    """
    first, second = data.oMi[0], data.oMi[1]
    start = _address(first.rotation)
    # Pinocchio keeps a placement as the columns of its rotation, then its translation.
    if _address(first.translation) - start != 9 * _NUMBER:
        raise RuntimeError("this build of Pinocchio stores placements in an unknown order")
    stride = _address(second.rotation) - start
    shape = (len(data.oMi), 4, 3)
    return as_strided(first.rotation.T, shape, (stride, 3 * _NUMBER, _NUMBER))


def spatial_vectors(motions: pin.StdVec_Motion) -> Array:
    """A view (n, 6) of velocities or accelerations of all joints, such as ``data.v``.

    Linear parts come first.  The view lasts as long as the data that they belong to.
    """
    first, second = motions[0].linear, motions[1].linear
    if _address(motions[0].angular) - _address(first) != 3 * _NUMBER:
        raise RuntimeError("this build of Pinocchio stores velocities in an unknown order")
    stride = _address(second) - _address(first)
    return as_strided(first, (len(motions), 6), (stride, _NUMBER))


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def moved_by(model: pin.Model, joint: int) -> Array:
    """One for each coordinate (nv,) that moves ``joint``, zero for the others."""
    moved = np.zeros(model.nv)
    for index in list(model.supports[joint])[1:]:
        first = model.joints[index].idx_v
        moved[first : first + model.joints[index].nv] = 1.0
    return moved


def frame_points(placement: pin.SE3, points: Array) -> Array:
    """Rows (4 + n, 4) that place a frame and points (n, 3) of it by one product.

    ``rows @ joint_placements(data)[j]``, with ``placement`` that of the frame in joint j's, has the
    frame's axes in its first three rows, its origin in the fourth and the points in the others.
    """
    rows = np.zeros((4 + len(points), 4))
    rows[:3, :3] = placement.rotation.T
    rows[3:, :3] = np.concatenate([np.zeros((1, 3)), points]) @ placement.rotation.T
    rows[3:, :3] += placement.translation
    rows[3:, 3] = 1.0
    return rows
