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
    sizes: StepSizes, foot: int, place: Array, coms: tuple[Array, ...], hips: Array, turned: float
) -> float:
    """Height (m) in the world of a CoM that is to go over ``coms`` (2,) with a foot at ``place``.

    ``hips`` (2, 3) are where the hips are from the CoM, ``turned`` how far the robot has turned
    from its nominal posture.
    """
    return height_within(
        (STRETCH * sizes.leg) ** 2, sizes.ankles, foot, place, coms, hips,
        math.cos(turned), math.sin(turned),
    )  # fmt: skip


@compiled
def height_within(
    square: float,
    ankles: Array,
    foot: int,
    place: Array,
    coms: tuple[Array, ...],
    hips: Array,
    c: float,
    s: float,
) -> float:
    """The same for a leg that reaches as far as the root of ``square``; (c, s) is how it faces."""
    ankle, hip, highest = ankles[foot], hips[foot], math.inf
    for com in coms:
        x = com[0] - place[0] + hip[0] - c * ankle[0] + s * ankle[1]
        y = com[1] - place[1] + hip[1] - s * ankle[0] - c * ankle[1]
        reach = math.sqrt(max(square - x * x - y * y, 0.0))
        highest = min(highest, reach + place[2] + ankle[2] - hip[2])
    return highest


def lowest_com(sizes: StepSizes, ground: float) -> float:
    """To what height (m) the CoM may sink over ``ground``."""
    return (1.0 - DEEPEST) * sizes.height_over + ground


def legs_reach(sizes: StepSizes, seen: Seen, turned: float) -> bool:
    """Whether both legs can bear while the CoM goes to its capture point."""
    low = lowest_com(sizes, float(seen.middle[2]))
    return all(
        highest_com(sizes, foot, seen.places[foot], (seen.xi,), seen.hips, turned) >= low
        for foot in (0, 1)
    )
