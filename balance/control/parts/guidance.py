"""What a sequence of stances asks of a law in one control step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.control.parts.frame_path import FrameTarget
from balance.control.parts.setpoints import Desired

Array = NDArray[np.float64]


def limb_task(surface: str) -> str:
    """Name of the task that leads the limb with a surface to its next contact."""
    return f"moving {surface}"


@dataclass(frozen=True, slots=True)
class Guidance:
    """Where the robot is to be now, and what its contacts may bear.

    ``joints``, ``rates`` and ``accelerations`` (nj,) are those of the posture; ``limbs``
    says by their task's name where the frames of moving limbs shall be; ``least`` and ``most`` (k,)
    bound the normal forces, N; ``wrenches`` (k, 6) are those of the static postures.
    """

    desired: Desired
    joints: Array
    rates: Array
    accelerations: Array
    limbs: Mapping[str, FrameTarget]
    least: Array
    most: Array
    wrenches: Array

    def at(self, time: float) -> Desired:
        """The setpoint, as that of a path: it is for this step alone."""
        return self.desired
