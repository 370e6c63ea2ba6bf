"""The step that brings feet back to how they stand nominally: which foot, and where to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.home import stands_closed
from balance.control.stepping.legs import highest_com, lowest_com
from balance.control.stepping.seen import Eyes, Seen
from balance.control.stepping.sizes import StepSizes

Array = NDArray[np.float64]


def nominal_place(sizes: StepSizes, eyes: Eyes, seen: Seen, foot: int) -> Array:
    """Where a ``foot`` would stand nominally (2,), the other one where it is."""
    heading = eyes.heading(seen, 1 - foot)
    c, s = np.cos(heading), np.sin(heading)
    way = sizes.nominal[foot] - sizes.nominal[1 - foot]
    return seen.place(1 - foot) + np.array([c * way[0] - s * way[1], s * way[0] + c * way[1]])


def foot_to_close(sizes: StepSizes, eyes: Eyes, seen: Seen) -> int | None:
    """The foot that is to be brought back; None if there is no need, or no leg reaches.

    Of two that could it is the one from which the CoM is farther: the other bears sooner.
    """
    if stands_closed(seen, eyes):
        return None
    lowest, turned = lowest_com(sizes, float(seen.middle[2])), eyes.turned(seen)
    able = []
    for foot in (0, 1):
        over = seen.places[1 - foot]
        reached = highest_com(sizes, foot, seen.places[foot], (over,), seen.hips, turned)
        if reached >= lowest:
            able.append((-float(np.linalg.norm(seen.xi - seen.place(foot))), foot))
    return min(able)[1] if able else None
