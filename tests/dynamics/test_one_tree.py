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

import balance.dynamics
from balance.analysis.theory.sampling import random_states
from balance.dynamics.gauss import forward as gauss_forward
from balance.dynamics.gauss import motion as gauss_motion
from balance.dynamics.gauss import state as gauss_state
from balance.errors import InputError
from balance.robots import Robot

# Modules, some of which have the name of a function that the package exports.
(
    base_frame,
    base_velocity,
    centroidal_frame,
    connection,
    constraints,
    contact,
    curvature,
    decoupled,
    floating_base_inverse_dynamics,
    free_flight,
    gauss,
    generalised_jacobian,
    kinematics,
    momentum,
    operational_space,
    ott_model,
    standing,
) = (
    importlib.import_module(f"balance.dynamics.{name}")
    for name in (
        "base_frame",
        "base_velocity",
        "centroidal_frame",
        "connection",
        "constraints",
        "contact",
        "curvature",
        "decoupled",
        "floating_base_inverse_dynamics",
        "free_flight",
        "gauss",
        "generalised_jacobian",
        "kinematics",
        "momentum",
        "operational_space",
        "ott_model",
        "standing",
    )
)

Call = Callable[[pin.Model, np.ndarray, np.ndarray], Any]

CHART = "quaternion"
SOLE = "left_sole"


def at_rest(model: pin.Model, call: Callable[..., Any]) -> Any:
    """A call with a state in the chart's coordinates."""
    q = np.zeros(model.nv + 1)
    q[6] = 1.0
    return call(model, CHART, q, np.zeros(model.nv + 1))


GUARDED: dict[str, Call] = {
    "decoupled_dynamics": decoupled.decoupled_dynamics,
    "centroidal_momentum": momentum.centroidal_momentum,
    "change_base": lambda m, q, v: base_frame.change_base(m, q, v, "G[B]"),
    "base_velocity": lambda m, q, v: base_velocity.base_velocity(m, m.createData(), q, v, "B"),
    "ott_model": ott_model.ott_model,
    "generalised_jacobian": lambda m, q, v: generalised_jacobian.generalised_jacobian(m, q, SOLE),
    "free_flight": lambda m, q, v: free_flight.free_flight(
        m, q, v, lambda t: np.zeros(m.nv - 6), 0.1, 1
    ),
    "mechanical_connection": lambda m, q, v: connection.mechanical_connection(m, v[6:]),
    "momentum_map": connection.momentum_map,
    "locked_velocity": connection.locked_velocity,
    "connection_at": lambda m, q, v: connection.connection_at(m, m.createData(), q),
    "check_one_dof_joints": lambda m, q, v: connection.check_one_dof_joints(m),
    "curvature": lambda m, q, v: curvature.curvature(m, v[6:]),
    "connection_derivatives": lambda m, q, v: curvature.connection_derivatives(m, v[6:]),
    "centroidal_frame": lambda m, q, v: centroidal_frame.centroidal_frame(
        m, lambda t: v[6:], [0.0, 1.0]
    ),
    "integrate_frame": lambda m, q, v: centroidal_frame.integrate_frame(
        m, lambda t: v[6:], np.array([0.0, 1.0]), pin.SE3.Identity(), 1
    ),
    "contact_jacobian": lambda m, q, v: constraints.contact_jacobian(m, q, SOLES),
    "contact_drift": lambda m, q, v: constraints.contact_drift(m, q, v, SOLES),
    "constraint_rank": lambda m, q, v: constraints.constraint_rank(m, q, SOLES),
    "support": lambda m, q, v: contact.support(m, q, SOLES),
    "constrained_dynamics": lambda m, q, v: contact.constrained_dynamics(m, q, v, v[6:], SOLES),
    "impact": lambda m, q, v: contact.impact(m, q, v, SOLES),
    "floating_base_torques": lambda m, q, v: floating_base_inverse_dynamics.floating_base_torques(
        m, q, v, v, SOLES
    ),
    "gauss_dynamics": lambda m, q, v: at_rest(m, gauss.gauss_dynamics),
    "chart_state": lambda m, q, v: at_rest(m, gauss_state.chart_state),
    "chart_from_pinocchio": lambda m, q, v: gauss_state.chart_from_pinocchio(m, CHART, q, v),
    "pinocchio_from_chart": lambda m, q, v: at_rest(m, gauss_state.pinocchio_from_chart),
    "pinocchio_acceleration": lambda m, q, v: at_rest(
        m, lambda *a: gauss_state.pinocchio_acceleration(*a, a[-1])
    ),
    "applied_force": lambda m, q, v: at_rest(
        m, lambda *a: gauss_forward.applied_force(*a[:3], v[6:])
    ),
    "integrate_gauss": lambda m, q, v: at_rest(
        m, lambda *a: gauss_motion.integrate_gauss(*a, lambda t: v[6:], duration_s=0.1, step_s=0.1)
    ),
    "base_velocity_map": lambda m, q, v: kinematics.base_velocity_map(m, q),
    "base_rate_map": lambda m, q, v: kinematics.base_rate_map(m, q, CHART),
    "floating_base_jacobian": lambda m, q, v: kinematics.floating_base_jacobian(m, q, SOLE),
    "standing_posture": lambda m, q, v: standing.standing_posture(
        m, [(m.getFrameId(SOLE), pin.SE3.Identity())], q
    ),
    "check_floating_base": lambda m, q, v: balance.dynamics.checks.check_floating_base(m),
    "check_state": balance.dynamics.checks.check_state,
    "random_states": lambda m, q, v: random_states(m, 1, 0),
}
SOLES = [constraints.Contact(SOLE, face=True)]

