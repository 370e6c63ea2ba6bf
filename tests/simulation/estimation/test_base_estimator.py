"""The estimate of a robot's base: exact kinematics, sensible trust, small errors in a push."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import ExperimentConfig, load_config
from balance.config.sensors import EstimatorConfig, SensorsConfig
from balance.errors import InputError
from balance.experiment import run
from balance.plots.estimation import estimation_figure
from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.robots.stance import robot_of
from balance.simulation.estimation.base_estimator import BaseEstimator, LegKinematics, foot_trust

Array = NDArray[np.float64]

OFFSET = pin.SE3(pin.rpy.rpyToMatrix(0.1, -0.2, 0.3), np.array([0.05, -0.02, 0.1]))


def test_leg_kinematics_is_that_of_the_whole_robot(any_robot: Robot) -> None:
    """Poses relative to the unit, wherever the base is; their Jacobian by differences."""
    robot, rng = any_robot, np.random.default_rng(0)
    model = robot.model
    q = pin.integrate(model, robot.q_nominal, 0.2 * rng.uniform(-1.0, 1.0, model.nv))
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    kinematics = LegKinematics(robot, OFFSET.inverse())
    poses, J = kinematics.at(q[7:])
    J = J.copy()
    unit = data.oMi[1] * OFFSET
    for sole, pose in zip(robot.soles, poses, strict=True):
        np.testing.assert_allclose(
            pose.homogeneous, unit.actInv(sole.pose(data)).homogeneous, atol=1e-12
        )
    change = 1e-6 * rng.normal(size=model.nv - 6)
    moved, _ = kinematics.at(q[7:] + change)
    for i, (before, after) in enumerate(zip(poses, moved, strict=True)):
        step = np.concatenate(
            [
                after.translation - before.translation,
                pin.log3(after.rotation @ before.rotation.T),
            ]
        )
        np.testing.assert_allclose(J[6 * i : 6 * i + 6] @ change, step, atol=1e-10)


@pytest.mark.parametrize("placement", [pin.SE3.Identity(), OFFSET], ids=["base", "beside it"])
def test_a_robot_at_rest_is_estimated_where_it_is(toro: Robot, placement: pin.SE3) -> None:
    estimator = BaseEstimator(toro, EstimatorConfig(), SensorsConfig(), placement, 0.001)
    gravity = pin.Quaternion(toro.q_nominal[3:7]).matrix() @ placement.rotation
    force = gravity.T @ np.array([0.0, 0.0, 9.81])
    wrenches = np.zeros((2, 6))
    wrenches[:, 2] = 0.5 * 9.81 * toro.mass
    for _ in range(20):
        pose, velocity = estimator.update(toro.q_nominal[7:], np.zeros(3), force, wrenches)
    np.testing.assert_allclose(pose, toro.q_nominal[:7], atol=1e-9)
    np.testing.assert_allclose(velocity, 0.0, atol=1e-9)


def test_estimate_follows_a_base_that_sinks_over_resting_feet(toro: Robot) -> None:
    """Hips, knees and ankles bend by 10 mm within 0.1 s; the inertial unit feels it."""
    dt, depth = 0.001, 0.01
    estimator = BaseEstimator(toro, EstimatorConfig(), SensorsConfig(), pin.SE3.Identity(), dt)
    wrenches = np.zeros((2, 6))
    wrenches[:, 2] = 0.5 * 9.81 * toro.mass
    com_xy, q, velocity = toro.com()[:2], toro.q_nominal, np.zeros(3)
    for step in range(101):
        height = toro.q_nominal[2] - 0.5 * depth * (1.0 - np.cos(0.01 * np.pi * step))
        before, slower = q, velocity
        q = toro.standing_posture(com_xy=com_xy, base_height=height)
        velocity = (q[:3] - before[:3]) / dt
        force = (velocity - slower) / dt + [0.0, 0.0, 9.81]
        pose, seen = estimator.update(q[7:], np.zeros(3), force, wrenches)
        assert seen[2] == pytest.approx(velocity[2], abs=2e-3)
    assert toro.q_nominal[2] - q[2] == pytest.approx(depth)
    np.testing.assert_allclose(pose[:3], q[:3], atol=5e-4)


def test_a_body_may_turn_about_a_point_but_not_about_a_sole() -> None:
    robot = robot_of(load_config("toro_points"))
    estimator = BaseEstimator(robot, EstimatorConfig(), SensorsConfig(), pin.SE3.Identity(), 0.01)
    wrenches = np.tile([0.0, 0.0, 0.3 * 9.81 * robot.mass, 0.0, 0.0, 0.0], (3, 1))
    noise = estimator.foot_noise(wrenches).reshape(3, 6)
    assert (noise[:2] < 0.01).all() and (noise[2, :3] < 0.01).all()
    assert (noise[2, 3:] > 0.5).all()
    wrenches[0, 3] = 0.022 * wrenches[0, 2]  # CoP 26 mm inside the toes' width, yet at an edge
    assert foot_trust(wrenches[0], robot.soles[0], 9.81 * robot.mass) < 1.0


def test_trust_in_a_foot_needs_load_and_a_centre_of_pressure_inside(toro: Robot) -> None:
    sole, weight = toro.soles[0], 9.81 * toro.mass
    flat = np.array([0.0, 0.0, 0.5 * weight, 0.0, 0.0, 0.0])
    assert foot_trust(flat, sole, weight) == 1.0
    assert foot_trust(0.02 * flat, sole, weight) == 0.0
    assert 0.0 < foot_trust(0.1 * flat, sole, weight) < 1.0
    assert foot_trust(-flat, sole, weight) == 0.0
    edge = flat.copy()
    edge[4] = -sole.half_length * edge[2]
    assert foot_trust(edge, sole, weight) == 0.0
    side = flat.copy()
    side[3] = (sole.half_width - 0.0015) * side[2]
    assert foot_trust(side, sole, weight) == pytest.approx(0.5)


@pytest.fixture(scope="module")
def pushed() -> tuple[Recording, Array]:
    """The paper's push, with noisy sensors and the estimate in the loop; errors and deviations."""
    config = load_config(
        "toro_push", {"state": "estimated", "sensors.preset": "default", "duration_s": 1.6}
    )
    recording = run(config)
    assert recording.estimation is not None
    return recording, recording.estimation


