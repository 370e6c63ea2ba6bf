"""Forward dynamics of a robot under a law's answer: the oracle of laws that plan accelerations."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from law_samples import contact_jacobian
from numpy.typing import NDArray

from balance.control.parts.output import ControlOutput
from balance.robots import Robot

Array = NDArray[np.float64]


def forward(robot: Robot, q: Array, v: Array, output: ControlOutput) -> Array:
    """dv/dt under torques and contact wrenches, by the articulated-body algorithm."""
    force = contact_jacobian(robot, q).T @ output.wrenches.ravel()
    force[6:] += output.torques
    return np.array(pin.aba(robot.model, robot.model.createData(), q, v, force))


def contact_accelerations(robot: Robot, q: Array, v: Array, dv: Array) -> Array:
    """Classical accelerations of all contact surfaces (6 k,), in their own axes."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v, dv)
    parts = []
    for sole in robot.soles:
        frame = robot.model.frames[sole.frame_id]
        placement = frame.placement * sole.placement
        parts.append(
            pin.getFrameClassicalAcceleration(
                robot.model, data, frame.parentJoint, placement, pin.LOCAL
            ).vector
        )
    return np.concatenate(parts)
