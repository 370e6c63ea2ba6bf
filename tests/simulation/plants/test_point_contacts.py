"""Bodies that touch with points: the engines agree, and a point gives no moment."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from balance.config import load_config
from balance.experiment import Experiment, run
from balance.robots.stance import robot_of
from balance.simulation.plants import make_plant

pytest.importorskip("mujoco")

ENGINES = ("pinocchio", "mujoco")
KNUCKLE = 2  # after two soles with three studs each


@pytest.mark.parametrize("engine", ENGINES)
def test_robot_stands_on_studs_with_a_knuckle_on_the_wall(engine: str) -> None:
    overrides = {"plant.engine": engine, "duration_s": 0.25, "pushes": []}
    recording = run(load_config("toro_points", overrides))
    assert np.linalg.norm(recording.com_error, axis=1).max() < 1e-3
    wrenches, robot = recording.contact_wrenches[-1], recording.robot
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, recording.q[-1])
    poses = [surface.wrench_pose(data) for surface in robot.soles]
    total = sum(pose.rotation @ w[:3] for pose, w in zip(poses, wrenches, strict=True))
    np.testing.assert_allclose(total, [0.0, 0.0, 9.81 * robot.mass], atol=5.0)
    assert wrenches[KNUCKLE, 2] == pytest.approx(30.0, rel=0.05)  # what the law asks for
    assert np.abs(wrenches[KNUCKLE, 3:]).max() < 1e-9
    for sole, cop in zip(robot.soles[:KNUCKLE], recording.cop[-1, :KNUCKLE], strict=True):
        assert (sole.edges @ [*cop, 1.0] < 1e-6).all()


@pytest.mark.parametrize("contact", ["hard", "soft"])
def test_a_hand_turns_about_its_knuckle_alike_in_both_engines(contact: str) -> None:
    """Torques of the law at rest, and 1 N m more at the joint that carries the hand."""
    experiment = Experiment(load_config("toro_points", {"plant.contact": contact}))
    config, robot = experiment.config, experiment.robot
    torques = experiment.controller.step(robot.q_nominal, np.zeros(robot.model.nv), 0.0).torques
    surface, data = robot.soles[KNUCKLE], robot.model.createData()
    frame = robot.model.frames[surface.frame_id]
    torques[frame.parentJoint - 2] += 1.0
    turns = []
    for engine in ENGINES:
        plant = make_plant(config.plant.model_copy(update={"engine": engine}), robot)
        for _ in range(20):
            plant.step(torques)
        pin.forwardKinematics(robot.model, data, plant.q, plant.v)
        motion = (frame.placement * surface.placement).actInv(data.v[frame.parentJoint])
        assert np.linalg.norm(motion.linear) < 0.02 * np.linalg.norm(motion.angular)  # m/s, rad/s
        turns.append(motion.angular)
    assert np.linalg.norm(turns[0]) > 0.1
    np.testing.assert_allclose(turns[1], turns[0], atol=0.02 * np.linalg.norm(turns[0]))


@pytest.mark.parametrize("engine", ENGINES)
def test_friction_may_change_under_one_surface_of_points(engine: str) -> None:
    """A hand that slides down the wall is braked by the friction of its own surface alone."""
    config = load_config("toro_points", {"plant.engine": engine})
    robot = robot_of(config)
    rates = []
    for friction in (1e-3, 0.8):
        plant = make_plant(config.plant, robot)
        plant.set_friction(KNUCKLE, friction)
        torques = np.zeros(robot.model.nv - 6)
        torques[robot.joint_names.index("right_elbow")] = -5.0
        for _ in range(5):
            plant.step(torques)
        normal, tangential = plant.contact_wrenches[KNUCKLE, 2], plant.contact_wrenches[KNUCKLE, :2]
        assert normal > 0.1
        rates.append(np.hypot(*tangential) / normal)
    assert rates[0] == pytest.approx(1e-3, rel=0.1)
    assert rates[1] > 0.01


@pytest.mark.parametrize("engine", ENGINES)
def test_a_welded_point_stays_where_it_is_while_its_body_turns(engine: str) -> None:
    config = load_config("toro_points", {"plant.contact": "welded", "plant.engine": engine})
    robot = robot_of(config)
    plant, data = make_plant(config.plant, robot), robot.model.createData()
    torques = np.zeros(robot.model.nv - 6)
    torques[robot.model.frames[robot.soles[KNUCKLE].frame_id].parentJoint - 2] = 1.0
    poses = []
    for steps in (0, 30):
        for _ in range(steps):
            plant.step(torques)
        pin.framesForwardKinematics(robot.model, data, plant.q)
        poses.append([surface.pose(data) for surface in robot.soles])
    moved = [before.actInv(after) for before, after in zip(*poses, strict=True)]
    for X in moved:
        assert np.linalg.norm(X.translation) < 1e-4  # m
    assert np.linalg.norm(pin.log3(moved[KNUCKLE].rotation)) > 0.01  # rad
    for X in moved[:KNUCKLE]:
        assert np.linalg.norm(pin.log3(X.rotation)) < 1e-3  # rad
    assert np.abs(plant.contact_wrenches[KNUCKLE, 3:]).max() == 0.0
