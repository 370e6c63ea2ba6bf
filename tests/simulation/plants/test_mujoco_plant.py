"""The MuJoCo plant obeys the laws of motion and behaves like the Pinocchio plant."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import blocks
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import ExperimentConfig, PlantConfig
from balance.control import make_controller
from balance.experiment import run
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse

pytest.importorskip("mujoco")

from balance.recordings.verdict import RunEnd
from balance.simulation.plants.mujoco_plant import MujocoPlant

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

EXACT = 1e-9
WEIGHT = 1e-3  # relative
BALANCE = 1e-6  # relative to the largest generalised force
ENGINES_AGREE = 0.01  # relative
CONTACTS = ("hard", "soft", "welded")


def stand(plant: MujocoPlant, config: ExperimentConfig, seconds: float) -> None:
    """Hold the plant on its feet by the law of ``config``."""
    controller = make_controller(config, plant.robot)
    for _ in range(round(seconds / plant.dt)):
        plant.step(controller.step(plant.q, plant.v, plant.time).torques)


def velocity_at(plant: MujocoPlant, q: Array) -> Array:
    """The plant's velocity with the base's part in the axes of the base at ``q``."""
    v = plant.v.copy()
    now, then = (pin.Quaternion(x[3:7]).toRotationMatrix() for x in (plant.q, q))
    v[:3] = then.T @ now @ v[:3]
    return v


def corner_heights(robot: Robot, data: pin.Data) -> Array:
    """Heights of all corners over the ground, at the frame placements in ``data``."""
    poses = [sole.pose(data) for sole in robot.soles]
    return np.array(
        [
            sole.corners @ pose.rotation[2] + pose.translation[2]
            for sole, pose in zip(robot.soles, poses, strict=True)
        ]
    )


def test_state_survives_the_way_to_mujoco_and_back(any_robot: Robot, random_state: Draw) -> None:
    plant = MujocoPlant(PlantConfig(), any_robot)
    q, v = random_state(any_robot, np.random.default_rng(0))
    plant.reset(q, v)
    plant._read()
    np.testing.assert_allclose(plant.q, q, rtol=0, atol=EXACT)
    np.testing.assert_allclose(plant.v, v, rtol=0, atol=EXACT)


@pytest.mark.parametrize("in_body_axes", [False, True])
def test_push_delivers_its_impulse_and_angular_impulse(
    any_robot: Robot, in_body_axes: bool
) -> None:
    """In free fall from rest the momentum after a step is that of the push and of gravity."""
    robot, rng = any_robot, np.random.default_rng(4)
    model, data = robot.model, robot.model.createData()
    plant = MujocoPlant(PlantConfig(joint_damping=1.0), robot)
    q = pin.integrate(model, robot.q_nominal, rng.uniform(-0.3, 0.3, model.nv))
    q[2] += 2.0
    plant.reset(q, np.zeros(model.nv))
    bodies = [robot.push_body, robot.soles[0].frame]
    pushes = [
        BodyImpulse(body, rng.uniform(-0.1, 0.1, 3), rng.normal(size=3), in_body_axes)
        for body in bodies
    ]
    plant.step(np.zeros(model.nv - 6), pushes)
    pin.framesForwardKinematics(model, data, q)
    com = robot.com(q)
    expected = np.zeros(6)
    expected[:3] = plant.dt * robot.mass * model.gravity.linear
    for push in pushes:
        X_WB = data.oMf[model.getFrameId(push.body)]
        vector = X_WB.rotation @ push.vector if in_body_axes else push.vector
        expected[:3] += vector
        expected[3:] += np.cross(X_WB.act(push.point) - com, vector)
    h = pin.computeCentroidalMomentum(model, data, q, velocity_at(plant, q))
    np.testing.assert_allclose(h.vector, expected, rtol=0, atol=EXACT)
    plant.step(np.zeros(model.nv - 6))
    assert not plant.data.xfrc_applied.any(), "a push acts for one step only"


@pytest.mark.parametrize("contact", CONTACTS)
def test_every_step_obeys_the_equations_of_motion(
    any_robot: Robot, random_state: Draw, contact: str
) -> None:
    """Pinocchio's inverse dynamics of each step are torques, friction, contacts and pushes."""
    robot, rng, damping = any_robot, np.random.default_rng(3), 1.0
    model, data = robot.model.copy(), robot.model.createData()
    model.lowerPositionLimit = np.full(model.nq, -np.inf)  # end stops would add torques
    model.upperPositionLimit = np.full(model.nq, np.inf)
    robot = dataclasses.replace(robot, model=model)
    config = PlantConfig.model_validate({"contact": contact, "joint_damping": damping})
    plant = MujocoPlant(config, robot)
    _, v = random_state(any_robot, rng)
    q = robot.q_nominal.copy()
    q[2] += 0.01
    plant.reset(q, v)
    touched = set()
    for _ in range(150):
        q, v = plant.q, plant.v
        torques = 0.2 * robot.effort_limits * rng.uniform(-1.0, 1.0, model.nv - 6)
        plant.step(torques)
        after = velocity_at(plant, q)
        acceleration = (after - v) / plant.dt
        acceleration[:3] -= np.cross(v[3:6], v[:3])  # MuJoCo's base moves in world axes
        required = pin.rnea(model, data, q, v, acceleration)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        given = np.concatenate([np.zeros(6), torques - damping * after[6:]])
        for sole, wrench in zip(robot.soles, plant.contact_wrenches, strict=True):
            frame = model.frames[sole.frame_id]
            X_JS = frame.placement * sole.placement
            J = pin.getFrameJacobian(model, data, frame.parentJoint, X_JS, pin.LOCAL)
            given += J.T @ wrench
        given += blocks.of_touches(robot, data, plant.touches)
        # MuJoCo lets a force act half-way between the corner and the plane that it is below of.
        depth = max(-(corner_heights(robot, data).min()), 0.0)
        arm_error = 0.5 * depth * np.linalg.norm(plant.contact_wrenches[:, :3], axis=1).sum()
        allowed = BALANCE * np.abs(required).max() + arm_error
        np.testing.assert_allclose(given, required, rtol=0, atol=allowed)
        touched.add(tuple(plant.contact_wrenches[:, 2] > 0.0))
    assert contact == "welded" or len(touched) >= 3, "soles must open and close"


