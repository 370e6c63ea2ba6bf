"""The momentum law against its plain formulas, with the mass matrix, at random states."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import ExperimentConfig, parse_config
from balance.control.momentum import MomentumController
from balance.control.parts.output import ControlOutput, ControlStatus
from balance.dynamics.decoupled import decoupled_dynamics
from balance.robots import Robot

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

SAME = 1e-9  # relative to the largest torque, force or moment
STATES = 20
GAINS: dict[str, list[float]] = {
    "K_P": [6000, 2000, 4000],
    "K_D": [7, 1, 0.05],
    "K_R": [500, 400, 100],
    "D": [20, 20, 2],
}


def config(robot: Robot, **law: Any) -> ExperimentConfig:
    controller = {"law": "momentum", "gains": GAINS, "contact_damping": 0} | law
    return parse_config({"robot": robot.name, "duration_s": 1.0, "controller": controller}, "test")


def strong(robot: Robot) -> Robot:
    """The same robot with joints that never reach their torque limit."""
    model = robot.model.copy()
    model.upperEffortLimit = np.full(model.nv, 1e9)
    model.lowerEffortLimit = -model.upperEffortLimit
    return dataclasses.replace(robot, model=model)


def sole_jacobians(robot: Robot, q: Array) -> list[Array]:
    """(6, nv) of each sole's frame in its own axes, from Pinocchio's frame Jacobians."""
    data = robot.model.createData()
    return [
        sole.placement.toActionMatrixInverse()
        @ pin.computeFrameJacobian(robot.model, data, q, sole.frame_id, pin.LOCAL)
        for sole in robot.soles
    ]


def wrench_at_com(robot: Robot, q: Array, wrenches: Array) -> Array:
    """Sum of the soles' wrenches at the CoM in world axes, by Pinocchio's spatial forces."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    X_GW = pin.SE3(np.eye(3), -robot.com(q))
    total = pin.Force.Zero()
    for sole, wrench in zip(robot.soles, wrenches, strict=True):
        total += (X_GW * sole.pose(data)).act(pin.Force(wrench))
    return np.array(total.vector)


def wanted_wrench(robot: Robot, q: Array, output: ControlOutput) -> Array:
    return wrench_at_com(robot, q, output.wrenches) + output.residual


def assert_same(actual: Array, expected: Array, tolerance: float = SAME) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def test_torques_are_those_of_the_decoupled_equations(any_robot: Robot, random_state: Draw) -> None:
    """tau = -sum_i (J_i A_Q^-1)_q^T w_i plus the posture's spring and damper."""
    robot, rng = strong(any_robot), np.random.default_rng(38)
    frequency, ratio = 1.3, 0.4
    impedance = {"frequency_hz": frequency, "damping_ratio": ratio}
    controller = MomentumController(config(robot, impedance=impedance), robot)
    legs = {j for sole in robot.soles for j in _joints_above(robot, sole.frame_id)}
    free = np.array([j not in legs for j in robot.joint_names])
    inertia = np.diag(pin.crba(robot.model, robot.model.createData(), robot.q_nominal))[6:] * free
    omega = 2.0 * np.pi * frequency
    for _ in range(STATES):
        q, v = random_state(robot, rng)
        output = controller.step(q, v, 0.0)
        A_Q_inv = decoupled_dynamics(robot.model, q, v).A_Q_inv
        expected = -inertia * (omega**2 * (q - robot.q_nominal)[7:] + 2.0 * ratio * omega * v[6:])
        for J, wrench in zip(sole_jacobians(robot, q), output.wrenches, strict=True):
            expected -= (J @ A_Q_inv)[:, 6:].T @ wrench
        assert_same(output.torques, expected)


def _joints_above(robot: Robot, frame: int) -> list[str]:
    model = robot.model
    return [model.names[j] for j in model.supports[model.frames[frame].parentJoint]]


