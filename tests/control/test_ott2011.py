"""The law of Ott et al. against the model (35) of Garofalo2015, at random states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from law_samples import contact_jacobian, law, spring_torque, strong, wrench_at_com
from numpy.typing import NDArray

from balance.control.ott2011 import OttController
from balance.control.parts.gains import velocity_gains
from balance.control.parts.output import ControlOutput
from balance.dynamics.ott_model import ott_model
from balance.errors import ConfigError
from balance.robots import Robot

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

SAME = 1e-9  # relative to the largest torque, force or moment
STATES = 20
K_P, K_D = np.diag([6000.0, 2000.0, 4000.0]), np.diag([7.0, 1.0, 0.05])
K_R, D = np.diag([500.0, 400.0, 100.0]), np.diag([20.0, 20.0, 2.0])


def ott(robot: Robot, **controller: Any) -> OttController:
    keys = {f"controller__{key}": value for key, value in controller.items()}
    keys.setdefault("controller__contact_damping", 0)
    found = law("ott2011", robot, **keys)
    assert isinstance(found, OttController)
    return found


def assert_same(actual: Array, expected: Array, tolerance: float = SAME) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def wanted(robot: Robot, q: Array, output: ControlOutput) -> Array:
    return wrench_at_com(robot, q, output.wrenches) + output.residual


def test_torques_are_those_of_the_model_35(any_robot: Robot, random_state: Draw) -> None:
    """tau = -sum_i J_iq_breve^T w_i, with J_i_breve by the explicit change of coordinates."""
    robot, rng = strong(any_robot), np.random.default_rng(60)
    controller = ott(robot)
    for _ in range(STATES):
        q, v = random_state(robot, rng)
        output = controller.step(q, v, 0.0)
        J_breve = contact_jacobian(robot, q) @ ott_model(robot.model, q, v).to_v
        posture = controller.posture.torque(q[7:], v[6:])
        assert_same(output.torques - posture, -J_breve[:, 6:].T @ output.wrenches.ravel())


def test_base_rows_of_the_model_35_are_the_wrench_at_the_com(
    any_robot: Robot, random_state: Draw
) -> None:
    """The identity (37), on which the law rests."""
    robot, rng = any_robot, np.random.default_rng(61)
    for _ in range(STATES):
        q, v = random_state(robot, rng)
        wrenches = rng.normal(size=(len(robot.soles), 6))
        J_breve = contact_jacobian(robot, q) @ ott_model(robot.model, q, v).to_v
        total = J_breve[:, :6].T @ wrenches.ravel()
        assert_same(total, wrench_at_com(robot, q, wrenches))


def test_wanted_wrench_is_36(any_robot: Robot, random_state: Draw) -> None:
    """With the velocities v_c of (35), which come from the change of coordinates."""
    robot, rng = any_robot, np.random.default_rng(62)
    controller = ott(robot)
    _, D_omega = velocity_gains(K_D, D, robot)
    for _ in range(STATES):
        q, v = random_state(robot, rng)
        velocity = ott_model(robot.model, q, v).v_c
        spring = spring_torque(K_R, robot.q_nominal[3:7], q[3:7])
        force = robot.mass * np.array([0.0, 0.0, 9.81]) - K_P @ (robot.com(q) - robot.com())
        force -= robot.mass * K_D @ velocity[:3]
        expected = np.concatenate([force, spring - D_omega @ velocity[3:6]])
        assert_same(wanted(robot, q, controller.step(q, v, 0.0)), expected)


def test_gains_on_velocities_keep_the_rates_of_those_on_momenta(any_robot: Robot) -> None:
    """m dv/dt = -K v and I domega/dt = -D' omega decay at the rates of K_D and D, any matrices."""
    robot, rng = any_robot, np.random.default_rng(63)
    data = robot.model.createData()
    pin.ccrba(robot.model, data, robot.q_nominal, np.zeros(robot.model.nv))
    inertia = np.array(data.Ig.inertia)
    for _ in range(STATES):
        roots = rng.normal(size=(2, 3, 3))
        rates_p, rates_l = roots @ roots.transpose(0, 2, 1) + 0.1 * np.eye(3)
        K, D_omega = velocity_gains(rates_p, rates_l, robot)
        np.testing.assert_allclose(K, robot.mass * rates_p, rtol=1e-12)
        np.testing.assert_allclose(D_omega, D_omega.T, atol=1e-12 * np.abs(D_omega).max())
        np.testing.assert_allclose(
            np.sort(np.linalg.eigvals(np.linalg.solve(inertia, D_omega)).real),
            np.linalg.eigvalsh(rates_l),
            rtol=1e-9,
        )


