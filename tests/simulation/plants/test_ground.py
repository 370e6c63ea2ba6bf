"""The ground pushes but never pulls, holds the soles up to its friction, and stops them there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from plant_steps import step_velocity

from balance.config import ExperimentConfig, PlantConfig
from balance.control import make_controller
from balance.robots import Robot
from balance.robots.contacts import centre_of_pressure
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

Array = NDArray[np.float64]

COMPLEMENTARY = 1e-8  # N s times m/s
FORCE = 1e-5  # N, of solver tolerance 1e-9 N s over a step


def balanced_run(
    plant: PinocchioPlant, config: ExperimentConfig, seconds: float, force: Array
) -> Iterator[Array]:
    """Run under the momentum law and a constant push at the hip; yields q before each step."""
    controller = make_controller(config, plant.robot)
    push = [BodyImpulse(plant.robot.push_body, np.zeros(3), plant.dt * force)]
    for _ in range(round(seconds / plant.dt)):
        q = plant.q
        plant.step(controller.step(q, plant.v, plant.time).torques, push)
        yield q


def corner_motion(plant: PinocchioPlant, q: Array) -> tuple[Array, Array]:
    """Corner heights (k, 4) at ``q``, and velocities (k, 4, 3) in the step, in world axes."""
    model, data = plant.model, plant.model.createData()
    pin.forwardKinematics(model, data, q, step_velocity(plant, plant.robot, q))
    pin.updateFramePlacements(model, data)
    heights, velocities = [], []
    for sole in plant.robot.soles:
        pose = sole.pose(data)
        arms = sole.corners @ pose.rotation.T
        twist = pin.getFrameVelocity(model, data, sole.frame_id, pin.LOCAL_WORLD_ALIGNED)
        arm_of_centre = pose.translation - data.oMf[sole.frame_id].translation
        velocities.append(twist.linear + np.cross(twist.angular, arm_of_centre + arms))
        heights.append(pose.translation[2] + arms[:, 2])
    return np.array(heights), np.array(velocities)


def sole_rotations(plant: PinocchioPlant, q: Array) -> list[Array]:
    """Orientation of every sole in the world at ``q``."""
    data = plant.model.createData()
    pin.framesForwardKinematics(plant.model, data, q)
    return [sole.pose(data).rotation for sole in plant.robot.soles]


@pytest.mark.parametrize("force", [(0.0, 150.0, 0.0), (-220.0, 0.0, 0.0), (60.0, 80.0, 300.0)])
def test_pushed_robot_feels_only_forces_that_the_ground_can_give(
    toro: Robot, toro_config: ExperimentConfig, force: tuple[float, float, float]
) -> None:
    """Hard enough to tip it on its soles' edges: cones, gaps and complementarity in every step."""
    plant = PinocchioPlant(toro_config.plant, toro)
    friction = toro_config.plant.friction
    sole = toro.soles[0]
    edge = np.array([sole.half_length, sole.half_width])
    opened = False
    for q in balanced_run(plant, toro_config, 0.5, np.array(force)):
        assert plant.contact_residual < COMPLEMENTARY
        heights, velocities = corner_motion(plant, q)
        after = heights + plant.dt * velocities[..., 2]
        # A corner may not sink; one that is under the ground already comes back slowly.
        assert (after >= np.minimum(heights, 0.0) - 1e-9).all()
        rotations = sole_rotations(plant, q)
        for wrench, corners, R_WS in zip(plant.contact_wrenches, after, rotations, strict=True):
            force = R_WS @ wrench[:3]  # a sole that tips has other axes than the ground
            assert force[2] > -FORCE
            assert np.hypot(*force[:2]) <= friction * force[2] + FORCE
            if wrench[2] > 1.0:
                assert (np.abs(centre_of_pressure(wrench)) < edge + 1e-6).all()
                assert corners.min() < 1e-6, "a loaded sole touches the ground"
            opened |= bool(corners.max() > 1e-3)
    assert opened, "the push must be hard enough to lift a corner"


