"""Task-space control of arms, RobotDynamicsETH 3.9.1 and 3.9.3, against forward dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.dynamics.inverse_kinematics import rotation_error
from balance.dynamics.joint_control import gains_of_oscillator
from balance.dynamics.kinematics import frame_placement
from balance.dynamics.notes_arms import END, planar_arm
from balance.dynamics.operational_space import POSITION, end_effector_dynamics
from balance.dynamics.task_space_control import (
    MotionTask,
    compensated_task_space_torques,
    equal_priority_acceleration,
    prioritised_acceleration,
    small_rotation_error,
    task_acceleration,
    task_space_torques,
)
from balance.errors import InputError

SAME = 1e-8
PLANE = ("x", "z")


def panda() -> pin.Model:
    """An arm of seven joints; Pinocchio's own sample of six with one more."""
    model = pin.buildSampleModelManipulator()
    wrist = model.addJoint(model.njoints - 1, pin.JointModelRX(), pin.SE3.Random(), "seventh")
    model.appendBodyToJoint(wrist, pin.Inertia.FromBox(0.5, 0.1, 0.1, 0.1), pin.SE3.Identity())
    model.addBodyFrame("tip", wrist, pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0])), 0)
    return model


pin.seed(7)
REDUNDANT = panda()


def draw(model: pin.Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1.0, 1.0, model.nv))
    return q, rng.normal(size=model.nv)


def tip_acceleration(model: pin.Model, q, v, torques, frame: str) -> np.ndarray:
    data, index = model.createData(), model.getFrameId(frame)
    a = pin.aba(model, data, q, v, torques)
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    axes = pin.LOCAL_WORLD_ALIGNED
    return pin.getFrameClassicalAcceleration(model, data, index, axes).vector


@pytest.mark.parametrize("seed", range(5))
def test_both_forms_of_the_torques_give_the_wanted_acceleration(seed: int) -> None:
    """(3.92) and (3.95) on a redundant arm; they differ by torques that the tip does not feel."""
    q, v = draw(REDUNDANT, seed)
    dynamics = end_effector_dynamics(REDUNDANT, q, v, "tip")
    wanted = np.random.default_rng(seed).normal(size=6)
    plain = task_space_torques(dynamics, wanted)
    compensated = compensated_task_space_torques(dynamics, wanted)
    for torques in (plain, compensated):
        found = tip_acceleration(REDUNDANT, q, v, torques, "tip")
        np.testing.assert_allclose(found, wanted, atol=SAME)
    difference = dynamics.null_space_torques(dynamics.b + dynamics.g)
    np.testing.assert_allclose(compensated - plain, difference, atol=1e-9)
    assert np.abs(difference).max() > 1e-3


def test_both_forms_are_equal_for_a_square_jacobian() -> None:
    """(3.92)-(3.95): the notes' own planar arm in all its three directions."""
    arm, q, v = planar_arm(), np.array([0.3, 0.9, -0.5]), np.array([1.0, -0.4, 0.6])
    dynamics = end_effector_dynamics(arm, q, v, END, rows=("x", "z", "ry"))
    wanted = np.array([0.4, -0.2, 1.0])
    np.testing.assert_allclose(
        task_space_torques(dynamics, wanted),
        compensated_task_space_torques(dynamics, wanted),
        atol=1e-10,
    )


def test_redundant_arm_at_rest_stays_at_rest_under_the_compensated_form_only() -> None:
    q, v = draw(REDUNDANT, 9)[0], np.zeros(REDUNDANT.nv)
    dynamics = end_effector_dynamics(REDUNDANT, q, v, "tip")
    plain, compensated = (
        pin.aba(REDUNDANT, REDUNDANT.createData(), q, v, form(dynamics, np.zeros(6)))
        for form in (task_space_torques, compensated_task_space_torques)
    )
    assert np.abs(compensated).max() < SAME
    assert np.abs(plain).max() > 1e-2


def planar_tasks(arm: pin.Model, q: np.ndarray, v: np.ndarray) -> list[MotionTask]:
    wanted = {END: np.array([0.5, -1.0]), "link_3": np.array([-0.3, 0.8])}
    tasks = []
    for frame, acceleration in wanted.items():
        dynamics = end_effector_dynamics(arm, q, v, frame, PLANE)
        tasks.append(MotionTask(dynamics.J, acceleration, dynamics.drift))
    return tasks


