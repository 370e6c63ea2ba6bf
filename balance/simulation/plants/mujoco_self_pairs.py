"""A MuJoCo model without the pairs of a robot's own bodies, for steps in which none is near.

MuJoCo looks at every pair that it is told of in every step, at a thousand of them for as long as at
all the rest of standing.  Pairs are no part of its data, so that two models that differ in nothing
else can step the same data.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.shapes.proximity import Proximity

Array = NDArray[np.float64]

FEWEST_PAIRS = 500  # to watch fewer takes longer than MuJoCo's looks at them: toro has 349, g1 579


class SelfPairs:
    """Chooses between the whole model and one without the robot's own pairs."""

    def __init__(self, whole: mujoco.MjModel, without: mujoco.MjModel, robot: Robot) -> None:
        """The pairs of ``without`` are the first ones of ``whole``, which is set up."""
        n = without.npair
        assert np.array_equal(without.pair_geom1, whole.pair_geom1[:n])
        assert np.array_equal(without.pair_geom2, whole.pair_geom2[:n])
        self._whole, self._without = whole, without
        self._proximity, self._data = Proximity(robot), robot.model.createData()
        without.pair_solref[:], without.pair_margin[:] = (
            whole.pair_solref[:n],
            whole.pair_margin[:n],
        )
        without.eq_solref[:] = whole.eq_solref
        # What may change between steps, of the one and of the other.
        self._changing = [
            (without.dof_damping, whole.dof_damping),
            (without.pair_friction, whole.pair_friction[:n]),
            (without.eq_data, whole.eq_data),
        ]

    def model(self, q: Array) -> mujoco.MjModel:
        """The model to step with from ``q``."""
        if self._proximity.touches_itself(q, self._data):
            return self._whole
        for copy, original in self._changing:
            copy[:] = original
        return self._without