# Right for any number of trees, or working on what a guarded function has made.
ANY_MODEL = {
    "frame_placement",
    "frame_coordinates",
    "geometric_jacobian",
    "analytical_jacobian",
    "inverse_kinematics",
    "frame_id",
    "locked_inertia",
    "momentum_derivatives",
    "shape_configuration",
    "ancestors",
}
FIXED_BASE = {"end_effector_dynamics", "operational_space_torques"}


def with_box(robot: pin.Model, kind: pin.JointModel) -> tuple[pin.Model, np.ndarray, np.ndarray]:
    """``robot`` and a box of 20 kg beside it, which hangs from the world by a joint."""
    model = robot.copy()
    joint = model.addJoint(0, kind, pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.2])), "box")
    model.appendBodyToJoint(joint, pin.Inertia.FromBox(20.0, 0.4, 0.4, 0.4), pin.SE3.Identity())
    return model, pin.neutral(model), np.zeros(model.nv)


def public_functions_of_a_model() -> set[str]:
    """Names of all functions of balance.dynamics whose first argument is a model."""
    files = Path(inspect.getfile(balance.dynamics)).parent.glob("*.py")
    nodes = [node for path in files for node in ast.parse(path.read_text(encoding="utf-8")).body]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.args.args]
    return {
        function.name
        for function in functions
        if function.args.args[0].arg == "model" and not function.name.startswith("_")
    }


def test_no_function_of_a_model_was_forgotten() -> None:
    known = GUARDED.keys() | ANY_MODEL | FIXED_BASE
    assert public_functions_of_a_model() - known == set()


@pytest.mark.parametrize("name", GUARDED)
def test_a_free_object_beside_the_robot_is_refused(toro: Robot, name: str) -> None:
    model, q, v = with_box(toro.model, pin.JointModelFreeFlyer())
    with pytest.raises(InputError, match=r"joint 'box' .* attached to the world.* robot alone"):
        GUARDED[name](model, q, v)


def test_a_joint_of_the_world_is_refused(toro: Robot) -> None:
    """Also a door beside the robot."""
    model, q, v = with_box(toro.model, pin.JointModelRZ())
    with pytest.raises(InputError, match="'box'"):
        decoupled.decoupled_dynamics(model, q, v)


@pytest.mark.parametrize("name", sorted(GUARDED.keys() - {"standing_posture"}))
def test_the_robot_alone_is_taken(toro: Robot, name: str) -> None:
    """The calls above are right but for the box."""
    GUARDED[name](toro.model, toro.q_nominal, np.zeros(toro.model.nv))


def test_an_arm_on_a_fixed_base_beside_a_free_object_is_refused() -> None:
    """No torque acts on the object, so that operational-space control must not ask for one."""
    arm = pin.buildSampleModelManipulator()
    model, q, v = with_box(arm, pin.JointModelFreeFlyer())
    frame = arm.frames[arm.nframes - 1].name
    with pytest.raises(InputError, match="free object"):
        operational_space.end_effector_dynamics(model, q, v, frame)
