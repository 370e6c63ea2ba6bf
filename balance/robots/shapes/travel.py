"""How far the shapes of a robot can have moved between two configurations, at most.

A rotation by an angle moves a point by at most the angle times its distance from the axis.  Taking
joints from one configuration to the other one after the other, no point moves further than the sum,
and no chain of links is longer than when it is stretched out: so the bound needs no kinematics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots.shapes.shape import Shape

Array = NDArray[np.float64]


def travel_weights(model: pin.Model, shapes: Sequence[Shape]) -> Array:
    """Rows (n, nq) whose product with ``|q1 - q0|`` bounds the way of any point of a shape, m.

    The first three columns are the base's position, the next four its quaternion: a turn of it by
    an angle a changes that by 2 sin(a / 4), and moves a point by 2 sin(a / 2) of its distance.
    """
    weights = np.zeros((len(shapes), model.nq))
    weights[:, :3] = 1.0
    slides = [joint > 1 and _slides(model, joint) for joint in range(model.njoints)]
    for row, shape in zip(weights, shapes, strict=True):
        centre, radius = shape.ball
        length, joint = float(np.linalg.norm(centre)) + radius, shape.joint
        while joint > 1:
            index = model.joints[joint].idx_q
            row[index] = 1.0 if slides[joint] else length
            length += float(np.linalg.norm(model.jointPlacements[joint].translation))
            if slides[joint]:
                limits = model.lowerPositionLimit[index], model.upperPositionLimit[index]
                length += float(np.abs(limits).max())
            joint = model.parents[joint]
        row[3:7] = 2.0 * length
    return weights


def _slides(model: pin.Model, joint: int) -> bool:
    """Whether a joint is prismatic."""
    data = model.joints[joint].createData()
    model.joints[joint].calc(data, np.zeros(1))
    return not np.array(data.S).ravel()[3:].any()