def test_sliding_soles_are_braked_with_mu_times_the_load_against_their_motion(toro: Robot) -> None:
    """A robot stiff with joint friction slides sideways on ice and comes to rest in v / (mu g)."""
    friction, speed = 0.1, 0.2
    plant = PinocchioPlant(PlantConfig(friction=friction, joint_damping=1e5), toro)
    v = np.zeros(33)
    v[1] = speed
    plant.reset(toro.q_nominal, v)
    stop = speed / (friction * 9.81)
    for _ in range(round(0.95 * stop / plant.dt)):
        q = plant.q
        plant.step(np.zeros(27))
        _, velocities = corner_motion(plant, q)
        for wrench, corners in zip(plant.contact_wrenches, velocities, strict=True):
            slip = corners[:, :2].mean(axis=0)
            braking = -friction * wrench[2] * slip / np.linalg.norm(slip)
            assert wrench[2] > 100.0
            np.testing.assert_allclose(wrench[:2], braking, atol=1e-3 * friction * wrench[2])
    assert plant.v[1] == pytest.approx(0.05 * speed, abs=2e-3)
    for _ in range(round(0.1 * stop / plant.dt)):
        plant.step(np.zeros(27))
    assert np.abs(plant.v[:2]).max() < 1e-3


def test_dropped_robot_lands_and_loses_energy(toro: Robot) -> None:
    """Falling 1 cm takes sqrt(2 h / g); nothing bounces, and the landing only takes energy."""
    plant = PinocchioPlant(PlantConfig(joint_damping=5.0), toro)
    q = toro.q_nominal.copy()
    q[2] += 0.01
    plant.reset(q, np.zeros(33))
    data, loads, energies = toro.model.createData(), [], []
    for _ in range(120):
        plant.step(np.zeros(27))
        loads.append(plant.contact_wrenches[:, 2].sum())
        energies.append(pin.computeMechanicalEnergy(toro.model, data, plant.q, plant.v))
    landed = int(np.flatnonzero(np.array(loads) > 0.0)[0])
    assert landed * plant.dt == pytest.approx(np.sqrt(2.0 * 0.01 / 9.81), abs=1.5 * plant.dt)
    assert not np.any(loads[:landed])
    assert (np.diff(energies) < 1e-3 * abs(energies[0])).all()


@pytest.mark.parametrize("step_s", [1e-3, 2.5e-4])
def test_standing_robot_loads_its_soles_with_its_weight(
    any_robot: Robot, toro_config: ExperimentConfig, step_s: float
) -> None:
    plant = PinocchioPlant(PlantConfig(step_s=step_s, joint_damping=1.0), any_robot)
    for _ in balanced_run(plant, toro_config, 0.02, np.zeros(3)):
        pass
    weight = any_robot.mass * 9.81
    assert plant.contact_wrenches[:, 2].sum() == pytest.approx(weight, rel=1e-3)
    assert np.abs(plant.v).max() < 1e-3


def test_two_runs_are_bitwise_equal(toro: Robot, toro_config: ExperimentConfig) -> None:
    """A new plant and one that was reset repeat a run with sliding and tipping exactly."""
    config = toro_config.plant.model_copy(update={"friction": 0.2})
    first, second = PinocchioPlant(config, toro), PinocchioPlant(config, toro)
    force = np.array([100.0, 120.0, 0.0])
    states = [plant_state(first) for _ in balanced_run(first, toro_config, 0.15, force)]
    assert states == [plant_state(second) for _ in balanced_run(second, toro_config, 0.15, force)]
    first.reset(toro.q_nominal, np.zeros(33))
    assert states == [plant_state(first) for _ in balanced_run(first, toro_config, 0.15, force)]


def plant_state(plant: PinocchioPlant) -> bytes:
    return plant.q.tobytes() + plant.v.tobytes() + plant.contact_wrenches.tobytes()
