"""Gains and posture impedance mean the same on robots of any size."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.config import LAWS, GainsConfig, load_config, parse_config
from balance.config.laws import DEFAULT_GAINS
from balance.control.parts.gains import gain_matrices
from balance.control.parts.posture_impedance import PostureImpedance
from balance.control.parts.support import supporting_joints
from balance.robots import Robot

TABLE_1 = {
    "K_P": (6000.0, 2000.0, 4000.0),
    "K_D": (7.0, 1.0, 0.05),
    "K_R": (500.0, 400.0, 100.0),
    "D": (20.0, 20.0, 2.0),
}


def test_scaled_gains_keep_frequencies_in_units_of_the_fall(any_robot: Robot) -> None:
    """K_P T^2 / m, K_D T, K_R T^2 / (m z^2) and D T, with T = sqrt(z / g), are unchanged."""
    mass, height = 77.5, 0.945
    build = {"mass_kg": mass, "com_height_m": height}
    gains = GainsConfig.model_validate(TABLE_1 | {"designed_for": build})
    scaled = gain_matrices(gains, any_robot)
    m, z = any_robot.mass, any_robot.com()[2]
    T, T_0 = np.sqrt(z / 9.81), np.sqrt(height / 9.81)
    numbers = [(T**2 / m, T_0**2 / mass), (T, T_0)]
    numbers += [(T**2 / (m * z**2), T_0**2 / (mass * height**2)), (T, T_0)]
    for gain, table, (here, there) in zip(scaled, TABLE_1.values(), numbers, strict=True):
        np.testing.assert_allclose(here * gain, there * np.diag(table), rtol=1e-12)


def test_gains_without_a_build_are_taken_as_they_are(any_robot: Robot) -> None:
    gains = gain_matrices(GainsConfig.model_validate(TABLE_1), any_robot)
    for gain, table in zip(gains, TABLE_1.values(), strict=True):
        np.testing.assert_array_equal(gain, np.diag(table))


def test_default_gains_are_the_same_target_on_every_robot(any_robot: Robot) -> None:
    """With the joints locked, m e'' + m K_D e' + K_P e = 0, and I w' + D I w + K_R theta = 0."""
    K_P, K_D, K_R, D = gain_matrices(DEFAULT_GAINS, any_robot)
    omega = 2.0 * np.pi * 0.7 / np.sqrt(any_robot.com()[2])
    assert omega == pytest.approx(1.4 * np.sqrt(9.81 / any_robot.com()[2]), rel=0.01)
    np.testing.assert_allclose(K_P / any_robot.mass, omega**2 * np.eye(3), rtol=1e-9)
    np.testing.assert_allclose(K_D, 2.0 * omega * np.eye(3), rtol=1e-9)
    np.testing.assert_allclose(D, K_D, rtol=1e-12)
    data = any_robot.model.createData()
    pin.ccrba(any_robot.model, data, any_robot.q_nominal, np.zeros(any_robot.model.nv))
    expected = omega**2 * np.diag(data.Ig.inertia)
    np.testing.assert_allclose(np.diag(K_R), expected, rtol=1e-3)  # bases are not quite level


@pytest.mark.parametrize("law", LAWS.ready())
def test_every_law_has_the_same_default_gains(law: str) -> None:
    tree = load_config("toro_push").model_dump(mode="json", exclude_none=True)
    config = parse_config({**tree, "controller": {"law": law}}, "test")
    assert config.controller.gains == DEFAULT_GAINS


def test_posture_gains_are_per_unit_of_joint_inertia(any_robot: Robot) -> None:
    """Outside the legs each joint alone oscillates with the given frequency and damping ratio."""
    frequency, ratio = 0.8, 0.6
    posture = PostureImpedance(any_robot, frequency, ratio)
    model = any_robot.model
    inertia = np.diag(pin.crba(model, model.createData(), any_robot.q_nominal))[6:]
    free = np.setdiff1d(np.arange(model.nv - 6), supporting_joints(any_robot))
    omega = np.sqrt(posture.stiffness / inertia)[free]
    np.testing.assert_allclose(omega, 2.0 * np.pi * frequency, rtol=1e-12)
    np.testing.assert_allclose(
        posture.damping[free] / (2.0 * inertia[free] * omega), ratio, rtol=1e-12
    )


def test_posture_leaves_the_legs_to_the_law(any_robot: Robot) -> None:
    """The legs are the joints whose motion moves a sole when the base is held."""
    robot = any_robot
    data = robot.model.createData()
    moved = np.zeros(robot.model.nv - 6, dtype=bool)
    for sole in robot.soles:
        J = pin.computeFrameJacobian(robot.model, data, robot.q_nominal, sole.frame_id, pin.LOCAL)
        moved |= np.abs(J[:, 6:]).max(axis=0) > 1e-9
    posture = PostureImpedance(robot, 1.0, 1.0)
    np.testing.assert_array_equal(posture.stiffness == 0.0, moved)
    assert moved.sum() == 12


def test_posture_torque_is_a_spring_to_the_nominal_posture_and_a_damper(toro: Robot) -> None:
    posture = PostureImpedance(toro, 0.7, 0.7)
    rng = np.random.default_rng(12)
    offset, rates = rng.normal(size=(2, 27))
    torque = posture.torque(toro.q_nominal[7:] + offset, rates)
    np.testing.assert_allclose(
        torque, -posture.stiffness * offset - posture.damping * rates, rtol=1e-9, atol=1e-12
    )
    assert not posture.torque(toro.q_nominal[7:], np.zeros(27)).any()
    assert posture.torque(toro.q_nominal[7:], rates) @ rates == pytest.approx(
        -rates @ (posture.damping * rates)
    )