def test_momentum_in_flight_drifts_by_the_order_of_the_step(toro: Robot, tmp_path: Path) -> None:
    """Linear momentum is exact for one body, and all else to first order in the step.

    A box that turns at 7 rad/s, and a robot whose joints all move at up to 10 rad/s.
    """
    box = blocks.block(tmp_path, (0.3, 0.2, 0.1))
    wild = np.random.default_rng(1).uniform(-1.0, 1.0, toro.model.nv)
    wild[6:] *= 10.0
    drifts = {}
    for robot, v in ((box, np.array([1.0, 2.0, 0.5, 5.0, 3.0, -4.0])), (toro, wild)):
        for step_s in (1e-3, 5e-4):
            drifts[robot.name, step_s] = momentum_drift(robot, v, step_s)
    linear, angular = drifts["solid", 1e-3]
    assert linear < 1e-12
    assert 1e-3 < angular < 1e-2
    assert drifts["solid", 5e-4][1] == pytest.approx(0.5 * angular, rel=0.05)
    coarse, fine = np.array(drifts["toro", 1e-3]), np.array(drifts["toro", 5e-4])
    assert ((coarse > 0.001) & (coarse < 0.3)).all(), coarse
    np.testing.assert_allclose(fine / coarse, 0.5, atol=0.1)


def momentum_drift(robot: Robot, v: Array, step_s: float) -> tuple[float, float]:
    """How far linear and angular momentum about the CoM get from their start in 0.5 s, relative."""
    model = robot.model.copy()
    model.gravity = pin.Motion.Zero()
    model.lowerPositionLimit = np.full(model.nq, -np.inf)
    model.upperPositionLimit = np.full(model.nq, np.inf)
    floating, data = dataclasses.replace(robot, model=model), model.createData()
    plant = MujocoPlant(PlantConfig(step_s=step_s, collisions="none"), floating)
    q = robot.q_nominal.copy()
    q[2] += 3.0
    plant.reset(q, v)
    momenta = []
    for _ in range(round(0.5 / step_s)):
        momenta.append(np.array(pin.computeCentroidalMomentum(model, data, plant.q, plant.v)))
        plant.step(np.zeros(model.nv - 6))
    changes = (np.array(momenta) - momenta[0]).reshape(-1, 2, 3)
    sizes = np.linalg.norm(momenta[0].reshape(2, 3), axis=1)
    linear, angular = np.linalg.norm(changes, axis=2).max(axis=0) / sizes
    return float(linear), float(angular)


@pytest.mark.parametrize("contact", CONTACTS)
def test_standing_robot_loads_its_soles_with_its_weight(
    toro: Robot, toro_config: ExperimentConfig, contact: str
) -> None:
    plant = MujocoPlant(toro_config.plant.model_copy(update={"contact": contact}), toro)
    stand(plant, toro_config, 1.0)
    weight = toro.mass * 9.81
    total = np.zeros(3)
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, plant.q)
    for sole, wrench in zip(toro.soles, plant.contact_wrenches, strict=True):
        total += sole.pose(data).rotation @ wrench[:3]
    np.testing.assert_allclose(total, [0.0, 0.0, weight], rtol=0, atol=WEIGHT * weight)


def test_soft_ground_yields_by_its_stiffness(toro: Robot, toro_config: ExperimentConfig) -> None:
    stiffness = 2e5
    config = PlantConfig.model_validate(
        {"contact": "soft", "soft": {"stiffness": stiffness, "damping": 1e3}, "joint_damping": 1.0}
    )
    plant = MujocoPlant(config, toro)
    stand(plant, toro_config, 1.5)
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, plant.q)
    sunk = -np.mean([sole.pose(data).translation[2] for sole in toro.soles])
    assert sunk == pytest.approx(toro.mass * 9.81 / (8 * stiffness), rel=0.01)