def test_native_gains_of_36_multiply_the_velocities_as_they_are(
    any_robot: Robot, random_state: Draw
) -> None:
    """K_D dx/dt and D omega, unscaled; with those that convert to the same, the law is the same."""
    robot, rng = any_robot, np.random.default_rng(65)
    native_K, native_D = np.diag([500.0, 80.0, 4.0]), np.diag([300.0, 250.0, 5.0]) + 2.0
    gains = {"K_D": [500, 80, 4], "D": native_D.tolist()}
    native, plain = ott(robot, velocity_gains=gains), ott(robot)
    m_K_D, D_omega = velocity_gains(K_D, D, robot)
    same = ott(robot, velocity_gains={"K_D": m_K_D.tolist(), "D": D_omega.tolist()})
    for _ in range(STATES):
        q, v = random_state(robot, rng)
        velocity = ott_model(robot.model, q, v).v_c
        damped, still = (native.step(q, speed, 0.0) for speed in (v, np.zeros_like(v)))
        found = wanted(robot, q, still) - wanted(robot, q, damped)
        expected = np.concatenate([native_K @ velocity[:3], native_D @ velocity[3:6]])
        np.testing.assert_allclose(found, expected, atol=1e-6)  # N, N m; of thousands
        assert_same(same.step(q, v, 0.0).torques, plain.step(q, v, 0.0).torques)


@pytest.mark.parametrize(
    ("gains", "told"),
    [
        ({"K_D": [500, 80, 4]}, "velocity_gains.D"),
        ({"K_D": [500, 80, -4], "D": 5}, "positive definite"),
        ({"K_P": 5, "K_D": 3, "D": 5}, "velocity_gains.K_P"),
    ],
)
def test_incomplete_native_gains_are_refused(toro: Robot, gains: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        ott(toro, velocity_gains=gains)


def test_rigid_motion_is_damped_as_by_the_momentum_law(toro: Robot, random_state: Draw) -> None:
    """With joints at rest and D a multiple of the unit matrix both laws ask for the same."""
    rng = np.random.default_rng(64)
    controllers = [law(case, toro, controller__gains__D=3.0) for case in ("ott2011", "momentum")]
    for _ in range(STATES):
        q, v = random_state(toro, rng)
        q[7:], v[6:] = toro.q_nominal[7:], 0.0
        # The locked inertia of the nominal posture is meant in world axes.
        q[3:7] = toro.q_nominal[3:7]
        one, other = (wanted(toro, q, controller.step(q, v, 0.0)) for controller in controllers)
        assert_same(one, other)


def test_moving_setpoint_is_fed_forward(toro: Robot) -> None:
    """Moving as the setpoint does, the robot is asked for weight and m times its acceleration."""
    move = {"time_s": 0.0, "duration_s": 1.0, "com_m": [0.02, 0.03, -0.01]}
    controller = ott(toro, setpoints=[move])
    desired = controller.path.at(0.3)
    q, v = toro.q_nominal.copy(), np.zeros(33)
    q[:3] += desired.com - toro.com()
    v[:3] = desired.com_velocity  # the base's axes are the world's in this posture
    output = controller.step(q, v, 0.3)
    g = np.array([0.0, 0.0, 9.81])
    expected = np.concatenate([toro.mass * (g + desired.com_acceleration), np.zeros(3)])
    assert np.linalg.norm(desired.com_acceleration) > 0.01
    assert_same(wanted(toro, q, output), expected)


def test_turning_setpoint_is_not_damped(toro: Robot) -> None:
    """A base that turns as desired feels neither spring nor damper."""
    move = {"time_s": 0.0, "duration_s": 1.0, "base_rpy_rad": [0.1, 0.2, -0.3]}
    controller = ott(toro, setpoints=[move])
    desired = controller.path.at(0.4)
    q, v = toro.q_nominal.copy(), np.zeros(33)
    q[3:7] = desired.quaternion
    v[3:6] = desired.rotation.T @ desired.angular_velocity
    torque = wanted(toro, q, controller.step(q, v, 0.4))[3:]
    assert np.linalg.norm(desired.angular_velocity) > 0.1
    np.testing.assert_allclose(torque, 0.0, atol=SAME * 760.0)
