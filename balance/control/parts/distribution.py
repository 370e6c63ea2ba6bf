"""The wrench cones and the contact-wrench QP that a law's configuration asks for."""

from __future__ import annotations

from balance.config import ContactAssumptions, WrenchQP
from balance.control.qp import make_solver
from balance.control.qp.wrenches import WrenchDistribution
from balance.errors import ConfigError, InputError, QPError, RobotError
from balance.robots import Robot
from balance.robots.contact_points import surface_cone
from balance.robots.contacts import WrenchCone, friction_pyramid


def contact_cones(robot: Robot, contacts: ContactAssumptions) -> list[WrenchCone]:
    """The cone of each contact surface, with the friction pyramid inscribed in Coulomb's cone."""
    try:
        return [
            surface_cone(
                surface,
                friction_pyramid(contacts.friction),
                cop_margin=contacts.cop_margin_m,
                min_normal_force=contacts.min_normal_force_N,
                max_normal_force=contacts.max_normal_force_N,
            )
            for surface in robot.soles
        ]
    except InputError as error:
        raise ConfigError(f"'controller.contacts': {error}") from None


def make_distribution(
    robot: Robot, contacts: ContactAssumptions, qp: WrenchQP
) -> WrenchDistribution:
    """The contact-wrench QP of a robot's contacts, of which it must have one."""
    if not robot.soles:
        raise RobotError(
            f"robot '{robot.name}' has no contact surface; give it at least one under 'soles'"
        )
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
    )