def test_loaded_soles_do_not_creep(toro: Robot, toro_config: ExperimentConfig) -> None:
    """While the robot leans against a pull, its soles move less than 10 micrometres in 1 s."""
    plant = MujocoPlant(toro_config.plant, toro)
    controller = make_controller(toro_config, toro)
    pull = [BodyImpulse(toro.push_body, np.zeros(3), np.array([0.0, 30.0 * plant.dt, 0.0]))]

    def soles_after_a_second() -> Array:
        for _ in range(1000):
            plant.step(controller.step(plant.q, plant.v, plant.time).torques, pull)
        data = toro.model.createData()
        pin.framesForwardKinematics(toro.model, data, plant.q)
        return np.array([sole.pose(data).translation[:2] for sole in toro.soles])

    begin, end = soles_after_a_second(), soles_after_a_second()
    assert np.abs(plant.contact_wrenches[:, 1]).sum() > 30.0, "the soles bear the pull"
    assert np.abs(end - begin).max() < 1e-5


def test_surface_feels_its_own_plane_only(toro: Robot) -> None:
    """The left sole lands on a slope, the right one has nothing under it."""
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, toro.q_nominal)
    below = toro.soles[0].pose(data).translation - np.array([0.0, 0.0, 0.02])
    slope = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.05, 0.0), below)
    abyss = pin.SE3(np.eye(3), np.array([0.0, 0.0, -5.0]))
    left, right = (
        dataclasses.replace(sole, plane=plane)
        for sole, plane in zip(toro.soles, (slope, abyss), strict=True)
    )
    robot = dataclasses.replace(toro, soles=(left, right))
    plant = MujocoPlant(PlantConfig(friction=1e-4, collisions="none"), robot)
    normals = []
    for _ in range(150):
        q = plant.q
        plant.step(np.zeros(toro.model.nv - 6))
        assert not plant.contact_wrenches[1].any()
        pin.framesForwardKinematics(toro.model, data, q)
        force = left.pose(data).rotation @ plant.contact_wrenches[0, :3]
        if np.linalg.norm(force) > 10.0:
            normals.append(force / np.linalg.norm(force))
    assert len(normals) > 10
    np.testing.assert_allclose(normals, np.tile(slope.rotation[:, 2], (len(normals), 1)), atol=1e-3)


@pytest.mark.parametrize("limited", [True, False])
def test_torques_are_cut_at_the_joints_limits(toro: Robot, limited: bool) -> None:
    plant, other = (MujocoPlant(PlantConfig(torque_limits=limited), toro) for _ in range(2))
    plant.step(2.0 * toro.effort_limits)
    other.step(toro.effort_limits)
    assert np.array_equal(plant.v, other.v) == limited


def test_two_runs_are_bitwise_equal(toro: Robot, toro_config: ExperimentConfig) -> None:
    """A new plant and one that was reset repeat a run with sliding and tipping exactly."""
    config = toro_config.plant.model_copy(update={"friction": 0.2})
    push = [BodyImpulse(toro.push_body, np.zeros(3), np.array([0.1, 0.12, 0.0]))]

    def states(plant: MujocoPlant) -> list[bytes]:
        controller, result = make_controller(toro_config, toro), []
        for _ in range(150):
            plant.step(controller.step(plant.q, plant.v, plant.time).torques, push)
            wrenches = plant.contact_wrenches.tobytes()
            result.append(plant.q.tobytes() + plant.v.tobytes() + wrenches)
        return result

    plant = MujocoPlant(config, toro)
    first = states(plant)
    assert first == states(MujocoPlant(config, toro))
    plant.reset(toro.q_nominal, np.zeros(toro.model.nv))
    assert first == states(plant)


def test_engines_agree_on_the_papers_push(toro_config: ExperimentConfig) -> None:
    """Over the first 1.3 s, in which the CoM is farthest; the whole run is in scripts/figures."""
    peaks = []
    for engine in ("pinocchio", "mujoco"):
        plant = toro_config.plant.model_copy(update={"engine": engine})
        recording = run(toro_config.model_copy(update={"plant": plant, "duration_s": 1.3}))
        assert recording.end == RunEnd()
        errors = np.linalg.norm(recording.com_error, axis=1)
        assert errors.argmax() < len(errors) - 1, "the peak lies within the run"
        peaks.append(errors.max())
    assert peaks[1] == pytest.approx(peaks[0], rel=ENGINES_AGREE)


def test_diverged_state_is_not_finite_and_leaves_no_log(
    toro: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plant = MujocoPlant(PlantConfig(torque_limits=False), toro)
    for _ in range(20):
        plant.step(np.full(toro.model.nv - 6, 1e9))
    assert not np.isfinite(plant.v.sum())
    assert list(tmp_path.iterdir()) == []
