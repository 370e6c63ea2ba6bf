"""External, actuator and virtual forces against Pinocchio; RobotDynamicsETH 3.5.3 and 3.11."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from random_robots import random_robot

from balance.dynamics.constraints import Contact, contact_jacobian
from balance.dynamics.generalised_forces import (
    Actuator,
    Load,
    actuator_generalised_force,
    external_generalised_force,
    point_jacobian,
    total_generalised_force,
)
from balance.dynamics.kinematics import frame_placement
from balance.dynamics.notes_arms import scara
from balance.dynamics.virtual_forces import contact_map, virtual_model_torques
from balance.errors import InputError

SAME = 1e-10
TREE = random_robot(8, seed=5)
rng = np.random.default_rng(6)
Q = pin.integrate(TREE, pin.neutral(TREE), rng.normal(size=TREE.nv))
V = rng.normal(size=TREE.nv)
LOADS = [
    Load("link_3", [1.0, -2.0, 3.0], [0.4, 0.5, -0.6], (0.1, -0.2, 0.3)),
    Load("link_8", [0.0, 5.0, 0.0]),
    Load("link_0", torque=[1.0, 2.0, 3.0]),
]


def joint_forces(model: pin.Model, q: np.ndarray, loads: list[Load]) -> list[pin.Force]:
    """The loads as Pinocchio's spatial forces on joints, from the definition of a wrench."""
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    forces = [pin.Force.Zero() for _ in range(model.njoints)]
    for load in loads:
        joint = model.frames[model.getFrameId(load.frame)].parentJoint
        point = frame_placement(model, q, load.frame).act(np.array(load.point))
        force = np.asarray(load.force, dtype=float)
        moment = np.cross(point, force) + np.asarray(load.torque)
        forces[joint] += data.oMi[joint].actInv(pin.Force(force, moment))
    return forces


def test_external_forces_move_the_robot_as_they_do_in_aba() -> None:
    """(3.49)-(3.51)."""
    tau = rng.normal(size=TREE.nv)
    expected = pin.aba(TREE, TREE.createData(), Q, V, tau, joint_forces(TREE, Q, LOADS))
    by_forces = tau + external_generalised_force(TREE, Q, LOADS)
    found = pin.aba(TREE, TREE.createData(), Q, V, by_forces)
    np.testing.assert_allclose(found, expected, atol=SAME * np.abs(expected).max())


def test_jacobian_of_a_point_is_the_frames_carried_there() -> None:
    """The comment below (3.53) with (2.154): J_P = J_S + omega x r."""
    load = LOADS[0]
    arm = frame_placement(TREE, Q, load.frame).rotation @ np.array(load.point)
    J_P, J_S = (point_jacobian(TREE, Q, at) for at in (load, Load(load.frame)))
    np.testing.assert_allclose(J_P @ V, J_S @ V + [*np.cross(J_S[3:] @ V, arm), 0, 0, 0], atol=SAME)


def test_actuator_along_its_joint_is_one_entry_of_the_torques() -> None:
    """(3.52): a torque about a revolute axis, a force along a prismatic one."""
    arm, q = scara(), np.array([0.3, 0.8, -0.4, 0.2])
    up = np.array([0.0, 0.0, 1.0])
    motors = {
        1: Actuator("beta_link", "alpha_link", torque=2.0 * up),
        3: Actuator("zeta_link", "gamma_link", force=5.0 * up),
    }
    for joint, motor in motors.items():
        expected = np.zeros(4)
        expected[joint] = 2.0 if joint == 1 else 5.0
        found = actuator_generalised_force(arm, q, [motor])
        np.testing.assert_allclose(found, expected, atol=1e-14)
    weight = Load("end", [0.0, 0.0, -1.0])
    total = total_generalised_force(arm, q, list(motors.values()), [weight])
    np.testing.assert_allclose(total, [0.0, 2.0, 0.0, 4.0], atol=1e-14)


