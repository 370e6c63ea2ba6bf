"""The legs of a robot: which joints are hip, knee and ankle, and when the knee is straight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.robots.capability.body import contact_joints
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]

SHORTEST_LEG = 3  # joints between the base and a foot; with fewer nothing is a knee


@dataclass(frozen=True)
class Leg:
    """Joints of the model between which thigh and shank lie, and the knee's angle when straight.

    ``hip`` and ``ankle`` (3,) are their places in the nominal posture, ``length`` is thigh plus
    shank, m.  ``bent`` is the sign that the knee's angle has, from ``straight`` (rad), in the
    nominal posture.
    """

    knee: int
    hip: Array
    ankle: Array
    length: float
    straight: float
    bent: float


def legs(robot: Robot, feet: Sequence[ContactSurface]) -> list[Leg]:
    """The leg of each foot that has one."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q_nominal)
    found = []
    for foot in feet:
        joints = contact_joints(robot, [foot]) + 2
        if len(joints) >= SHORTEST_LEG:
            found.append(_leg(robot, data, joints))
    return found


def _leg(robot: Robot, data: pin.Data, joints: NDArray[np.intp]) -> Leg:
    places = np.array([data.oMi[int(joint)].translation for joint in joints])
    gaps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    # Thigh and shank are the two longest of a leg's links.
    first, second = sorted(np.argsort(gaps)[-2:])
    knee = int(joints[first + 1])
    joint = robot.model.joints[knee]
    hip, ankle = places[first], places[second + 1]
    column = pin.computeJointJacobians(robot.model, data, robot.q_nominal)[3:, joint.idx_v]
    # The angle about the knee's axis from the thigh, prolonged, to the shank.
    thigh = _level(places[first + 1] - hip, column)
    shank = _level(ankle - places[second], column)
    bend = float(np.arctan2(column @ np.cross(thigh, shank), thigh @ shank))
    angle = float(robot.q_nominal[joint.idx_q])
    length = float(gaps[first] + gaps[second])
    return Leg(knee, hip, ankle, length, angle - bend, float(np.sign(bend)) or 1.0)


def _level(vector: Array, axis: Array) -> Array:
    """The part of a vector that is perpendicular to a unit ``axis``."""
    return np.asarray(vector - (vector @ axis) * axis)


def bent_knees(robot: Robot, feet: Sequence[ContactSurface]) -> tuple[Array, Array]:
    """Lower and upper ends (nj,) of all joints' ranges, those of knees cut where they are straight.

    A knee that is beyond in the nominal posture may stay there.
    """
    lower = np.array(robot.model.lowerPositionLimit[7:])
    upper = np.array(robot.model.upperPositionLimit[7:])
    for leg in legs(robot, feet):
        index = robot.model.joints[leg.knee].idx_q - 7
        now = robot.q_nominal[7 + index]
        if leg.bent > 0.0:
            lower[index] = max(lower[index], min(leg.straight, now))
        else:
            upper[index] = min(upper[index], max(leg.straight, now))
    return lower, upper