def test_wanted_wrench_is_the_right_side_of_38(any_robot: Robot, random_state: Draw) -> None:
    """Weight, CoM spring, momentum dampers; the spring of the orientation has its own test."""
    robot, rng = any_robot, np.random.default_rng(39)
    controller = MomentumController(config(robot), robot)
    x_d, g = robot.com(), np.array([0.0, 0.0, 9.81])
    for _ in range(STATES):
        q, v = random_state(robot, rng)
        q[3:7] = robot.q_nominal[3:7]
        h = decoupled_dynamics(robot.model, q, v).h
        expected = np.concatenate(
            [
                robot.mass * g
                - np.diag(GAINS["K_P"]) @ (robot.com(q) - x_d)
                - np.diag(GAINS["K_D"]) @ h[:3],
                -np.diag(GAINS["D"]) @ h[3:],
            ]
        )
        assert_same(wanted_wrench(robot, q, controller.step(q, v, 0.0)), expected)


def test_orientation_torque_is_minus_the_gradient_of_its_potential(
    toro: Robot, random_state: Draw
) -> None:
    """V = 2 eps^T K_R eps, turned about the world's axes, with a desired orientation of its own.

    A torque with a potential is passive: it gives back no more energy than was put in.
    """
    rng = np.random.default_rng(40)
    root = rng.normal(size=(3, 3))
    K_R = root @ root.T + np.eye(3)
    K_R = 100.0 * (K_R + K_R.T)
    rpy = [0.4, -0.3, 0.9]
    turn = {"time_s": 0.0, "duration_s": 0.1, "base_rpy_rad": rpy}
    gains = GAINS | {"K_R": K_R.tolist()}
    controller = MomentumController(config(toro, gains=gains, setpoints=[turn]), toro)
    R_d = pin.Quaternion(toro.q_nominal[3:7]).matrix() @ pin.rpy.rpyToMatrix(*rpy)

    def potential(R: Array) -> float:
        eps = pin.Quaternion(R_d.T @ R).vec()
        return float(2.0 * eps @ K_R @ eps)

    step = 1e-5
    for _ in range(STATES):
        q, _ = random_state(toro, rng)
        R = pin.exp3(rng.uniform(-1.0, 1.0, 3)) @ R_d
        q[3:7] = pin.Quaternion(R).coeffs() * rng.choice([-1.0, 1.0])
        gradient = [
            (potential(pin.exp3(step * e) @ R) - potential(pin.exp3(-step * e) @ R)) / (2.0 * step)
            for e in np.eye(3)
        ]
        torque = wanted_wrench(toro, q, controller.step(q, np.zeros(33), 1.0))[3:]
        assert_same(torque, -np.array(gradient), 1e-7)


def test_rest_in_the_nominal_posture_holds_gravity(any_robot: Robot) -> None:
    """Joint torques and contact wrenches are an equilibrium by recursive Newton-Euler."""
    robot = any_robot
    zero = np.zeros(robot.model.nv)
    output = MomentumController(config(robot), robot).step(robot.q_nominal, zero, 0.0)
    held = np.concatenate([np.zeros(6), output.torques])
    for J, wrench in zip(sole_jacobians(robot, robot.q_nominal), output.wrenches, strict=True):
        held += J.T @ wrench
    gravity = pin.rnea(robot.model, robot.model.createData(), robot.q_nominal, zero, zero)
    assert_same(held, gravity)
    assert output.status is ControlStatus.OK


def test_moving_setpoint_is_fed_forward(toro: Robot) -> None:
    """On the path, at its speed, only weight and m times its acceleration are asked for."""
    move = {"time_s": 0.0, "duration_s": 1.0, "com_m": [0.02, 0.03, -0.01]}
    controller = MomentumController(config(toro, setpoints=[move]), toro)
    desired = controller.path.at(0.3)
    q = toro.q_nominal.copy()
    q[:3] += desired.com - toro.com()
    v = np.zeros(33)
    v[:3] = desired.com_velocity  # the base's axes are the world's in this posture
    wanted = wanted_wrench(toro, q, controller.step(q, v, 0.3))
    mass, g = toro.mass, np.array([0.0, 0.0, 9.81])
    expected = np.concatenate([mass * (g + desired.com_acceleration), np.zeros(3)])
    assert np.linalg.norm(desired.com_acceleration) > 0.01
    assert_same(wanted, expected)


