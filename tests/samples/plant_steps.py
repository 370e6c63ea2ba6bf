"""What a step of a plant did, from the states before and after it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse, Plant

Array = NDArray[np.float64]


def step_velocity(plant: Plant, robot: Robot, q: Array) -> Array:
    """Velocity (nv,) with which the last step went from ``q`` to where the plant is."""
    return np.asarray(pin.difference(robot.model, q, plant.q) / plant.dt)


def momentum(robot: Robot, q: Array, v: Array) -> Array:
    """Linear momentum and angular momentum about the CoM (6,), by Pinocchio's own algorithm."""
    h = pin.computeCentroidalMomentum(robot.model, robot.model.createData(), q, v)
    return np.array(h.vector)


def outer_impulse(plant: Plant, robot: Robot, pushes: list[BodyImpulse], q: Array) -> Array:
    """(6,) at the CoM: gravity, contacts and pushes of a step that began at ``q``."""
    model, data, dt, com = robot.model, robot.model.createData(), plant.dt, robot.com(q)
    pin.framesForwardKinematics(model, data, q)
    total = pin.Force(dt * robot.mass * np.array(model.gravity.linear), np.zeros(3))
    X_GW = pin.SE3(np.eye(3), -com)
    for sole, wrench in zip(robot.soles, plant.contact_wrenches, strict=True):
        total += (X_GW * sole.wrench_pose(data)).act(pin.Force(dt * wrench))
    bodies = {frame.name for frame in model.frames}
    for touch in plant.touches:
        if touch.other not in bodies:
            total += dt * pin.Force(touch.force, np.cross(touch.point - com, touch.force))
    for push in pushes:
        X_WB = data.oMf[model.getFrameId(push.body)]
        force = X_WB.rotation @ push.vector if push.in_body_axes else push.vector
        total += pin.Force(force, np.cross(X_WB.act(push.point) - com, force))
    return np.array(total.vector)
