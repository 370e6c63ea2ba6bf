"""How high the CoM can be over a foot whose leg is not to be stretched."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.seen import Seen
from balance.control.stepping.sizes import DEEPEST, STRETCH, StepSizes

Array = NDArray[np.float64]


def highest_com(sizes: StepSizes, foot: int, place: Array, com: Array, turned: float) -> float:
    """Height (m) in the world of a CoM over ``com`` (2,) with a foot at ``place`` (3,).

    ``turned`` is how far the robot has turned from its nominal posture.  Hips are where they are in
    that posture, seen from the CoM.
    """
    c, s = math.cos(turned), math.sin(turned)
    hip, ankle = sizes.hips[foot], sizes.ankles[foot]
    x, y = hip[0] - ankle[0], hip[1] - ankle[1]
    x, y = com[0] - place[0] + c * x - s * y, com[1] - place[1] + s * x + c * y
    reach = math.sqrt(max((STRETCH * sizes.leg) ** 2 - x * x - y * y, 0.0))
    return float(reach + place[2] + ankle[2] - hip[2])


def lowest_com(sizes: StepSizes, ground: float) -> float:
    """To what height (m) the CoM may sink over ``ground``."""
    return (1.0 - DEEPEST) * sizes.height_over + ground


def legs_reach(sizes: StepSizes, seen: Seen, turned: float) -> bool:
    """Whether both legs can bear while the CoM goes to its capture point."""
    low = lowest_com(sizes, float(seen.middle[2]))
    return all(
        highest_com(sizes, foot, seen.poses[foot].translation, seen.xi, turned) >= low
        for foot in (0, 1)
    )
