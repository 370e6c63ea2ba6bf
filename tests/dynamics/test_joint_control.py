"""Control in joint space, RobotDynamicsETH 3.8 and example 3.10.1, against forward dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.control.parts.priorities import Hierarchy, Level
from balance.dynamics.constraints import Contact
from balance.dynamics.contact import constrained_dynamics
from balance.dynamics.joint_control import (
    JointReference,
    gains_of_oscillator,
    gravity_compensated_torques,
    gravity_torques,
    inverse_dynamics_tasks,
    inverse_dynamics_torques,
    joint_feedback,
    oscillator_of_gains,
)
from balance.dynamics.notes_arms import planar_arm
from balance.errors import InputError
from balance.robots import load_robot

ARM = planar_arm()
Q, V = np.array([0.4, -0.8, 0.5]), np.array([0.3, -1.0, 0.7])
GOAL = JointReference(np.array([0.1, 0.3, -0.2]), np.array([0.2, 0.0, -0.1]))


def standing() -> tuple[pin.Model, np.ndarray, list[Contact]]:
    robot = load_robot("toro")
    contacts = [Contact(s.frame, tuple(s.placement.translation), face=True) for s in robot.soles]
    return robot.model, robot.q_nominal, contacts


def test_three_hertz_and_critical_damping_give_the_gains_of_the_notes() -> None:
    """(3.78)-(3.79); the notes round 355 to 350 and 37.7 to 37."""
    k_p, k_d = gains_of_oscillator(3.0, 1.0)
    assert k_p == pytest.approx((6.0 * np.pi) ** 2, rel=1e-14)
    assert k_p == pytest.approx(350.0, rel=0.02) and k_d == pytest.approx(37.0, rel=0.02)
    assert oscillator_of_gains(k_p, k_d) == pytest.approx((3.0, 1.0), rel=1e-14)
    assert oscillator_of_gains(350.0, 37.0) == pytest.approx((2.98, 0.989), abs=5e-3)


def settle(torques) -> tuple[np.ndarray, np.ndarray]:
    """Where the arm comes to rest, by integrating its forward dynamics."""
    q, v, data = Q.copy(), np.zeros(3), ARM.createData()
    for _ in range(6000):
        v = v + 1e-3 * pin.aba(ARM, data, q, v, torques(q, v))
        q = q + 1e-3 * v
    return q, v


def test_impedance_alone_sags_by_gravity_over_stiffness_and_compensation_does_not() -> None:
    """(3.73)-(3.74), in a simulation."""
    goal, k_p, k_d = JointReference(GOAL.q), 400.0, 60.0
    q, v = settle(lambda q, v: joint_feedback(ARM, q, v, goal, k_p, k_d))
    assert np.abs(v).max() < 1e-5
    np.testing.assert_allclose(k_p * (goal.q - q), gravity_torques(ARM, q), rtol=1e-5)
    q, v = settle(lambda q, v: gravity_compensated_torques(ARM, q, v, goal, k_p, k_d))
    np.testing.assert_allclose(q, goal.q, atol=1e-5)


def test_inverse_dynamics_makes_every_joint_an_oscillator_of_its_own() -> None:
    """(3.75)-(3.77): ddq = ddq*, whatever the arm's inertia."""
    wanted = joint_feedback(ARM, Q, V, GOAL, *gains_of_oscillator(3.0, 1.0))
    torques = inverse_dynamics_torques(ARM, Q, V, wanted)
    found = pin.aba(ARM, ARM.createData(), Q, V, torques)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_humanoid_stands_still_under_its_gravity_torques() -> None:
    model, q, contacts = standing()
    torques = gravity_torques(model, q, contacts)
    rest = constrained_dynamics(model, q, np.zeros(model.nv), torques, contacts)
    assert np.abs(rest.acceleration).max() < 1e-8
    at_home = gravity_compensated_torques(
        model, q, np.zeros(model.nv), JointReference(q), 100.0, 10.0, contacts
    )
    np.testing.assert_allclose(at_home, torques, atol=1e-12)


def test_humanoid_joints_accelerate_as_wanted_where_the_contacts_leave_them_free() -> None:
    """The arms do exactly; the legs, which close a loop through the ground, as well as they can."""
    model, q, contacts = standing()
    rng = np.random.default_rng(3)
    wanted = rng.normal(size=model.nv - 6)
    torques = inverse_dynamics_torques(model, q, np.zeros(model.nv), wanted, contacts)
    moved = constrained_dynamics(model, q, np.zeros(model.nv), torques, contacts)
    free = np.abs(moved.support.J_c[:, 6:]).max(axis=0) == 0.0
    assert 0 < free.sum() < model.nv - 6
    np.testing.assert_allclose(moved.acceleration[6:][free], wanted[free], atol=1e-7)
    # Nothing nearer is allowed: the rest of the error is orthogonal to all motions of the robot.
    error = moved.acceleration[6:] - wanted
    motions = np.linalg.svd(moved.support.J_c)[2][moved.support.rank :]
    assert np.abs(motions[:, 6:] @ error).max() < 1e-7


def test_example_3_10_1_is_inverse_dynamics() -> None:
    """(3.113)-(3.114) as prioritised least squares, against RNEA."""
    wanted = np.array([1.0, -2.0, 0.5])
    tasks = inverse_dynamics_tasks(ARM, Q, V, wanted)
    x = Hierarchy((Level(A, b) for A, b in tasks), 6).project()
    np.testing.assert_allclose(x[:3], wanted, atol=1e-12)
    np.testing.assert_allclose(x[3:], pin.rnea(ARM, ARM.createData(), Q, V, wanted), rtol=1e-11)


def test_feedback_takes_the_short_way_round() -> None:
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelRUBZ(), pin.SE3.Identity(), "wheel")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    at, to = (np.array([np.cos(a), np.sin(a)]) for a in (3.0, -3.0))
    found = joint_feedback(model, at, [0.0], JointReference(to), 1.0, 0.0)
    assert found[0] == pytest.approx(2.0 * np.pi - 6.0, rel=1e-12)


def test_wrong_input_is_named() -> None:
    with pytest.raises(InputError, match="frequency of 0 Hz"):
        gains_of_oscillator(0.0, 1.0)
    with pytest.raises(InputError, match="expected k_p > 0"):
        oscillator_of_gains(0.0, 1.0)
    with pytest.raises(InputError, match=r"k_p is \[1\.0, 2\.0\]; expected one number or 3"):
        joint_feedback(ARM, Q, V, GOAL, [1.0, 2.0], 1.0)
    with pytest.raises(InputError, match="fixed base, which needs no contacts"):
        gravity_torques(ARM, Q, [Contact("end")])
    model, q, _ = standing()
    with pytest.raises(InputError, match="floating base or a free object"):
        inverse_dynamics_tasks(model, q, np.zeros(model.nv), np.zeros(model.nv))
