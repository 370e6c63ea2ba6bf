"""Pushes: forces over time at a point of a body, with an exact impulse in every interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config import (
    ExperimentConfig,
    ForcePush,
    HalfSinePush,
    ImpulsePush,
    PendulumPush,
)
from balance.dynamics.checks import symmetrise
from balance.errors import ConfigError, known_names
from balance.robots import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Push:
    """A push of total impulse ``impulse`` (N s) along ``direction`` from ``start`` to ``end`` (s).

    ``shape`` says how it is spread: ``constant`` or ``half_sine``; with start = end all of it falls
    into the step that contains that instant, its beginning included.
    """

    body: str
    point: Array
    direction: Array
    in_body_axes: bool
    start: float
    end: float
    impulse: float
    shape: str

    def delivered(self, time: float) -> float:
        """Impulse delivered before ``time``, N s: the integral of the force."""
        if time <= self.start:
            return 0.0
        if time >= self.end:
            return self.impulse
        share = (time - self.start) / (self.end - self.start)
        if self.shape == "half_sine":
            share = 0.5 * (1.0 - math.cos(math.pi * share))
        return self.impulse * share

    def between(self, begin: float, end: float) -> float:
        """Impulse delivered from ``begin`` (included) to ``end`` (excluded), N s.

        Intervals that follow one another add up to the whole, whatever their length.
        """
        return self.delivered(end) - self.delivered(begin)


def make_pushes(config: ExperimentConfig, robot: Robot) -> list[Push]:
    """The pushes of an experiment, with every impulse worked out."""
    bodies = [frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY]
    pushes = []
    for index, item in enumerate(config.pushes):
        body = robot.push_body if item.body is None else item.body
        if body not in bodies:
            raise ConfigError(
                f"pushes.{index}.body = '{body}': robot '{robot.name}' has no such body"
                f"{known_names(body, bodies)}"
            )
        direction = np.array(item.direction) / np.linalg.norm(item.direction)
        point, in_body = np.array(item.point_m), item.axes == "body"
        match item:
            case ForcePush():
                impulse, shape, duration = (
                    item.force_N * item.duration_s,
                    "constant",
                    item.duration_s,
                )
            case ImpulsePush():
                impulse, shape, duration = item.impulse_Ns, "constant", item.duration_s
            case HalfSinePush():
                impulse, shape, duration = item.impulse_Ns, "half_sine", item.duration_s
            case PendulumPush():
                mass = effective_mass(robot, robot.q_nominal, body, point, direction, in_body)
                impulse = pendulum_impulse(item.mass_kg, item.energy_J, item.restitution, mass)
                shape, duration = "half_sine", item.duration_s
        end = item.time_s + duration
        pushes.append(Push(body, point, direction, in_body, item.time_s, end, impulse, shape))
    return pushes


def pendulum_impulse(mass: float, energy: float, restitution: float, target_mass: float) -> float:
    """Impulse (N s) of a point mass with kinetic ``energy`` (J) that hits a resting target.

    Newton's law of impact: (1 + e) v m m_t / (m + m_t), with m_t the target's effective mass at
    the hit point.
    """
    speed = math.sqrt(2.0 * energy / mass)
    return (1.0 + restitution) * speed * mass * target_mass / (mass + target_mass)


def effective_mass(
    robot: Robot,
    q: Array,
    body: str,
    point: Array,
    direction: Array,
    in_body_axes: bool = False,
) -> float:
    """Mass (kg) that a hit on ``body`` feels along ``direction`` while the soles stay put.

    1 / (n^T J P J^T n), with P = M^-1 - M^-1 J_c^T (J_c M^-1 J_c^T)^-1 J_c M^-1 the inverse inertia
    that is left when the contacts hold.
    """
    model, data = robot.model, robot.model.createData()
    M = symmetrise(pin.crba(model, data, q))
    pin.computeJointJacobians(model, data, q)
    pin.framesForwardKinematics(model, data, q)
    frame = model.frames[model.getFrameId(body)]
    placement = frame.placement * pin.SE3(np.eye(3), point)
    J = pin.getFrameJacobian(model, data, frame.parentJoint, placement, pin.LOCAL_WORLD_ALIGNED)
    rotation = data.oMi[frame.parentJoint].rotation @ placement.rotation
    row = (rotation @ direction if in_body_axes else direction) @ J[:3]
    J_c = np.concatenate(
        [pin.getFrameJacobian(model, data, sole.frame_id, pin.LOCAL) for sole in robot.soles]
    )
    M_inv_row, M_inv_J = np.linalg.solve(M, row), np.linalg.solve(M, J_c.T)
    held = np.linalg.lstsq(J_c @ M_inv_J, J_c @ M_inv_row, rcond=1e-10)[0]
    return float(1.0 / (row @ (M_inv_row - M_inv_J @ held)))