def test_tasks_that_can_all_be_met_are_met_in_either_form() -> None:
    """(3.80)-(3.82), the drift included: forward kinematics of ddq has the wanted accelerations."""
    arm, q, v = planar_arm((1.0, 0.8, 0.6, 0.5)), np.array([0.2, 0.7, 0.4, 0.9]), np.ones(4)
    tasks = planar_tasks(arm, q, v)
    for ddq in (equal_priority_acceleration(tasks), prioritised_acceleration(tasks)):
        data = arm.createData()
        pin.forwardKinematics(arm, data, q, v, ddq)
        pin.updateFramePlacements(arm, data)
        for frame, task in zip((END, "link_3"), tasks, strict=True):
            index, axes = arm.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED
            found = pin.getFrameClassicalAcceleration(arm, data, index, axes).linear[[0, 2]]
            np.testing.assert_allclose(found, task.acceleration, atol=1e-11)


def test_first_of_two_tasks_at_odds_is_met_and_the_second_nearly() -> None:
    """(3.82) on three joints; equal priority (3.81) shares the error instead."""
    arm, q, v = planar_arm(), np.array([0.2, 0.7, 0.4]), np.ones(3)
    tasks = planar_tasks(arm, q, v)

    def error(ddq: np.ndarray, task: MotionTask) -> float:
        return float(np.linalg.norm(task.J @ ddq + task.drift - task.acceleration))

    first, equal = prioritised_acceleration(tasks), equal_priority_acceleration(tasks)
    assert error(first, tasks[0]) < 1e-11 < 1e-3 < error(first, tasks[1])
    assert error(equal, tasks[0]) > 1e-3
    # Nothing along the freedom that the first task leaves brings the second nearer.
    free = np.linalg.svd(tasks[0].J)[2][2]
    assert all(error(first + s * free, tasks[1]) > error(first, tasks[1]) for s in (-1e-3, 1e-3))


def test_feedback_closes_the_error_like_an_oscillator() -> None:
    """(3.90) with (3.89): a planar arm reaches its target, critically damped, in a simulation."""
    arm = planar_arm()
    q, v = np.array([0.3, 0.9, -0.5]), np.zeros(3)
    X_target = frame_placement(arm, np.array([0.5, 0.7, -0.2]), END)
    k_p, k_d = gains_of_oscillator(3.0, 1.0)
    start = frame_placement(arm, q, END).translation - X_target.translation
    rows, dt, data = [0, 2, 4], 5e-4, arm.createData()
    for _ in range(600):
        dynamics = end_effector_dynamics(arm, q, v, END, rows=("x", "z", "ry"))
        twist = np.zeros(6)
        twist[rows] = dynamics.J @ v
        wanted = task_acceleration(
            frame_placement(arm, q, END), X_target, twist, np.zeros(6), k_p, k_d
        )
        torques = compensated_task_space_torques(dynamics, wanted[rows])
        v = v + dt * pin.aba(arm, data, q, v, torques)
        q = q + dt * v
    left = frame_placement(arm, q, END).translation - X_target.translation
    omega_t = 6.0 * np.pi * 0.3
    expected = start * (1.0 + omega_t) * np.exp(-omega_t)
    np.testing.assert_allclose(left, expected, atol=1e-2 * np.abs(start).max())


@pytest.mark.parametrize("chart", ["euler_zyx", "quaternion", "rotation_vector", "rotation_matrix"])
def test_small_rotation_error_is_right_to_first_order(chart: str) -> None:
    """(3.91): half the angle, a quarter of the difference."""
    R = pin.exp3(np.array([0.3, -0.4, 0.6]))
    axis = np.array([0.6, 0.0, 0.8])

    def gap(angle: float) -> float:
        R_target = pin.exp3(angle * axis) @ R
        exact, _ = rotation_error(R, R_target)
        return float(np.linalg.norm(small_rotation_error(R, R_target, chart) - exact))

    assert gap(0.02) < 0.02**2
    if chart != "quaternion":  # whose error is of third order
        assert 3.5 < gap(0.02) / gap(0.01) < 8.5


def test_task_on_the_position_alone_leaves_the_rotation_free() -> None:
    q, v = draw(REDUNDANT, 4)
    dynamics = end_effector_dynamics(REDUNDANT, q, v, "tip", POSITION)
    assert dynamics.Lambda.shape == (3, 3) and dynamics.J.shape == (3, 7)
    wanted = np.array([0.3, -0.2, 0.5])
    found = tip_acceleration(REDUNDANT, q, v, task_space_torques(dynamics, wanted), "tip")
    np.testing.assert_allclose(found[:3], wanted, atol=SAME)


def test_wrong_input_is_named() -> None:
    X = pin.SE3.Identity()
    with pytest.raises(InputError, match="k_p is -1 and k_d 0"):
        task_acceleration(X, X, np.zeros(6), np.zeros(6), -1.0, 0.0)
    with pytest.raises(InputError, match=r"drift of a task has shape \(1,\)"):
        prioritised_acceleration([MotionTask(np.ones((2, 3)), np.zeros(2), np.zeros(1))])
