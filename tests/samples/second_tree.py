"""A robot and a box beside it, and what functions must find there from the two apart."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pinocchio as pin

from balance.dynamics import checks
from balance.dynamics.constrained_lagrange import (
    ConstraintRows,
    configuration_constraint,
    constrained_motion,
)
from balance.dynamics.constraints import Contact, attachment
from balance.dynamics.generalised_forces import (
    Actuator,
    Load,
    actuator_generalised_force,
    external_generalised_force,
    point_jacobian,
    total_generalised_force,
)
from balance.dynamics.hamel import potential_forces
from balance.dynamics.inverse_kinematics import (
    Target,
    inverse_kinematics,
    target_error,
    transpose_kinematics,
)
from balance.dynamics.kinematics import (
    analytical_jacobian,
    base_rotation,
    frame_coordinates,
    frame_placement,
    geometric_jacobian,
    relative_jacobian,
)
from balance.dynamics.lagrangian import (
    Spring,
    gravitational_energy,
    lagrangian,
    potential_energy,
    spring_energy,
    spring_torques,
)
from balance.dynamics.prioritised_kinematics import prioritised_kinematics
from balance.dynamics.projected_newton_euler import link_motion, projected_newton_euler

Call = Callable[[pin.Model, np.ndarray, np.ndarray], Any]

SOLE, OTHER_SOLE = "left_sole", "right_sole"


class Apart(Enum):
    """How a result for robot and box follows from those for the robot and the box alone."""

    SAME = "the robot's, whatever stands beside it"
    PADDED = "the robot's, with zeros for the six velocities of the box"
    HELD = "the robot's configuration, with that of the box as it was"
    JOINED = "the robot's and then the box's"
    SUMMED = "the sum of both"


def with_box(robot: pin.Model, kind: pin.JointModel) -> tuple[pin.Model, np.ndarray, np.ndarray]:
    """``robot`` and a box of 20 kg beside it, which hangs from the world by a joint."""
    model = robot.copy()
    add_box(model, kind)
    return model, pin.neutral(model), np.zeros(model.nv)


def add_box(model: pin.Model, kind: pin.JointModel) -> None:
    joint = model.addJoint(0, kind, pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.2])), "box")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(20.0, 0.4, 0.4, 0.4), pin.SE3.Identity())


def _at_the_roots(model: pin.Model) -> ConstraintRows:
    """The first velocity of every tree is constant."""
    first = [model.idx_vs[int(joint)] for joint in model.children[0]]
    return ConstraintRows(np.eye(model.nv)[first], np.ones(len(first)))


def _root_heights(model: pin.Model, q: np.ndarray) -> np.ndarray:
    return np.array([q[model.idx_qs[int(joint)] + 2] ** 2 for joint in model.children[0]])


def _links(model: pin.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    m = link_motion(model, q, v)
    rates = (J @ v for J in (m.J_S, m.J_R, m.J_S_dot, m.J_R_dot))
    return np.hstack([*rates, m.com, m.Omega, m.mass[:, None], m.Theta.reshape(-1, 9)])


def _equation(model: pin.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    terms = projected_newton_euler(model, q, v)
    return np.asarray(terms.M @ np.cos(v) + terms.b + terms.g)


def _target(model: pin.Model, q: np.ndarray) -> Target:
    nearby = frame_placement(model, q, SOLE).translation + np.array([0.02, 0.01, 0.03])
    return Target(SOLE, nearby)


SPRINGS = [Spring("universe", SOLE, 100.0), Spring(SOLE, OTHER_SOLE, 50.0, 0.1)]
LOADS = [Load(SOLE, (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (0.1, 0.0, 0.2))]
MOTORS = [Actuator(SOLE, OTHER_SOLE, torque=(1.0, -2.0, 3.0))]

APART: dict[str, tuple[Apart, Call]] = {
    "frame_id": (Apart.SAME, lambda m, q, v: checks.frame_id(m, SOLE)),
    "has_floating_base": (Apart.SAME, lambda m, q, v: checks.has_floating_base(m)),
    "check_free_flyer": (Apart.SAME, lambda m, q, v: checks.check_free_flyer(m) is None),
    "check_free_flyer_state": (
        Apart.JOINED,
        lambda m, q, v: checks.check_free_flyer_state(m, q, v)[0],
    ),
    "attachment": (Apart.SAME, lambda m, q, v: attachment(m, Contact(SOLE))[1].homogeneous),
    "base_rotation": (Apart.SAME, lambda m, q, v: base_rotation(m, q)),
    "frame_placement": (Apart.SAME, lambda m, q, v: frame_placement(m, q, SOLE).homogeneous),
    "frame_coordinates": (Apart.SAME, lambda m, q, v: frame_coordinates(m, q, SOLE)),
    "geometric_jacobian": (Apart.PADDED, lambda m, q, v: geometric_jacobian(m, q, SOLE)),
    "analytical_jacobian": (Apart.PADDED, lambda m, q, v: analytical_jacobian(m, q, SOLE)),
    "relative_jacobian": (
        Apart.PADDED,
        lambda m, q, v: relative_jacobian(m, q, SOLE, OTHER_SOLE),
    ),
    "inverse_kinematics": (
        Apart.HELD,
        lambda m, q, v: inverse_kinematics(m, q, _target(m, q)).q,
    ),
    "transpose_kinematics": (
        Apart.HELD,
        lambda m, q, v: transpose_kinematics(m, q, _target(m, q), max_iterations=20).q,
    ),
    "target_error": (
        Apart.PADDED,
        lambda m, q, v: target_error(m, m.createData(), q, checks.frame_id(m, SOLE), _target(m, q))[
            1
        ],
    ),
    "prioritised_kinematics": (
        Apart.HELD,
        lambda m, q, v: (
            prioritised_kinematics(
                m, q, [_target(m, q)], [Contact(OTHER_SOLE, face=True)], tolerance=1e-8
            ).q
        ),
    ),
    "point_jacobian": (Apart.PADDED, lambda m, q, v: point_jacobian(m, q, LOADS[0])),
    "external_generalised_force": (
        Apart.PADDED,
        lambda m, q, v: external_generalised_force(m, q, LOADS),
    ),
    "actuator_generalised_force": (
        Apart.PADDED,
        lambda m, q, v: actuator_generalised_force(m, q, MOTORS),
    ),
    "total_generalised_force": (
        Apart.PADDED,
        lambda m, q, v: total_generalised_force(m, q, MOTORS, LOADS),
    ),
    "spring_energy": (Apart.SAME, lambda m, q, v: spring_energy(m, q, SPRINGS)),
    "spring_torques": (Apart.PADDED, lambda m, q, v: spring_torques(m, q, SPRINGS)),
    "gravitational_energy": (Apart.SUMMED, lambda m, q, v: gravitational_energy(m, q)),
    "potential_energy": (Apart.SUMMED, lambda m, q, v: potential_energy(m, q)),
    "lagrangian": (Apart.SUMMED, lagrangian),
    "potential_forces": (Apart.JOINED, lambda m, q, v: potential_forces(m, q)),
    "link_motion": (Apart.JOINED, _links),
    "projected_newton_euler": (Apart.JOINED, _equation),
    "constrained_motion": (
        Apart.JOINED,
        lambda m, q, v: constrained_motion(m, q, v, np.cos(v), [_at_the_roots(m)]).acceleration,
    ),
    "configuration_constraint": (
        Apart.JOINED,
        lambda m, q, v: configuration_constraint(m, q, v, lambda x: _root_heights(m, x)).J.sum(0),
    ),
}
"""Functions that are right for any number of trees."""

IN_A_CHART = {
    "gauss_dynamics",
    "gauss_functional",
    "applied_force",
    "chart_program",
    "integrate_gauss",
    "chart_state",
    "chart_from_pinocchio",
    "pinocchio_from_chart",
    "pinocchio_acceleration",
    "carried_by_base",
    "point_of",
    "is_plain",
    "joint_parts",
    "to_world",
    "from_world",
    "chart_of_joints",
    "pinocchio_joints",
}
"""Those of the equations in a chart, which are for robot and objects (Bouyarmane2012 VII)."""
