"""A model of a robot and something else is refused wherever it would be taken for one robot.

With a free box of 20 kg beside it, the robot's mass, momentum and joint torques would all be those
of robot and box.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from second_tree import APART, IN_A_CHART, with_box

import balance.dynamics
from balance.analysis.theory.sampling import random_states
from balance.errors import InputError
from balance.robots import Robot


class Dynamics:
    """Modules of balance.dynamics by name; some have the name of a function that it exports."""

    def __getattr__(self, name: str) -> Any:
        return importlib.import_module(f"balance.dynamics.{name}")


dyn = Dynamics()

Call = Callable[[pin.Model, np.ndarray, np.ndarray], Any]

CHART = "quaternion"
SOLE = "left_sole"
HAND = "effector_body"


GUARDED: dict[str, Call] = {
    "decoupled_dynamics": dyn.decoupled.decoupled_dynamics,
    "centroidal_momentum": dyn.momentum.centroidal_momentum,
    "change_base": lambda m, q, v: dyn.base_frame.change_base(m, q, v, "G[B]"),
    "base_velocity": lambda m, q, v: dyn.base_velocity.base_velocity(m, m.createData(), q, v, "B"),
    "ott_model": dyn.ott_model.ott_model,
    "generalised_jacobian": lambda m, q, v: dyn.generalised_jacobian.generalised_jacobian(
        m, q, SOLE
    ),
    "free_flight": lambda m, q, v: dyn.free_flight.free_flight(
        m, q, v, lambda t: np.zeros(m.nv - 6), 0.1, 1
    ),
    "mechanical_connection": lambda m, q, v: dyn.connection.mechanical_connection(m, v[6:]),
    "momentum_map": dyn.connection.momentum_map,
    "locked_velocity": dyn.connection.locked_velocity,
    "connection_at": lambda m, q, v: dyn.connection.connection_at(m, m.createData(), q),
    "check_one_dof_joints": lambda m, q, v: dyn.connection.check_one_dof_joints(m),
    "curvature": lambda m, q, v: dyn.curvature.curvature(m, v[6:]),
    "connection_derivatives": lambda m, q, v: dyn.curvature.connection_derivatives(m, v[6:]),
    "centroidal_frame": lambda m, q, v: dyn.centroidal_frame.centroidal_frame(
        m, lambda t: v[6:], [0.0, 1.0]
    ),
    "integrate_frame": lambda m, q, v: dyn.centroidal_frame.integrate_frame(
        m, lambda t: v[6:], np.array([0.0, 1.0]), pin.SE3.Identity(), 1
    ),
    "contact_jacobian": lambda m, q, v: dyn.constraints.contact_jacobian(m, q, SOLES),
    "contact_drift": lambda m, q, v: dyn.constraints.contact_drift(m, q, v, SOLES),
    "constraint_rank": lambda m, q, v: dyn.constraints.constraint_rank(m, q, SOLES),
    "support": lambda m, q, v: dyn.contact.support(m, q, SOLES),
    "constrained_dynamics": lambda m, q, v: dyn.contact.constrained_dynamics(m, q, v, v[6:], SOLES),
    "impact": lambda m, q, v: dyn.contact.impact(m, q, v, SOLES),
    "floating_base_torques": lambda m, q, v: (
        dyn.floating_base_inverse_dynamics.floating_base_torques(m, q, v, v, SOLES)
    ),
    "base_velocity_map": lambda m, q, v: dyn.kinematics.base_velocity_map(m, q),
    "base_rate_map": lambda m, q, v: dyn.kinematics.base_rate_map(m, q, CHART),
    "floating_base_jacobian": lambda m, q, v: dyn.kinematics.floating_base_jacobian(m, q, SOLE),
    "standing_posture": lambda m, q, v: dyn.standing.standing_posture(
        m, [(m.getFrameId(SOLE), pin.SE3.Identity())], q
    ),
    "check_floating_base": lambda m, q, v: dyn.checks.check_floating_base(m),
    "check_state": dyn.checks.check_state,
    "fly_with_base": lambda m, q, v: dyn.base_flight.fly_with_base(
        m, q, v, "B", lambda t, q, v: 0.0 * v, 0.1, 1
    ),
    "com_connection": lambda m, q, v: dyn.com_connection.com_connection(m, v[6:]),
    "com_curvature": lambda m, q, v: dyn.com_connection.com_curvature(m, v[6:]),
    "torques_without_momentum": lambda m, q, v: dyn.falling_cat.torques_without_momentum(
        m, lambda t: v[6:], 1.0
    ),
    "fixed_base": lambda m, q, v: dyn.fixed_base.fixed_base(m, q, v[6:], SOLE),
    "hamel_terms": dyn.hamel.hamel_terms,
    "hamel_forces": lambda m, q, v: dyn.hamel.hamel_forces(m, q, v, v),
    "contact_parts": lambda m, q, v: dyn.hamel.contact_parts(m, q, SOLE),
    "loop_holonomy": lambda m, q, v: dyn.holonomy.loop_holonomy(m, lambda t: v[6:]),
    "holonomy_from_curvature": lambda m, q, v: dyn.holonomy.holonomy_from_curvature(
        m, lambda t: v[6:], shells=1, points=1
    ),
    "turn_without_momentum": lambda m, q, v: dyn.holonomy.turn_without_momentum(m, lambda t: v[6:]),
    "righting_bend": lambda m, q, v: dyn.falling_cat.righting_bend(1.0, m),
    "largest_curvature": lambda m, q, v: dyn.integrable_mechanisms.largest_curvature(m, 1),
    "lock_joints": dyn.joint_lock.lock_joints,
    "lagrange_poincare": dyn.lagrange_poincare.lagrange_poincare,
    "group_action": lambda m, q, v: dyn.noether.group_action(m, q, pin.SE3.Identity()),
    "infinitesimal_generator": lambda m, q, v: dyn.noether.infinitesimal_generator(
        m, q, np.ones(6)
    ),
    "fibre_derivative": lambda m, q, v: dyn.noether.fibre_derivative(m, q, v, v),
    "noether_momentum": dyn.noether.noether_momentum,
    "shape_frame": lambda m, q, v: dyn.shape_frame.shape_frame(m, v[6:]),
    "shape_frame_derivative": lambda m, q, v: dyn.shape_frame.shape_frame_derivative(
        m, v[6:], v[6:]
    ),
    "integrability_defect": lambda m, q, v: dyn.shape_frame.integrability_defect(m, v[6:]),
    "frame_equation_residual": lambda m, q, v: dyn.shape_frame.frame_equation_residual(m, v[6:]),
    "constrained_connection": lambda m, q, v: dyn.virtual_constraint.constrained_connection(
        m, v[6:], v[6:, None]
    ),
    "constrained_curvature": lambda m, q, v: dyn.virtual_constraint.constrained_curvature(
        m, v[6:], v[6:, None]
    ),
    "virtual_model_torques": lambda m, q, v: dyn.virtual_forces.virtual_model_torques(
        m, q, [dyn.constraints.Contact(SOLE)]
    ),
    "random_states": lambda m, q, v: random_states(m, 1, 0),
}
SOLES = [dyn.constraints.Contact(SOLE, face=True)]

FIXED_BASE: dict[str, Call] = {
    "end_effector_dynamics": lambda m, q, v: dyn.operational_space.end_effector_dynamics(
        m, q, v, HAND
    ),
    "operational_space_torques": lambda m, q, v: dyn.operational_space.operational_space_torques(
        m, q, v, HAND, acceleration=np.zeros(6), force=np.zeros(6), directions=FREE
    ),
    "inverse_dynamics_tasks": lambda m, q, v: dyn.joint_control.inverse_dynamics_tasks(m, q, v, v),
    "check_fixed_base": lambda m, q, v: dyn.checks.check_fixed_base(m),
}
FREE = dyn.operational_space.selection(np.eye(3), (True,) * 3, (True,) * 3)


def first_joint(model: pin.Model) -> int:
    """Where the joints' velocities start."""
    return 6 if dyn.checks.has_floating_base(model) else 0


