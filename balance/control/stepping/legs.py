"""How high the CoM can be over a foot whose leg is not to be stretched."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.seen import Seen
from balance.control.stepping.sizes import DEEPEST, STRETCH, StepSizes
from balance.dynamics.compiled import compiled

Array = NDArray[np.float64]


def highest_com(
    sizes: StepSizes, foot: int, place: Array, com: Array, hip: Array, turned: float
) -> float:
    """Height (m) in the world of a CoM over ``com`` (2,) with a foot at ``place`` (3,).

    ``hip`` (3,) is where the hip is from the CoM, ``turned`` how far the robot has turned from its
    nominal posture.
    """
    square = (STRETCH * sizes.leg) ** 2
    return height_within(
        square, sizes.ankles[foot], place, com, hip, math.cos(turned), math.sin(turned)
    )


@compiled
def height_within(
    square: float, ankle: Array, place: Array, com: Array, hip: Array, c: float, s: float
) -> float:
    """The same for a leg that reaches as far as the root of ``square``; (c, s) is how it faces."""
    x = com[0] - place[0] + hip[0] - c * ankle[0] + s * ankle[1]
    y = com[1] - place[1] + hip[1] - s * ankle[0] - c * ankle[1]
    reach = math.sqrt(max(square - x * x - y * y, 0.0))
    return reach + place[2] + ankle[2] - hip[2]


def lowest_com(sizes: StepSizes, ground: float) -> float:
    """To what height (m) the CoM may sink over ``ground``."""
    return (1.0 - DEEPEST) * sizes.height_over + ground


def legs_reach(sizes: StepSizes, seen: Seen, turned: float) -> bool:
    """Whether both legs can bear while the CoM goes to its capture point."""
    low = lowest_com(sizes, float(seen.middle[2]))
    return all(
        highest_com(sizes, foot, seen.places[foot], seen.xi, seen.hips[foot], turned) >= low
        for foot in (0, 1)
    )
