"""How high the CoM can be so that no leg is stretched, now and where the next foot lands."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from balance.control.stepping.gait import Gait, Mode
from balance.control.stepping.seen import Seen
from balance.control.stepping.sizes import DEEPEST, STRETCH

Array = NDArray[np.float64]

AHEAD_S = 0.06  # from now, at which legs that bear must still reach


def com_height(gait: Gait, seen: Seen, heading: float) -> float:
    """Height (m) in the world: the nominal one over the ground, or lower where legs need it.

    ``heading`` is how far the robot has turned from its nominal posture.  Hips are where they are
    in that posture, seen from the CoM.
    """
    sizes = gait.sizes
    c, s = math.cos(heading), math.sin(heading)
    ground, legs = _legs(gait, seen)
    highest = sizes.height_over + ground
    for foot, place, com in legs:
        hip, ankle = sizes.hips[foot], sizes.ankles[foot]
        x, y = hip[0] - ankle[0], hip[1] - ankle[1]
        x, y = com[0] - place[0] + c * x - s * y, com[1] - place[1] + s * x + c * y
        reach = math.sqrt(max((STRETCH * sizes.leg) ** 2 - x * x - y * y, 0.0))
        highest = min(highest, reach + place[2] + ankle[2] - hip[2])
    return max(highest, (1.0 - DEEPEST) * sizes.height_over + ground)


def _legs(gait: Gait, seen: Seen) -> tuple[float, list[tuple[int, Array, Array]]]:
    """Height of the ground, and of each leg that counts its number, its foot, and where the CoM is.

    A foot that bears counts now and a little later, one on its way where it is to land.
    """
    com, ahead = seen.com, seen.com + AHEAD_S * seen.velocity
    places = [pose.translation for pose in seen.poses]
    if not gait.stepping:
        middle = np.append(seen.middle[:2], 0.0)
        legs = [(f, places[f], where) for f in (0, 1) for where in (com, ahead, middle)]
        return float(seen.middle[2]), legs
    stance, legs = gait.stance, []
    if gait.mode is Mode.LOAD:
        legs = [(gait.swing, places[gait.swing], where) for where in (com, ahead)]
    elif gait.mode is Mode.SWING:
        assert gait.plan is not None and gait.ground is not None
        landing = gait.ground.above(gait.plan.place)
        legs = [(gait.swing, landing, seen.com + max(gait.plan.time, 0.0) * seen.velocity)]
    legs += [(stance, places[stance], where) for where in (com, ahead)]
    return float(places[stance][2]), legs
