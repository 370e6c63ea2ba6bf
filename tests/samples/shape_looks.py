"""Postures to look at shapes in, and which of their pairs are measured then."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot, load_robot
from balance.robots.shapes.ground_points import Numbers
from balance.robots.shapes.proximity import Near, Proximity

Array = NDArray[np.float64]


@cache
def robot_of(name: str) -> Robot:
    return load_robot(name)


def random_posture(robot: Robot, rng: np.random.Generator, spread: float) -> Array:
    """The nominal posture with joints moved by up to ``spread`` of their range, base anywhere."""
    q = robot.q_nominal.copy()
    low, high = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    q[7:] = np.clip(q[7:] + spread * rng.uniform(-1.0, 1.0, len(low)) * (high - low), low, high)
    q[:3] = rng.uniform(-1.0, 1.0, 3)
    q[3:7] = pin.Quaternion(rng.standard_normal(4)).normalized().coeffs()
    return q


def placed(robot: Robot, q: Array) -> pin.Data:
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    return data


def measured_pairs(watching: Proximity) -> list[int]:
    """A list that grows by the number of every pair that ``watching`` measures from now on."""
    measured: list[int] = []
    exact, near = watching._exact, watching._near

    def counted_exact(pairs: Sequence[int] | Numbers, gaps: Array) -> Array:
        measured.extend(map(int, pairs))
        return exact(pairs, gaps)

    def counted_near(pairs: Numbers, data: pin.Data) -> tuple[list[Near], list[float]]:
        measured.extend(pairs.tolist())
        return near(pairs, data)

    watching._exact = counted_exact  # type: ignore[method-assign]
    watching._near = counted_near  # type: ignore[method-assign]
    return measured
