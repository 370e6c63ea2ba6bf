"""Tasks against the accelerations that Pinocchio finds for an arbitrary dv/dt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import SetpointConfig
from balance.config.tasks import FrameTaskConfig
from balance.control.parts.frame_task import FrameTask
from balance.control.parts.setpoints import Desired, SetpointPath
from balance.control.parts.task_stack import TaskStack
from balance.control.parts.tasks import (
    BaseTask,
    ComTask,
    MomentumTask,
    PostureTask,
    Task,
)
from balance.control.parts.whole_body import BodyView, WholeBody
from balance.errors import FrameError
from balance.robots import Robot, load_robot

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]
Case = tuple[BodyView, Desired, Array]

SAME = 1e-9  # relative to the largest force or moment
K_P, K_D = np.diag([6000.0, 2000.0, 4000.0]), np.diag([7.0, 1.0, 0.05])
K_R, D = np.diag([500.0, 400.0, 100.0]), np.diag([20.0, 20.0, 2.0])
MOVE = SetpointConfig(
    time_s=0.0, duration_s=1.0, com_m=(0.02, 0.03, -0.01), base_rpy_rad=(0.1, 0.2, -0.3)
)


@pytest.fixture(scope="module", params=["toro", "talos"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return load_robot(request.param)


def case(robot: Robot, draw: Draw, seed: int) -> Case:
    """A robot off its path while that moves, and an acceleration dv/dt of no particular kind."""
    rng = np.random.default_rng(seed)
    q, v = draw(robot, rng)
    body = WholeBody(robot).at(q, v)
    R_WB = pin.Quaternion(robot.q_nominal[3:7]).matrix()
    desired = SetpointPath(robot.com(), R_WB, [MOVE]).at(0.4)
    return body, desired, rng.normal(size=robot.model.nv)


def missing(task: Task, case: Case) -> Array:
    """rows @ dv/dt - values: achieved less wanted, in N and N m."""
    body, desired, dv = case
    rows, values = np.zeros((task.size, len(dv))), np.zeros(task.size)
    task.prepare(rows)
    task.write(body, desired, rows, values)
    return np.asarray(rows @ dv - values)


def assert_same(actual: Array, expected: Array) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=SAME * np.abs(expected).max())


def accelerated(case: Case) -> pin.Data:
    """Pinocchio's kinematics at the state of ``case``, to second order."""
    body, _, dv = case
    data = body.model.createData()
    pin.forwardKinematics(body.model, data, body.q, body.v, dv)
    pin.centerOfMass(body.model, data, body.q, body.v, dv)
    pin.updateFramePlacements(body.model, data)
    return data


def spring_potential_torque(case: Case) -> Array:
    """Minus the gradient of V = 2 eps^T K_R eps by turns about the world's axes."""
    body, desired, _ = case
    R_d, R = desired.rotation, pin.Quaternion(body.q[3:7]).matrix()

    def potential(turn: Array) -> float:
        eps = pin.Quaternion(R_d.T @ pin.exp3(turn) @ R).vec()
        return float(2.0 * eps @ K_R @ eps)

    step = 1e-5
    return -np.array(
        [(potential(step * e) - potential(-step * e)) / (2.0 * step) for e in np.eye(3)]
    )


def test_com_task_measures_the_force_that_misses_the_target(
    robot: Robot, random_state: Draw
) -> None:
    here = case(robot, random_state, 70)
    _, desired, _ = here
    data = accelerated(here)
    wanted = robot.mass * desired.com_acceleration
    wanted -= K_P @ (data.com[0] - desired.com)
    wanted -= robot.mass * K_D @ (data.vcom[0] - desired.com_velocity)
    assert_same(missing(ComTask(K_P, K_D), here), robot.mass * data.acom[0] - wanted)