def standing(model: pin.Model) -> list[Any]:
    """What bears the model: its soles, or nothing on a fixed base."""
    return SOLES if first_joint(model) else []


# For robots on either kind of base, alone.
EITHER_BASE: dict[str, Call] = {
    "velocities_without_motor": lambda m, q, v: dyn.checks.velocities_without_motor(m),
    "joint_feedback": lambda m, q, v: dyn.joint_control.joint_feedback(
        m, q, v, dyn.joint_control.JointReference(q), 1.0, 1.0
    ),
    "gravity_torques": lambda m, q, v: dyn.joint_control.gravity_torques(m, q, standing(m)),
    "gravity_compensated_torques": lambda m, q, v: dyn.joint_control.gravity_compensated_torques(
        m, q, v, dyn.joint_control.JointReference(q), 1.0, 1.0, standing(m)
    ),
    "inverse_dynamics_torques": lambda m, q, v: dyn.joint_control.inverse_dynamics_torques(
        m, q, v, v[first_joint(m) :], standing(m)
    ),
    "free_cut_dynamics": lambda m, q, v: dyn.free_cut.free_cut_dynamics(
        m, q, v, v[first_joint(m) :]
    ),
}
ONE_ROBOT = GUARDED | EITHER_BASE

# APART and IN_A_CHART are right for any number of trees: test_second_tree.py compares the former
# with robot and box apart, test_gauss_objects.py the latter with Pinocchio for robot and box.
# These work on what a guarded function has made.
BEHIND_A_GUARD = {
    "locked_inertia",
    "momentum_derivatives",
    "mass_matrix_derivatives",
    "shape_configuration",
    "ancestors",
    "place_rows",
    "static_torque",
    "surface_jacobian",
    "moved_by",
}


