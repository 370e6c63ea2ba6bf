"""Inverse kinematics with priorities, contacts, the transpose; RobotDynamicsETH 2.9.3, 2.10.5."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.dynamics.constraints import Contact
from balance.dynamics.inverse_kinematics import (
    Target,
    inverse_kinematics,
    transpose_kinematics,
)
from balance.dynamics.kinematics import frame_placement, geometric_jacobian
from balance.dynamics.notes_arms import END, planar_arm
from balance.dynamics.prioritised_kinematics import prioritised_kinematics
from balance.errors import InputError
from balance.robots import load_robot

REACHED = 1e-9
ARM = planar_arm((1.0, 1.0, 1.0, 1.0))
BENT = np.array([0.3, 0.8, 0.5, 0.6])


def position(model: pin.Model, q: np.ndarray, frame: str) -> np.ndarray:
    return frame_placement(model, q, frame).translation


def test_two_targets_that_can_both_be_met_are() -> None:
    """Four joints: two for the tip, two for where the elbow is."""
    wanted = np.array([0.5, 1.1, 0.9, -0.3])
    targets = [Target(name, position(ARM, wanted, name)) for name in (END, "link_3")]
    solution = prioritised_kinematics(ARM, BENT, targets)
    assert solution.converged and solution.settled
    for target in targets:
        np.testing.assert_allclose(
            position(ARM, solution.q, target.frame), target.position, atol=REACHED
        )


def test_first_target_is_met_and_the_second_as_well_as_that_allows() -> None:
    """At the end no motion within the first task brings the second nearer: its gradient is zero."""
    tip = Target(END, position(ARM, np.array([0.5, 1.1, 0.9, -0.3]), END))
    elbow = Target("link_3", [-3.0, 0.0, 1.0])  # out of reach
    solution = prioritised_kinematics(ARM, BENT, [tip, elbow], tolerance=1e-6, max_iterations=1000)
    assert solution.settled and solution.reached == (True, False) and not solution.converged
    J_tip = geometric_jacobian(ARM, solution.q, END)[[0, 2]]
    J_elbow = geometric_jacobian(ARM, solution.q, "link_3")[[0, 2]]
    error = (elbow.position - position(ARM, solution.q, "link_3"))[[0, 2]]
    free = np.linalg.svd(J_tip)[2][2:]
    assert np.abs(free @ J_elbow.T @ error).max() < 1e-5
    assert solution.errors[1] == pytest.approx(np.linalg.norm(error), rel=1e-12)


def test_order_of_the_targets_decides_which_one_is_met() -> None:
    tip = Target(END, [0.5, 0.0, 3.0])
    elbow = Target("link_3", [1.9, 0.0, 0.8])
    settings = {"tolerance": 1e-6, "max_iterations": 1000}
    by_tip = prioritised_kinematics(ARM, BENT, [tip, elbow], **settings)
    by_elbow = prioritised_kinematics(ARM, BENT, [elbow, tip], **settings)
    assert by_tip.reached == (True, False) and by_elbow.reached == (True, False)


def test_humanoid_reaches_and_leans_with_its_feet_in_place() -> None:
    """2.10.5: both soles stay, the hand goes first, the CoM's carrier (the base) second."""
    robot = load_robot("talos")
    model, q = robot.model, robot.q_nominal
    contacts = [Contact(s.frame, tuple(s.placement.translation), face=True) for s in robot.soles]
    hand, base = "gripper_left_base_link", "base_link"
    targets = [
        Target(hand, position(model, q, hand) + np.array([0.1, 0.05, 0.15])),
        Target(base, position(model, q, base) + np.array([0.03, 0.02, -0.05])),
    ]
    solution = prioritised_kinematics(model, q, targets, contacts)
    assert solution.converged
    assert len(solution.path) < 20
    for contact in contacts:
        here, there = (frame_placement(model, p, contact.frame) for p in (q, solution.q))
        assert np.abs(pin.log6(here.actInv(there)).vector).max() < REACHED


def test_point_contacts_may_turn_and_faces_may_not() -> None:
    robot = load_robot("talos")
    model, q = robot.model, robot.q_nominal
    foot = robot.soles[0]
    tilted = frame_placement(model, q, foot.frame)
    target = Target(foot.frame, rotation=tilted.rotation @ pin.exp3(np.array([0.0, 0.1, 0.0])))
    by_point = prioritised_kinematics(model, q, [target], [Contact(foot.frame)])
    by_face = prioritised_kinematics(model, q, [target], [Contact(foot.frame, face=True)])
    assert by_point.converged
    np.testing.assert_allclose(
        position(model, by_point.q, foot.frame), tilted.translation, atol=REACHED
    )
    assert by_face.settled and not by_face.converged
    assert by_face.errors[0] == pytest.approx(0.1, abs=1e-9)


def test_transpose_arrives_without_inverting_anything() -> None:
    """(2.231), also from a stretched arm, where the pseudo-inverse has nothing to invert."""
    target = Target(END, [1.2, 0.0, 2.9])
    solution = transpose_kinematics(ARM, np.array([0.2, 0.0, 0.0, 0.0]), target)
    assert solution.converged
    np.testing.assert_allclose(position(ARM, solution.q, END), target.position, atol=1e-6)


def test_transpose_with_a_small_step_never_moves_away() -> None:
    target = Target(END, [1.2, 0.0, 2.9])
    solution = transpose_kinematics(ARM, BENT, target, step=0.01, max_iterations=300)
    gaps = [np.linalg.norm(position(ARM, q, END) - target.position) for q in solution.path]
    assert (np.diff(gaps) < 0.0).all()


def test_transpose_goes_where_the_pseudo_inverse_goes() -> None:
    target = Target(END, position(ARM, BENT + 0.05, END))
    slow = transpose_kinematics(ARM, BENT, target, tolerance=1e-9, max_iterations=20000)
    fast = inverse_kinematics(ARM, BENT, target)
    assert slow.converged and fast.converged
    assert slow.iterations > 5 * fast.iterations
    # To first order both move within the range of J^T.
    assert np.linalg.norm(slow.q - fast.q) < 0.05 * np.linalg.norm(fast.q - BENT)


def test_wrong_input_is_named() -> None:
    target = Target(END, [1.0, 0.0, 2.0])
    with pytest.raises(InputError, match="list of targets is empty"):
        prioritised_kinematics(ARM, BENT, [])
    with pytest.raises(InputError, match="tolerance is 0"):
        prioritised_kinematics(ARM, BENT, [target], tolerance=0)
    with pytest.raises(InputError, match="step is -1; it must be positive"):
        transpose_kinematics(ARM, BENT, target, step=-1)
