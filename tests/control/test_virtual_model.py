"""Virtual model control against the principle of virtual work, link by link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from law_samples import contact_jacobian, law, spring_torque, strong, wrench_at_com
from numpy.typing import NDArray

from balance.control.parts.gains import velocity_gains
from balance.control.virtual_model import VirtualModelController
from balance.robots import Robot

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

SAME = 1e-9  # relative to the largest generalised force or moment
STATES = 20
K_P, K_D = np.diag([6000.0, 2000.0, 4000.0]), np.diag([7.0, 1.0, 0.05])
K_R, D = np.diag([500.0, 400.0, 100.0]), np.diag([20.0, 20.0, 2.0])


def virtual_model(robot: Robot, **controller: Any) -> VirtualModelController:
    keys = {f"controller__{key}": value for key, value in controller.items()}
    keys.setdefault("controller__contact_damping", 0)
    found = law("virtual_model", robot, **keys)
    assert isinstance(found, VirtualModelController)
    return found


def assert_same(actual: Array, expected: Array, tolerance: float = SAME) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def gravity_on_links(robot: Robot, q: Array) -> Array:
    """sum_i J_gi^T m_i g (nv,), one Jacobian per link's CoM."""
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    total = np.zeros(model.nv)
    for joint in range(1, model.njoints):
        body = model.inertias[joint]
        at_com = pin.SE3(np.eye(3), body.lever)
        J = pin.getFrameJacobian(model, data, joint, at_com, pin.LOCAL_WORLD_ALIGNED)
        total += J[:3].T @ (body.mass * np.array(model.gravity.linear))
    return total


def virtual_load(robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
    """J_v^T (F_v, tau_v) (nv,), springs and dampers to the nominal state, and (F_v, tau_v) (6,).

    They act at the point of the base that is at the CoM in the nominal posture.
    """
    model, data = robot.model, robot.model.createData()
    R_d = pin.Quaternion(robot.q_nominal[3:7]).matrix()
    X_BP = pin.SE3(np.eye(3), R_d.T @ (robot.com() - robot.q_nominal[:3]))
    pin.computeJointJacobians(model, data, q)
    J = pin.getFrameJacobian(model, data, 1, X_BP, pin.LOCAL_WORLD_ALIGNED)
    velocity = J @ v
    K, D_omega = velocity_gains(K_D, D, robot)
    force = -K_P @ ((data.oMi[1] * X_BP).translation - robot.com()) - K @ velocity[:3]
    spring = spring_torque(K_R, robot.q_nominal[3:7], q[3:7])
    load = np.concatenate([force, spring - D_omega @ velocity[3:]])
    return J.T @ load, load


def test_virtual_work_vanishes_for_all_displacements(any_robot: Robot, random_state: Draw) -> None:
    """(3.116)-(3.118) and (3.120): (0, tau) + gravity - virtual load + contacts = 0 in all rows.

    What the contacts cannot bear is missing in the rows of the base, and there only.
    """
    robot, rng = strong(any_robot), np.random.default_rng(70)
    controller = virtual_model(robot)
    for _ in range(STATES):
        q, v = random_state(robot, rng)
        output = controller.step(q, v, 0.0)
        work = gravity_on_links(robot, q) - virtual_load(robot, q, v)[0]
        work += contact_jacobian(robot, q).T @ output.wrenches.ravel()
        work[6:] += output.torques - controller.posture.torque(q[7:], v[6:])
        missing = np.zeros(robot.model.nv)
        missing[:6] = base_rows(robot, q, -output.residual)
        scale = np.abs(virtual_load(robot, q, v)[1]).max() + robot.mass * 9.81
        np.testing.assert_allclose(work, missing, rtol=0, atol=SAME * scale)


def base_rows(robot: Robot, q: Array, wrench: Array) -> Array:
    """A wrench at the CoM, world axes, as generalised force (6,) on the base's velocity."""
    R_WB = pin.Quaternion(q[3:7]).matrix()
    moment = wrench[3:] + np.cross(robot.com(q) - q[:3], wrench[:3])
    return np.concatenate([R_WB.T @ wrench[:3], R_WB.T @ moment])


def test_any_posture_of_the_arms_is_held_with_the_base_in_place(toro: Robot) -> None:
    """At rest, with base and legs as desired, the virtual springs are slack: gravity alone."""
    rng, zero = np.random.default_rng(71), np.zeros(33)
    controller = virtual_model(toro)
    arms = [i for i, name in enumerate(toro.joint_names) if "shoulder" in name or "elbow" in name]
    for _ in range(STATES):
        q = toro.q_nominal.copy()
        q[7:][arms] += rng.uniform(-0.15, 0.15, len(arms))
        output = controller.step(q, zero, 0.0)
        held = contact_jacobian(toro, q).T @ output.wrenches.ravel()
        held[6:] += output.torques - controller.posture.torque(q[7:], zero[6:])
        assert_same(held, pin.rnea(toro.model, toro.model.createData(), q, zero, zero))


def test_rigid_motion_is_met_as_by_the_law_of_ott(any_robot: Robot, random_state: Draw) -> None:
    """In the nominal posture the held point is the CoM, and the two laws want the same wrench."""
    robot, rng = any_robot, np.random.default_rng(72)
    controllers = [law(case, robot) for case in ("virtual_model", "ott2011")]
    for _ in range(STATES):
        q, v = random_state(robot, rng)
        q[7:], v[6:] = robot.q_nominal[7:], 0.0
        outputs = [controller.step(q, v, 0.0) for controller in controllers]
        one, other = (wrench_at_com(robot, q, o.wrenches) + o.residual for o in outputs)
        assert_same(one, other)


def test_springs_and_dampers_are_slack_on_a_moving_setpoint(toro: Robot) -> None:
    """A robot that moves and turns rigidly with its setpoint is asked for its weight alone."""
    move = {"time_s": 0.0, "duration_s": 1.0, "com_m": [0.02, 0.03, -0.01]}
    controller = virtual_model(toro, setpoints=[move | {"base_rpy_rad": [0.1, 0.2, -0.3]}])
    desired = controller.path.at(0.4)
    q, v = toro.q_nominal.copy(), np.zeros(33)
    q[3:7] = desired.quaternion
    q[:3] += desired.com - toro.com(q)
    omega = desired.angular_velocity
    v[:3] = desired.rotation.T @ (desired.com_velocity + np.cross(omega, q[:3] - desired.com))
    v[3:6] = desired.rotation.T @ omega
    output = controller.step(q, v, 0.4)
    total = wrench_at_com(toro, q, output.wrenches) + output.residual
    assert np.linalg.norm(omega) > 0.1
    assert_same(total, toro.mass * 9.81 * np.array([0, 0, 1.0, 0, 0, 0]))
