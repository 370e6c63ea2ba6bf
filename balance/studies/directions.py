"""Directions of pushes: unit vectors in world axes, by azimuth and elevation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from balance.analysis.limits.recovery import recovery_limit
from balance.config import ExperimentConfig
from balance.config.studies import DirectionsConfig
from balance.errors import BalanceError
from balance.recordings.metrics import ankle_limit
from balance.robots import Robot

DIGITS = 15  # a push along y shall have no x of 6e-17


@dataclass(frozen=True)
class Heading:
    """A unit vector in world axes, and its angles in degrees."""

    vector: tuple[float, float, float]
    azimuth_deg: float
    elevation_deg: float

    @property
    def horizontal(self) -> float:
        """The share of an impulse along this direction that is horizontal."""
        return math.hypot(self.vector[0], self.vector[1])


def ankle_impulse(robot: Robot, heading: Heading) -> float:
    """The impulse (N s) along a direction whose horizontal part is the ankle limit."""
    return ankle_limit(robot, np.array(heading.vector)) / heading.horizontal


def recovery_impulse(
    robot: Robot, config: ExperimentConfig, heading: Heading, steps: int = 0
) -> float | None:
    """The impulse (N s) along a direction whose horizontal part is the recovery limit.

    It is that of the experiment's first push, with its height and duration, on its ground.  None
    where the model has no limit, as for a robot that holds on to a table.
    """
    push = config.pushes[0]
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    body = robot.push_body if push.body is None else push.body
    place = data.oMf[robot.model.getFrameId(body)].act(np.array(push.point_m))
    try:
        found = recovery_limit(
            robot,
            np.array(heading.vector),
            steps,
            height_m=float(place[2]),
            duration_s=float(getattr(push, "duration_s", 0.0)),
            friction=config.plant.friction,
        )
    except BalanceError:
        return None
    return found.impulse_Ns / heading.horizontal


def headings(directions: DirectionsConfig) -> list[Heading]:
    """The directions that a study asks for, elevation by elevation."""
    if directions.vectors is not None:
        return [from_vector(vector) for vector in directions.vectors]
    if directions.count is not None:
        azimuths = [360.0 * i / directions.count for i in range(directions.count)]
    else:
        azimuths = list(directions.azimuth_deg or ())
    return [from_angles(a, e) for e in directions.elevation_deg for a in azimuths]


def from_angles(azimuth_deg: float, elevation_deg: float) -> Heading:
    """The direction of an azimuth and an elevation."""
    a, e = math.radians(azimuth_deg), math.radians(elevation_deg)
    x, y, z = math.cos(a) * math.cos(e), math.sin(a) * math.cos(e), math.sin(e)
    # Adding zero turns -0.0 into 0.0.
    vector = (round(x, DIGITS) + 0.0, round(y, DIGITS) + 0.0, round(z, DIGITS) + 0.0)
    return Heading(vector, azimuth_deg, elevation_deg)


def from_vector(vector: tuple[float, float, float]) -> Heading:
    """The direction of a vector of any length."""
    length = math.hypot(*vector)
    x, y, z = (component / length for component in vector)
    azimuth = math.degrees(math.atan2(y, x)) % 360.0
    return Heading((x, y, z), azimuth, math.degrees(math.asin(max(-1.0, min(1.0, z)))))
