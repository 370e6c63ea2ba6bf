"""Stand-in for the robot's own numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from balance.control.capture.flywheel import Flywheel
from balance.control.capture.planner import Region, Regions
from balance.robots import Robot
from balance.robots.support_polygon import SupportPolygon

Array = NDArray[np.float64]
SIDES = 8
TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
MOMENT = 0.1


def stand_in(robot: Robot, polygon: SupportPolygon, wheel: Flywheel, omega: float, z: float, lean_scale=1.0, rate_scale=1.0, moment=MOMENT) -> Regions:
    unit = robot.mass * z**2
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    lean, rate = [], []
    for n in normals:
        axis = np.append(TURN.T @ n, 0.0)
        most = axis @ wheel.B @ wheel.allocate(1e3 * axis)
        lean.append(lean_scale * most / unit)
        rate.append(rate_scale * 2.0 * (axis @ wheel.B[:, :3] @ axis) / unit / omega)
    e = polygon._edges
    return Regions(
        Region(e[:, :2].copy(), -e[:, 2] / z),
        Region(normals, np.full(SIDES, moment)),
        Region(normals, np.array(lean)),
        Region(normals, np.array(rate)),
    )