def test_base_task_measures_the_torque_that_misses_the_target(
    robot: Robot, random_state: Draw
) -> None:
    here = case(robot, random_state, 71)
    body, desired, _ = here
    data, base = accelerated(here), robot.model.getFrameId("root_joint")
    axes = pin.LOCAL_WORLD_ALIGNED
    omega = pin.getFrameVelocity(robot.model, data, base, axes).angular
    alpha = pin.getFrameAcceleration(robot.model, data, base, axes).angular
    pin.ccrba(robot.model, data, body.q, body.v)
    inertia = data.Ig.inertia
    wanted = inertia @ desired.angular_acceleration + spring_potential_torque(here)
    wanted -= D @ (omega - desired.angular_velocity)
    actual = missing(BaseTask(K_R, D), here)
    expected = inertia @ alpha - wanted
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_momentum_task_measures_what_misses_the_rate_of_the_momentum(
    robot: Robot, random_state: Draw
) -> None:
    """The rate of the desired angular momentum I_l omega_d is found by finite differences."""
    here = case(robot, random_state, 72)
    body, desired, dv = here
    model, data = robot.model, robot.model.createData()
    rate = pin.computeCentroidalMomentumTimeVariation(model, data, body.q, body.v, dv).vector
    com = missing(ComTask(K_P, K_D), here)

    def inertia(dt: float) -> Array:
        pin.ccrba(model, data, pin.integrate(model, body.q, dt * body.v), body.v)
        return np.array(data.Ig.inertia)

    step = 1e-5
    turning = (inertia(step) - inertia(-step)) / (2.0 * step) @ desired.angular_velocity
    wanted = turning + inertia(0.0) @ desired.angular_acceleration + spring_potential_torque(here)
    wanted -= D @ (data.hg.angular - inertia(0.0) @ desired.angular_velocity)
    expected = np.concatenate([com, rate[3:] - wanted])
    actual = missing(MomentumTask(robot, K_P, K_D, K_R, D), here)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_posture_task_is_a_damped_oscillator_of_each_joint(
    robot: Robot, random_state: Draw
) -> None:
    here = case(robot, random_state, 73)
    body, _, dv = here
    omega, ratio = 2.0 * np.pi * 1.3, 0.4
    wanted = omega**2 * (robot.q_nominal - body.q)[7:] - 2.0 * ratio * omega * body.v[6:]
    inertia = np.diag(pin.crba(robot.model, robot.model.createData(), robot.q_nominal))[6:].copy()
    legs = {
        model_joint
        for sole in robot.soles
        for model_joint in robot.model.supports[robot.model.frames[sole.frame_id].parentJoint]
    }
    inertia[[joint - 2 for joint in legs if joint > 1]] *= 0.01
    assert_same(missing(PostureTask(robot, 1.3, ratio), here), inertia * (dv[6:] - wanted))


@pytest.mark.parametrize(
    ("hold", "part"),
    [("pose", slice(0, 6)), ("position", slice(0, 3)), ("orientation", slice(3, 6))],
)
def test_frame_task_is_a_damped_oscillator_about_the_nominal_pose(
    toro: Robot, random_state: Draw, hold: Any, part: slice
) -> None:
    here = case(toro, random_state, 74)
    body, _, _ = here
    task = FrameTaskConfig(frame="left_hand", hold=hold, frequency_hz=2.0)
    data, frame = accelerated(here), toro.model.getFrameId("left_hand")
    axes = pin.LOCAL_WORLD_ALIGNED
    velocity = pin.getFrameVelocity(toro.model, data, frame, axes).vector
    acceleration = pin.getFrameClassicalAcceleration(toro.model, data, frame, axes).vector
    nominal = toro.model.createData()
    pin.framesForwardKinematics(toro.model, nominal, toro.q_nominal)
    target, actual = nominal.oMf[frame], data.oMf[frame]
    turn = pin.AngleAxis(target.rotation @ actual.rotation.T)
    error = np.concatenate([target.translation - actual.translation, turn.angle * turn.axis])
    omega = 2.0 * np.pi * 2.0
    difference = acceleration - omega**2 * error + 2.0 * 0.5 * omega * velocity
    expected = np.concatenate([toro.mass * difference[:3], body.locked_inertia @ difference[3:]])
    assert_same(missing(FrameTask(toro, "hand", task, 1.0, 0.5), here), expected[part])


def test_stack_scales_forces_and_moments_by_the_roots_of_their_weights(
    toro: Robot, random_state: Draw
) -> None:
    body, desired, dv = case(toro, random_state, 75)
    tasks = [MomentumTask(toro, K_P, K_D, K_R, D), PostureTask(toro, 1.0, 0.7)]
    stack = TaskStack(tasks, [4.0, 9.0], toro.model.nv, linear_weight=2.0, angular_weight=8.0)
    rows, values = stack.evaluate(body, desired)
    plain = [missing(task, (body, desired, dv)) for task in tasks]
    expected = np.concatenate(
        [np.sqrt(8.0) * plain[0][:3], np.sqrt(32.0) * plain[0][3:], np.sqrt(72.0) * plain[1]]
    )
    assert_same(rows @ dv - values, expected)
    assert [part.stop - part.start for part in stack.slices] == [6, toro.model.nv - 6]


def test_missing_frame_is_named_with_the_key(toro: Robot) -> None:
    with pytest.raises(FrameError, match=r"frames\.left.*no frame 'left_hnd'.*left_hand"):
        FrameTask(toro, "left", FrameTaskConfig(frame="left_hnd"), 1.0, 0.7)