def test_errors_in_a_push_are_small_and_within_the_filters_own_bounds(
    pushed: tuple[Recording, Array],
) -> None:
    errors, stds = pushed[1][:, :9], pushed[1][:, 9:]
    assert np.abs(errors[:, :3]).max() < 5e-3
    assert np.abs(errors[:, 3:6]).max() < 1e-2
    assert np.sqrt(np.mean(errors[:, 6:] ** 2)) < 5e-3
    assert np.mean(np.abs(errors) < 3.0 * stds) > 0.97


def test_summary_and_figure_tell_of_the_estimate(pushed: tuple[Recording, Array]) -> None:
    recording, estimation = pushed
    summary = recording.summary()
    size = np.linalg.norm(estimation[:, :3], axis=1)
    assert summary["estimate_max_position_m"] == size.max()
    assert summary["estimate_rms_position_m"] == pytest.approx(np.sqrt(np.mean(size**2)))
    figure = estimation_figure(recording)
    assert len(figure.axes) == 3
    drawn = [line for line in figure.axes[0].lines if line.get_linestyle() == "-"]
    shown = {round(float(np.abs(line.get_ydata()).max()), 9) for line in drawn}
    assert round(1e3 * float(np.abs(estimation[:, 0]).max()), 9) in shown


def test_run_without_an_estimate_has_nothing_to_draw(toro_config: ExperimentConfig) -> None:
    quick = toro_config.model_copy(update={"duration_s": 0.25, "pushes": ()})
    recording = run(quick)
    assert recording.estimation is None
    assert not any(key.startswith("estimate") for key in recording.summary())
    with pytest.raises(InputError, match="state: estimated"):
        estimation_figure(recording)


def test_a_lifted_foot_is_no_anchor_whatever_its_sensor_reads(toro: Robot) -> None:
    """A leg swings by 0.1 rad while the robot is at rest, and its foot reads half the weight."""
    dt, wrenches = 0.001, np.zeros((2, 6))
    wrenches[:, 2] = 0.5 * 9.81 * toro.mass
    joints = toro.q_nominal[7:].copy()
    hip = toro.joint_names.index("right_hip_pitch")
    R = pin.Quaternion(toro.q_nominal[3:7]).matrix()
    force = R.T @ np.array([0.0, 0.0, 9.81])

    def moved(bearing: Array | None) -> float:
        one = BaseEstimator(toro, EstimatorConfig(), SensorsConfig(), pin.SE3.Identity(), dt)
        for step in range(200):
            joints[hip] = toro.q_nominal[7 + hip] + 0.1 * step / 199
            pose, _ = one.update(joints, np.zeros(3), force, wrenches, bearing)
        return float(np.linalg.norm(pose[:3] - toro.q_nominal[:3]))

    assert moved(np.array([1.0, 0.0])) < 1e-4
    assert moved(None) > 5e-3
