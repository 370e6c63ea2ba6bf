"""How high the CoM can be so that no leg is stretched, now and where the next foot lands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.gait import Gait, Mode
from balance.control.stepping.legs import highest_com, lowest_com
from balance.control.stepping.planner import Pendulum
from balance.control.stepping.seen import Seen

Array = NDArray[np.float64]
Leg = tuple[int, Array, tuple[Array, ...]]

AHEAD_S = 0.06  # from now, at which legs that bear must still reach


def com_height(gait: Gait, seen: Seen, heading: float) -> float:
    """Height (m) in the world: the nominal one over the ground, or lower where legs need it.

    ``heading`` is how far the robot has turned from its nominal posture.
    """
    sizes = gait.sizes
    ground, legs = _legs(gait, seen)
    heights = [highest_com(sizes, *leg, seen.hips, heading) for leg in legs]
    highest = min([sizes.height_over + ground, *heights])
    return max(highest, lowest_com(sizes, ground))


def _legs(gait: Gait, seen: Seen) -> tuple[float, list[Leg]]:
    """Height of the ground, and of each leg that counts number, foot and the CoM's places.

    A foot that bears counts now and a little later, one that steps where it is to land, with the
    CoM where the pendulum will have come to.
    """
    com, ahead = seen.com, seen.com + AHEAD_S * seen.velocity
    places = seen.places
    if not gait.stepping:
        middle = seen.middle
        return float(middle[2]), [(f, places[f], (com, ahead, middle)) for f in (0, 1)]
    stance, swing = gait.stance, gait.swing
    if gait.mode is Mode.LOAD:
        stepping: Leg = (swing, places[swing], (com, ahead))
    else:
        plan, landing = gait.aim
        left = max(plan.time, 0.0)
        if gait.mode is Mode.UNLOAD:
            left += max(gait.begin + gait.unload_s - seen.time, 0.0)
        then = Pendulum(com[:2], seen.xi).after(left, plan.cop, gait.sizes.omega)
        stepping = (swing, landing, (then.com,))
    return float(places[stance][2]), [stepping, (stance, places[stance], (com, ahead))]
