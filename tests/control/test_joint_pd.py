"""PD on every joint with gravity and contact forces, against recursive Newton-Euler."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from law_samples import contact_jacobian, law, strong, wrench_at_com
from numpy.typing import NDArray

from balance.config import load_config
from balance.control import make_controller
from balance.control.joint_pd import JointPDController
from balance.control.parts.posture_impedance import LARGEST, SLOWEST_S
from balance.control.parts.support import supporting_joints
from balance.errors import ConfigError
from balance.experiment import run
from balance.robots import Robot, load_robot
from balance.robots.stance import robot_of

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

SAME = 1e-9  # relative to the largest torque or force


def joint_pd(robot: Robot, **keys: object) -> JointPDController:
    changes = {"contact_damping": 0} | keys
    found = law(
        "joint_pd", robot, **{f"controller__{key}": value for key, value in changes.items()}
    )
    assert isinstance(found, JointPDController)
    return found


def test_torques_are_springs_dampers_gravity_and_contact_forces(
    any_robot: Robot, random_state: Draw
) -> None:
    """RobotDynamicsETH (3.74), with the contacts' part of the weight taken off."""
    robot, rng = strong(any_robot), np.random.default_rng(90)
    controller, nominal = joint_pd(robot), any_robot.q_nominal[7:]
    k_p, k_d = controller.posture.stiffness, controller.posture.damping
    assert (k_p > 0.0).all() and (k_d > 0.0).all()
    for _ in range(10):
        q, v = random_state(robot, rng)
        output = controller.step(q, v, 0.0)
        gravity = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q)[6:]
        held = (contact_jacobian(robot, q).T @ output.wrenches.ravel())[6:]
        expected = k_p * (nominal - q[7:]) - k_d * v[6:] + gravity - held
        size = np.abs(expected).max()
        np.testing.assert_allclose(output.torques, expected, rtol=0, atol=SAME * size)
        wanted = wrench_at_com(robot, q, output.wrenches) + output.residual
        weight = robot.mass * 9.81
        np.testing.assert_allclose(wanted, weight * np.eye(6)[2], rtol=0, atol=SAME * weight)


def test_stiffness_turns_the_whole_robot_like_the_oscillator() -> None:
    """About the axis of both ankles, in pitch: 2 k_p = omega^2 I by the parallel axis theorem."""
    robot = load_robot("toro")
    controller = joint_pd(robot, bearing={"frequency_hz": 0.3, "damping_ratio": 0.5})
    data = robot.model.createData()
    pin.ccrba(robot.model, data, robot.q_nominal, np.zeros(robot.model.nv))
    joint = robot.model.getJointId("left_ankle_pitch")
    arm = robot.com() - data.oMi[joint].translation
    inertia = data.Ig.inertia[1, 1] + robot.mass * (arm[0] ** 2 + arm[2] ** 2)
    omega = 2.0 * np.pi * 0.3 / np.sqrt(robot.com()[2])
    index = robot.joint_names.index("left_ankle_pitch")
    assert 2.0 * controller.posture.stiffness[index] == pytest.approx(omega**2 * inertia, rel=1e-6)


@pytest.mark.parametrize("name", ["toro", "g1", "human"])
def test_a_foot_in_the_air_is_held_without_shaking(name: str) -> None:
    """Sampled every 2 ms, all joints of the robot in free fall, one at a time: modes decay."""
    config = load_config(f"{name}_push", {"controller.law": "joint_pd"})
    robot = robot_of(config)
    controller = make_controller(config, robot)
    assert isinstance(controller, JointPDController)
    M = pin.crba(robot.model, robot.model.createData(), robot.q_nominal)
    M = np.triu(M) + np.triu(M, 1).T
    for joint in supporting_joints(robot):
        force = np.zeros(robot.model.nv)
        force[6 + joint] = 1.0
        inertia = 1.0 / np.linalg.solve(M, force)[6 + joint]
        k = controller.posture.stiffness[joint] * SLOWEST_S**2 / inertia
        d = controller.posture.damping[joint] * SLOWEST_S / inertia
        assert max(k, d) < LARGEST * (1.0 + 1e-6)
        step = np.array([[1.0 - k, 1.0 - d], [-k, 1.0 - d]])  # of angle and rate times period
        assert np.abs(np.linalg.eigvals(step)).max() < 1.0


def test_a_setpoint_moves_the_joints_so_that_com_and_base_follow(toro: Robot) -> None:
    """To first order: half the way leaves a quarter of the error."""
    errors = []
    for scale in (1.0, 0.5):
        move = {
            "time_s": 0.0,
            "duration_s": 1.0,
            "com_m": (scale * np.array([0.02, 0.03, -0.02])).tolist(),
            "base_rpy_rad": [0.0, 0.1 * scale, 0.0],
        }
        controller = joint_pd(toro, setpoints=[move])
        controller.step(toro.q_nominal, np.zeros(toro.model.nv), 2.0)
        q = toro.q_nominal.copy()
        q[7:] = controller.posture.nominal
        data = toro.model.createData()
        pin.framesForwardKinematics(toro.model, data, q)
        left, right = (sole.pose(data) for sole in toro.soles)
        pin.framesForwardKinematics(toro.model, data, toro.q_nominal)
        back = toro.soles[0].pose(data) * left.inverse()  # the left sole where it stood
        com, base = back.act(toro.com(q)), back.rotation @ pin.Quaternion(q[3:7]).matrix()
        moved = com - toro.com() - np.array(move["com_m"])
        turned = pin.log3(base.T @ controller.path.at(2.0).rotation)
        apart = pin.log6((back * right).actInv(toro.soles[1].pose(data)))
        errors.append(np.linalg.norm(np.concatenate([moved, turned, apart.vector])))
    assert errors[0] < 0.03  # m and rad
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_a_small_robot_with_light_feet_recovers(engine: str) -> None:
    config = load_config(
        "g1_push", {"controller.law": "joint_pd", "plant.engine": engine, "duration_s": 2.5}
    )
    summary = run(config).summary()
    assert summary["outcome"] == "recovered", summary["cause"]


def test_wrong_keys_are_one_sentence() -> None:
    with pytest.raises(ConfigError, match=r"bearing\.frequency_hz"):
        load_config(
            "toro_push",
            {
                "controller.law": "joint_pd",
                "controller.bearing": {"frequency_hz": -1, "damping_ratio": 1},
            },
        )