def test_actuators_between_links_leave_the_robot_as_a_whole_alone() -> None:
    """Action and reaction along one line: nothing on the base of a floating robot."""
    motor = Actuator("link_5", "link_2", torque=[0.3, -0.7, 0.2])
    assert np.abs(actuator_generalised_force(TREE, Q, [motor])[:6]).max() < 1e-13
    a, b = (frame_placement(TREE, Q, name).translation for name in ("link_5", "link_2"))
    along = Actuator("link_5", "link_2", force=3.0 * (a - b))
    off = Actuator("link_5", "link_2", force=[3.0, 0.0, 0.0])
    found = actuator_generalised_force(TREE, Q, [along])
    assert np.abs(found[:6]).max() < 1e-12 < np.abs(found[6:]).max()
    assert np.abs(actuator_generalised_force(TREE, Q, [off])[3:6]).max() > 1e-2


FEET = [Contact(f"link_{i}", (0.1, 0.0, -0.2)) for i in (2, 4, 6, 8)]


def test_contact_map_is_that_of_the_notes() -> None:
    """(3.119): total force and moment of forces at points."""
    points, forces = rng.normal(size=(2, 4, 3))
    found = contact_map(points) @ forces.ravel()
    np.testing.assert_allclose(found[:3], forces.sum(axis=0), atol=1e-14)
    np.testing.assert_allclose(found[3:], np.cross(points, forces).sum(axis=0), atol=1e-14)


def test_torques_act_as_if_the_virtual_forces_pulled_on_a_weightless_robot() -> None:
    """(3.115)-(3.120), by ABA with the contact forces as they come out."""
    virtual = virtual_model_torques(TREE, Q, FEET, LOADS)
    assert np.abs(virtual.unbalanced).max() < 1e-10
    tau = np.concatenate([np.zeros(6), virtual.torques])
    reactions = [
        Load(foot.frame, -force, point=foot.position)
        for foot, force in zip(FEET, virtual.contact_forces, strict=True)
    ]
    still, data = np.zeros(TREE.nv), TREE.createData()
    found = pin.aba(TREE, data, Q, still, tau, joint_forces(TREE, Q, reactions))
    weightless = TREE.copy()
    weightless.gravity.setZero()
    pulled = joint_forces(TREE, Q, LOADS)
    expected = pin.aba(weightless, weightless.createData(), Q, still, still, pulled)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_contact_forces_are_the_least_that_balance_the_load() -> None:
    """(3.119) takes the pseudo-inverse: no internal forces between the feet."""
    virtual = virtual_model_torques(TREE, Q, FEET)
    J_b = contact_jacobian(TREE, Q, FEET)[:, :6]
    internal = np.linalg.svd(J_b)[0][:, 6:]
    assert np.abs(internal.T @ virtual.contact_forces.ravel()).max() < 1e-10
    mass = pin.computeTotalMass(TREE)
    np.testing.assert_allclose(
        virtual.contact_forces.sum(axis=0), mass * TREE.gravity.linear, atol=1e-9
    )


def test_two_feet_leave_one_direction_unbalanced() -> None:
    """2.10.4: nothing holds the robot about the line through its feet."""
    virtual = virtual_model_torques(TREE, Q, FEET[:2], LOADS)
    a, b = (frame_placement(TREE, Q, foot.frame).act(np.array(foot.position)) for foot in FEET[:2])
    base = frame_placement(TREE, Q, "link_0").translation
    moment = virtual.unbalanced[3:] - np.cross(a - base, virtual.unbalanced[:3])
    assert np.abs(virtual.unbalanced).max() > 0.1
    assert abs(moment @ (b - a)) > 0.1


def test_wrong_input_is_named() -> None:
    with pytest.raises(InputError, match="needs point contacts, at least one and no face"):
        virtual_model_torques(TREE, Q, [Contact("link_2", face=True)])
    with pytest.raises(InputError, match=r"force on 'link_3' has shape \(2,\)"):
        external_generalised_force(TREE, Q, [Load("link_3", [1.0, 2.0])])
    with pytest.raises(InputError, match=r"points has shape \(3,\); expected \(n, 3\)"):
        contact_map(np.zeros(3))
