"""Forces on links as generalised forces: external ones and those of actuators.

RobotDynamicsETH 3.5.3, and 3.11 which uses them as virtual ones.  For fixed and floating bases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from balance.dynamics.checks import Array, check_vector, jacobian_rows
from balance.dynamics.constraints import Contact, attachment


@dataclass(frozen=True, slots=True)
class Load:
    """A force and a torque on a link, in world axes.

    Attributes:
        frame: name of a frame of the link.
        force: on the link (3,), N.
        torque: on the link (3,), N m.
        point: where the force acts, in the frame's axes, m.
    """

    frame: str
    force: ArrayLike = (0.0, 0.0, 0.0)
    torque: ArrayLike = (0.0, 0.0, 0.0)
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def wrench(self) -> Array:
        """(force, torque), shape (6,)."""
        force = check_vector(f"force on '{self.frame}'", self.force, 3)
        return np.concatenate([force, check_vector(f"torque on '{self.frame}'", self.torque, 3)])


@dataclass(frozen=True, slots=True)
class Actuator:
    """A motor between two links: what it does to one, it does in reverse to the other.

    Attributes:
        on: name of a frame on the driven link, at whose origin the force acts.
        against: name of a frame on the link that bears the reaction, at its origin.
        force: on the driven link (3,), N, world axes.
        torque: on the driven link (3,), N m, world axes.
    """

    on: str
    against: str
    force: ArrayLike = (0.0, 0.0, 0.0)
    torque: ArrayLike = (0.0, 0.0, 0.0)


def point_jacobian(model: pin.Model, q: ArrayLike, load: Load) -> Array:
    """Jacobian (6, nv) of the point that a load acts on: its velocity, and the link's angular one.

    RobotDynamicsETH (2.154) carries a link's Jacobian to another of its points.
    """
    data = model.createData()
    pin.computeJointJacobians(model, data, check_vector("q", q, model.nq))
    joint, placement = attachment(model, Contact(load.frame, load.point))
    axes = pin.LOCAL_WORLD_ALIGNED
    return jacobian_rows(pin.getFrameJacobian(model, data, joint, placement, axes))


def external_generalised_force(model: pin.Model, q: ArrayLike, loads: Sequence[Load]) -> Array:
    """tau_ext (nv,) = sum J_P^T F + sum J_R^T T; RobotDynamicsETH (3.49)-(3.51)."""
    total = np.zeros(model.nv)
    for load in loads:
        total += point_jacobian(model, q, load).T @ load.wrench
    return total


def actuator_generalised_force(
    model: pin.Model, q: ArrayLike, actuators: Sequence[Actuator]
) -> Array:
    """sum over k of (J_S,k - J_S,k-1)^T F_a,k + (J_R,k - J_R,k-1)^T T_a,k; (3.52), shape (nv,).

    A torque along a revolute joint's axis, or a force along a prismatic one's, gives the single
    entry tau_j.  The points of action and reaction of a force must lie on its line, or the pair is
    also a torque on the robot as a whole.
    """
    total = np.zeros(model.nv)
    for motor in actuators:
        action = Load(motor.on, motor.force, motor.torque)
        J_action = point_jacobian(model, q, action)
        J_reaction = point_jacobian(model, q, Load(motor.against))
        total += (J_action - J_reaction).T @ action.wrench
    return total


def total_generalised_force(
    model: pin.Model, q: ArrayLike, actuators: Sequence[Actuator], loads: Sequence[Load]
) -> Array:
    """tau (nv,) of the equation of motion, motors and external loads; RobotDynamicsETH (3.53)."""
    by_motors = actuator_generalised_force(model, q, actuators)
    return by_motors + external_generalised_force(model, q, loads)
