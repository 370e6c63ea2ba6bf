"""The wrench cones and the contact-wrench QP that a law's configuration asks for."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from balance.config import ContactAssumptionsConfig, WrenchQPConfig
from balance.control.qp import make_solver
from balance.control.qp.wrenches import WrenchDistribution
from balance.errors import ConfigError, InputError, QPError, RobotError
from balance.robots import Robot
from balance.robots.contact_points import surface_cone
from balance.robots.contacts import WrenchCone, friction_pyramid


def contact_cones(
    robot: Robot, contacts: ContactAssumptionsConfig, mass: float | None = None
) -> list[WrenchCone]:
    """The cone of each contact surface, with the friction pyramid inscribed in Coulomb's cone.

    ``mass`` (kg) is what the law takes the robot's for, if that is not the robot's own.
    """
    least = contacts.least_normal_force(robot.mass if mass is None else mass)
    try:
        return [
            surface_cone(
                surface,
                friction_pyramid(contacts.friction),
                cop_margin=contacts.cop_margin_m,
                min_normal_force=least,
                max_normal_force=contacts.max_normal_force_N,
            )
            for surface in robot.soles
        ]
    except InputError as error:
        raise ConfigError(f"'controller.contacts': {error}") from None


def make_distribution(
    robot: Robot,
    contacts: ContactAssumptionsConfig,
    qp: WrenchQPConfig,
    *,
    plain_share: bool = False,
) -> WrenchDistribution:
    """The contact-wrench QP of a robot's contacts, of which it must have one."""
    if not robot.soles:
        raise RobotError(
            f"robot '{robot.name}' has no contact surface; give it at least one under 'soles'"
        )
    _check_weight(robot, contacts)
    try:
        solver = make_solver(qp.solver)
    except QPError as error:
        raise ConfigError(f"'controller.qp.solver' = '{qp.solver}': {error}") from None
    return WrenchDistribution(
        robot.soles,
        contact_cones(robot, contacts),
        friction_pyramid(contacts.friction),
        solver,
        linear_weight=qp.linear_weight,
        angular_weight=qp.angular_weight,
        regularisation=qp.regularisation,
        plain_share=plain_share,
    )


def _check_weight(robot: Robot, contacts: ContactAssumptionsConfig) -> None:
    """Refuse least forces that, all together, push the robot off the ground."""
    least = contacts.least_normal_force(robot.mass)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    up = sum(max(0.0, float(sole.pose(data).rotation[2, 2])) for sole in robot.soles)
    weight = robot.mass * float(np.linalg.norm(robot.model.gravity.linear))
    if least * up >= weight:
        key = "min_normal_force" if contacts.min_normal_force_N is None else "min_normal_force_N"
        raise ConfigError(
            f"'controller.contacts.{key}' = {getattr(contacts, key):g} makes each of "
            f"{len(robot.soles)} contacts bear at least {least:.4g} N, together more than the "
            f"{weight:.4g} N that robot '{robot.name}' weighs; lower it, or leave it out for a "
            "share of the weight"
        )