def public_functions_of_a_model() -> set[str]:
    """Names of all functions of balance.dynamics, in any folder, that take a model."""
    files = Path(inspect.getfile(balance.dynamics)).parent.rglob("*.py")
    nodes = [node for path in files for node in ast.parse(path.read_text(encoding="utf-8")).body]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    return {
        function.name
        for function in functions
        if not function.name.startswith("_")
        and "model" in {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
    }


def test_no_function_of_a_model_was_forgotten_and_each_has_one_class() -> None:
    here = ONE_ROBOT.keys() - {"random_states"}
    names = [*here, *FIXED_BASE, *APART, *IN_A_CHART, *BEHIND_A_GUARD]
    assert set(names) == public_functions_of_a_model()
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ONE_ROBOT)
def test_a_free_object_beside_the_robot_is_refused(toro: Robot, name: str) -> None:
    model, q, v = with_box(toro.model, pin.JointModelFreeFlyer())
    with pytest.raises(InputError, match=r"joint 'box' .* attached to the world.* robot alone"):
        ONE_ROBOT[name](model, q, v)


def test_a_joint_of_the_world_is_refused(toro: Robot) -> None:
    """Also a door beside the robot."""
    model, q, v = with_box(toro.model, pin.JointModelRZ())
    with pytest.raises(InputError, match="'box'"):
        dyn.decoupled.decoupled_dynamics(model, q, v)


@pytest.mark.parametrize("name", sorted(ONE_ROBOT.keys() - {"standing_posture", "righting_bend"}))
def test_the_robot_alone_is_taken(toro: Robot, name: str) -> None:
    """The calls above are right but for the box."""
    ONE_ROBOT[name](toro.model, toro.q_nominal, np.zeros(toro.model.nv))


@pytest.mark.parametrize("name", sorted(FIXED_BASE | EITHER_BASE))
def test_an_arm_on_a_fixed_base_beside_a_free_object_is_refused(name: str) -> None:
    """No torque acts on the object, so that no law of an arm may ask for one."""
    arm = pin.buildSampleModelManipulator()
    model, q, v = with_box(arm, pin.JointModelFreeFlyer())
    call = (FIXED_BASE | EITHER_BASE)[name]
    with pytest.raises(InputError, match="free object"):
        call(model, q, v)
    bent = np.full(arm.nq, 0.5)
    call(arm, bent, np.zeros(arm.nv))
