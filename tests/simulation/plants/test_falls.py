"""A robot that is pushed over ends on the floor, with its posture held; most of it in MuJoCo."""

from __future__ import annotations

import dataclasses

import blocks
import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.experiment import run
from balance.recordings.falls import first_touch
from balance.robots import Robot

pytest.importorskip("mujoco")

from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.mujoco_plant import MujocoPlant

Array = NDArray[np.float64]

PUSH = 1.2  # m/s times the mass: more than any stance withstands
SLAM_M = 8e-3  # deepest penetration
REST_M = 1e-3
TOUCH_S, HEIGHT_M = 5e-3, 5e-3  # between the engines
STILL = 0.05  # m/s and rad/s
BALANCE = 1e-6  # relative to the largest generalised force


def held(robot: Robot, plant: MujocoPlant) -> Array:
    """Torques of a stiff joint impedance at the nominal posture."""
    inertia = np.diag(pin.crba(robot.model, robot.model.createData(), robot.q_nominal))[6:]
    stiffness = 8.0 * robot.effort_limits
    damping = np.sqrt(stiffness * inertia)
    return np.asarray(stiffness * (robot.q_nominal[7:] - plant.q[7:]) - damping * plant.v[6:])


def push(robot: Robot, direction: tuple[float, float]) -> list[BodyImpulse]:
    vector = PUSH * robot.mass * np.array([*direction, 0.0])
    return [BodyImpulse(robot.push_body, np.zeros(3), vector)]


def heights(robot: Robot, q: Array) -> dict[str, float]:
    """Height of the lowest point of every body."""
    data, lowest = robot.model.createData(), {}
    pin.forwardKinematics(robot.model, data, q)
    for shape in robot.shapes:
        height = blocks.lowest_point(shape, data.oMi[shape.joint])
        lowest[shape.body] = min(height, lowest.get(shape.body, np.inf))
    return lowest


@pytest.mark.parametrize("direction", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
def test_pushed_robot_falls_on_the_floor_and_lies_still(
    toro: Robot, direction: tuple[float, float]
) -> None:
    """Every body that is in the floor is told, to a hair as deep as Pinocchio says that it is."""
    plant = MujocoPlant(PlantConfig(joint_damping=1.0), toro)
    deepest, first = 0.0, None
    for step in range(2700):
        q = plant.q
        plant.step(held(toro, plant), push(toro, direction) if step == 0 else ())
        if plant.touches and (first is None or step % 100 == 0):
            first = step if first is None else first
            depths: dict[str, float] = {}
            for touch in plant.touches:
                if touch.other == "ground":
                    depths[touch.body] = max(touch.depth_m, depths.get(touch.body, 0.0))
            sunk = {body: -height for body, height in heights(toro, q).items() if height < -1e-6}
            assert sunk == pytest.approx({body: depths[body] for body in sunk}, abs=1e-6)
            assert set(depths) >= set(sunk)
        elif first is None and step % 100 == 0:
            assert min(heights(toro, q).values()) > -1e-6, "nobody sinks unnoticed"
        deepest = max([deepest, *(touch.depth_m for touch in plant.touches)])
    assert first is not None
    assert deepest < SLAM_M
    assert max(touch.depth_m for touch in plant.touches) < REST_M
    assert np.abs(plant.v).max() < STILL
    assert 0.08 < toro.com(plant.q)[2] < 0.25, "it lies"
    load = sum(touch.force for touch in plant.touches if touch.other == "ground")
    data = toro.model.createData()
    pin.framesForwardKinematics(toro.model, data, plant.q)
    for sole, wrench in zip(toro.soles, plant.contact_wrenches, strict=True):
        load = load + sole.pose(data).rotation @ wrench[:3]
    weight = 9.81 * toro.mass
    np.testing.assert_allclose(load, [0.0, 0.0, weight], atol=0.02 * weight)


def test_every_step_of_a_slam_obeys_the_equations_of_motion(toro: Robot) -> None:
    """Pinocchio's inverse dynamics of each step are torques, friction, soles and touches.

    The robot falls at 2 m/s from 1 cm on its back, feet up; end stops are taken away.
    """
    model, data = toro.model.copy(), toro.model.createData()
    model.lowerPositionLimit = np.full(model.nq, -np.inf)
    model.upperPositionLimit = np.full(model.nq, np.inf)
    robot = dataclasses.replace(toro, model=model)
    plant = MujocoPlant(PlantConfig(joint_damping=1.0), robot)
    q = robot.q_nominal.copy()
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.3, -1.8, 0.0)).coeffs()
    q[2] += 0.01 - min(heights(robot, q).values())
    v = blocks.velocity(robot, q, np.array([0.5, 0.5, -2.0]), np.zeros(3))
    plant.reset(q, v)
    loaded = 0
    for _ in range(150):
        q, v = plant.q, plant.v
        torques = np.clip(held(robot, plant), -robot.effort_limits, robot.effort_limits)
        plant.step(torques)
        after = plant.v.copy()
        now, then = (pin.Quaternion(x[3:7]).toRotationMatrix() for x in (plant.q, q))
        after[:3] = then.T @ now @ after[:3]
        acceleration = (after - v) / plant.dt
        acceleration[:3] -= np.cross(v[3:6], v[:3])  # MuJoCo's base moves in world axes
        required = pin.rnea(model, data, q, v, acceleration)
        pin.computeJointJacobians(model, data, q)
        given = np.concatenate([np.zeros(6), torques - after[6:]])
        given += blocks.of_touches(robot, data, plant.touches)
        if plant.contact_wrenches.any():
            break  # its feet come down; their forces are told as if they acted on the plane
        size = max(np.abs(required).max(), 9.81 * robot.mass)
        np.testing.assert_allclose(given, required, rtol=0, atol=BALANCE * size)
        loaded += any(touch.force[2] > 100.0 for touch in plant.touches)
    assert loaded > 20


def test_engines_agree_when_a_robot_falls_and_how_it_lies() -> None:
    """Posture held by ``joint_pd``, pushed to the left with 1.5 ankle limits."""
    touched, height = {}, {}
    for engine in ("pinocchio", "mujoco"):
        push = {"type": "half_sine", "direction": [0, 1, 0], "time_s": 0.01, "impulse_Ns": 60.2,
                "duration_s": 0.02}  # fmt: skip
        keys = {"pushes": [push], "duration_s": 4.0, "plant.engine": engine, "reference": None,
                "controller": {"law": "joint_pd"}, "stop_after_fall_s": 2.2}  # fmt: skip
        recording = run("toro_push", overrides=keys)
        fall = first_touch(recording)
        assert fall is not None
        touched[engine] = fall.time_s
        height[engine] = recording.robot.com(recording.q[-1])[2]
        assert recording.penetration[:, 0].max() < SLAM_M
        assert recording.penetration[-1, 0] < REST_M
    assert touched["pinocchio"] == pytest.approx(touched["mujoco"], abs=TOUCH_S)
    assert height["pinocchio"] == pytest.approx(height["mujoco"], abs=HEIGHT_M)