def test_turning_setpoint_is_not_damped(toro: Robot) -> None:
    """A robot that turns rigidly as desired feels neither spring nor damper about the CoM."""
    move = {"time_s": 0.0, "duration_s": 1.0, "base_rpy_rad": [0.1, 0.2, -0.3]}
    controller = MomentumController(config(toro, setpoints=[move]), toro)
    desired = controller.path.at(0.4)
    q, v = toro.q_nominal.copy(), np.zeros(33)
    q[3:7] = pin.Quaternion(desired.rotation).coeffs()
    q[:3] += toro.com() - toro.com(q)
    # Turn about the CoM: the base moves with omega x (base - CoM), in its own axes.
    omega = desired.angular_velocity
    v[:3] = desired.rotation.T @ np.cross(omega, q[:3] - toro.com(q))
    v[3:6] = desired.rotation.T @ omega
    assert np.linalg.norm(omega) > 0.1
    wanted = wanted_wrench(toro, q, controller.step(q, v, 0.4))
    assert_same(wanted, toro.mass * 9.81 * np.array([0, 0, 1.0, 0, 0, 0]))


def test_torque_limits_are_kept_and_flagged(toro: Robot) -> None:
    q, v = toro.q_nominal.copy(), np.zeros(33)
    controller = MomentumController(config(toro), toro)
    assert not controller.step(q, v, 0.0).status & ControlStatus.TORQUE_LIMITED
    q[7 + toro.joint_names.index("neck_pitch")] = 1.5
    weak = dataclasses.replace(toro, impedance=toro.impedance.model_copy())
    stiff = config(toro, impedance={"frequency_hz": 50.0, "damping_ratio": 1.0})
    output = MomentumController(stiff, weak).step(q, v, 0.0)
    assert output.status & ControlStatus.TORQUE_LIMITED
    assert (np.abs(output.torques) <= toro.effort_limits).all()
    assert output.torques[toro.joint_names.index("neck_pitch")] == -8.4


def test_impossible_wrench_is_flagged_with_the_rows_that_limit_it(toro: Robot) -> None:
    q, v = toro.q_nominal.copy(), np.zeros(33)
    q[1] += 0.3
    controller = MomentumController(config(toro), toro)
    output = controller.step(q, v, 0.0)
    assert output.status & ControlStatus.WRENCH_LIMITED
    # Pulled to the right, it leans on the left edge of the left sole and unloads the right one.
    names = {controller.constraint_names[row] for row in output.active}
    assert {"left sole: CoP at its left edge", "right sole: normal force at its minimum"} <= names
    for rows, wrench in zip(
        np.split(controller.distribution.rows @ output.wrenches.ravel(), 2),
        output.wrenches,
        strict=True,
    ):
        assert rows.min() > -1e-9 * np.abs(wrench).max()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_state_that_is_not_finite_gets_the_last_torques_and_a_flag(toro: Robot, bad: float) -> None:
    controller = MomentumController(config(toro), toro)
    good = controller.step(toro.q_nominal, np.zeros(33), 0.0)
    for index in (0, 4, 20):
        q, v = toro.q_nominal.copy(), np.zeros(33)
        q[index] = bad
        assert_repeated(controller.step(q, v, 0.001), good)
        v[index] = bad
        assert_repeated(controller.step(toro.q_nominal, v, 0.001), good)
    again = controller.step(toro.q_nominal, np.zeros(33), 0.0)
    assert again.status is ControlStatus.OK
    np.testing.assert_array_equal(again.torques, good.torques)


def assert_repeated(output: ControlOutput, good: ControlOutput) -> None:
    assert output.status is ControlStatus.BAD_STATE
    np.testing.assert_array_equal(output.torques, good.torques)
    np.testing.assert_array_equal(output.wrenches, good.wrenches)
