"""The placements of all joints as one array, without copying them one by one."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

Array = NDArray[np.float64]


class JointPlacements:
    """Where the joints of a model are, as ``data.oMi`` says at the moment.

    Pinocchio keeps the placements one after another.  If this is seen to be so, they are looked at
    where they are: copying thirty of them takes longer than most of what is done with them.
    """

    def __init__(self, data: pin.Data) -> None:
        self._data = data  # owns what is looked at
        self._live: Array | None = None
        first = data.oMi[0].rotation
        size = data.oMi[1].rotation.ctypes.data - first.ctypes.data
        view = as_strided(first, (len(data.oMi), 4, 3), (size, 24, 8), writeable=False)
        if all(
            rows[:3].ctypes.data == placement.rotation.ctypes.data
            and placement.rotation.strides == (8, 24)
            and rows[3].ctypes.data == placement.translation.ctypes.data
            for rows, placement in zip(view, data.oMi, strict=True)
        ):
            self._live = view

    def now(self) -> Array:
        """Array (n, 4, 3): the axes of each joint in rows, then its origin; world axes.

        It may change with the next kinematics.
        """
        if self._live is not None:
            return self._live
        return np.array([placement.homogeneous[:3].T for placement in self._data.oMi])
