"""The Pinocchio plant creates no momentum, whatever moves: what the robot gains, something gave."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from plant_steps import momentum, outer_impulse

from balance.config import PlantConfig
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

BALANCE = 1e-9  # relative to the largest impulse of the step
DRIFT = 1e-3  # relative, over 1 s at 1 ms


@pytest.mark.parametrize("contact", ["hard", "soft"])
def test_momentum_changes_by_the_impulses_of_gravity_contacts_and_pushes(
    any_robot: Robot, random_state: Draw, contact: str
) -> None:
    """h(q+, v+) - h(q, v), while the robot lands from 1 cm, staggers and is hit."""
    robot, rng = any_robot, np.random.default_rng(3)
    config = PlantConfig.model_validate({"contact": contact, "joint_damping": 1.0})
    plant = PinocchioPlant(config, robot)
    _, v = random_state(robot, rng)
    q = robot.q_nominal.copy()
    q[2] += 0.01
    plant.reset(q, v)
    patterns = set()
    for step in range(200):
        q, v = plant.q, plant.v
        pushes = []
        if step % 10 == 0:
            point, vector = rng.uniform(-0.1, 0.1, 3), rng.normal(size=3)
            pushes = [BodyImpulse(robot.push_body, point, vector, bool(step % 20))]
        plant.step(0.2 * robot.effort_limits * rng.uniform(-1, 1, robot.model.nv - 6), pushes)
        gained = momentum(robot, plant.q, plant.v) - momentum(robot, q, v)
        given = outer_impulse(plant, robot, pushes, q)
        size = max(np.abs(given).max(), plant.dt * 9.81 * robot.mass)
        np.testing.assert_allclose(gained, given, rtol=0, atol=BALANCE * size)
        patterns.add(tuple(plant.contact_wrenches[:, 2] > 0.0))
    assert len(patterns) >= 3, "soles must open and close"


def floating(robot: Robot) -> Robot:
    """The robot 2 m up, without gravity and without end stops."""
    model = robot.model.copy()
    model.gravity = pin.Motion.Zero()
    model.lowerPositionLimit = np.full(model.nq, -np.inf)
    model.upperPositionLimit = np.full(model.nq, np.inf)
    q = robot.q_nominal.copy()
    q[2] += 2.0
    return dataclasses.replace(robot, model=model, q_nominal=q)


@pytest.mark.parametrize("step_s", [2e-3, 1e-3])
def test_flight_keeps_momentum_whatever_the_joints_do(any_robot: Robot, step_s: float) -> None:
    """The base turns with 5 rad/s, drives swing every joint, joint friction brakes them."""
    robot, rng = floating(any_robot), np.random.default_rng(4)
    plant = PinocchioPlant(PlantConfig(step_s=step_s, joint_damping=1.0), robot)
    v = rng.uniform(-3.0, 3.0, robot.model.nv)
    v[3:6] *= 5.0 / np.linalg.norm(v[3:6])
    plant.reset(robot.q_nominal, v)
    torques = 0.1 * robot.effort_limits * rng.uniform(-1.0, 1.0, robot.model.nv - 6)
    start = momentum(robot, plant.q, plant.v)
    for step in range(round(0.3 / step_s)):
        plant.step(torques * np.cos(20.0 * step * step_s))
        change = momentum(robot, plant.q, plant.v) - start
        np.testing.assert_allclose(change, 0.0, rtol=0, atol=BALANCE * np.abs(start).max())
    assert np.abs(plant.q[7:] - robot.q_nominal[7:]).max() > 0.3, "the joints must move"


def energy_drift(robot: Robot, step_s: float, seed: int) -> float:
    """Largest relative change of the kinetic energy over 1 s without any force."""
    plant, data = PinocchioPlant(PlantConfig(step_s=step_s), robot), robot.model.createData()
    v = 0.5 * np.random.default_rng(seed).uniform(-1.0, 1.0, robot.model.nv)
    plant.reset(robot.q_nominal, v)
    energies = [pin.computeKineticEnergy(robot.model, data, plant.q, plant.v)]
    for _ in range(round(1.0 / step_s)):
        plant.step(np.zeros(robot.model.nv - 6))
        energies.append(pin.computeKineticEnergy(robot.model, data, plant.q, plant.v))
    return float(np.abs(np.array(energies) / energies[0] - 1.0).max())


@pytest.mark.parametrize("seed", [0, 1])
def test_free_flight_keeps_energy_to_first_order_in_the_step(toro: Robot, seed: int) -> None:
    robot = floating(toro)
    at_1_ms, at_half = energy_drift(robot, 1e-3, seed), energy_drift(robot, 5e-4, seed)
    assert at_1_ms < DRIFT
    np.testing.assert_allclose(at_1_ms / at_half, 2.0, rtol=0.02)


def test_a_state_from_outside_has_its_own_momentum(toro: Robot) -> None:
    """Whether it comes by reset or by setting q or v; nothing of the step before is left."""
    robot, rng = floating(toro), np.random.default_rng(6)
    plant, other = PinocchioPlant(PlantConfig(), robot), PinocchioPlant(PlantConfig(), robot)
    torques = np.zeros(robot.model.nv - 6)
    one, two = rng.uniform(-1.0, 1.0, (2, robot.model.nv))
    plant.reset(robot.q_nominal, one)
    plant.step(torques)
    for q, v in ((plant.q, two), (robot.q_nominal.copy(), plant.v)):
        plant.q, plant.v = q, v
        other.reset(q, v)
        plant.step(torques)
        other.step(torques)
        np.testing.assert_array_equal(plant.v, other.v)
        np.testing.assert_array_equal(plant.q, other.q)
