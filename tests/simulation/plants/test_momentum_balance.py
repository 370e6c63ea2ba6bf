"""A step of the Pinocchio plant creates no momentum: what the robot gains, something gave it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

Array = NDArray[np.float64]
Draw = Callable[[Robot, np.random.Generator], tuple[Array, Array]]

BALANCE = 1e-9  # relative to the largest impulse of the step
DRIFT = 1e-3  # relative, over 1 s at 1 ms


def impulse_at_com(plant: PinocchioPlant, pushes: list[BodyImpulse], before: Array) -> Array:
    """(6,) impulses of gravity, contacts and pushes in a step that began at ``before``."""
    robot, dt = plant.robot, plant.dt
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, before)
    X_GW = pin.SE3(np.eye(3), -robot.com(before))
    total = pin.Force(dt * robot.mass * np.array(model.gravity.linear), np.zeros(3))
    for sole, wrench in zip(robot.soles, plant.contact_wrenches, strict=True):
        total += (X_GW * sole.pose(data)).act(pin.Force(dt * wrench))
    for push in pushes:
        X_WB = data.oMf[model.getFrameId(push.body)]
        force = X_WB.rotation @ push.vector if push.in_body_axes else push.vector
        arm = X_WB.act(push.point) - robot.com(before)
        total += pin.Force(force, np.cross(arm, force))
    return np.array(total.vector)


@pytest.mark.parametrize("contact", ["hard", "soft"])
def test_momentum_changes_by_the_impulses_of_gravity_contacts_and_pushes(
    any_robot: Robot, random_state: Draw, contact: str
) -> None:
    """A(q) (v+ - v) + dt dA/dt v, while the robot lands from 1 cm, staggers and is hit."""
    robot, rng = any_robot, np.random.default_rng(3)
    config = PlantConfig.model_validate({"contact": contact, "joint_damping": 1.0})
    plant = PinocchioPlant(config, robot)
    _, v = random_state(robot, rng)
    q = robot.q_nominal.copy()
    q[2] += 0.01
    plant.reset(q, v)
    data = robot.model.createData()
    patterns = set()
    for step in range(200):
        q, v = plant.q, plant.v
        pushes = []
        if step % 10 == 0:
            point, vector = rng.uniform(-0.1, 0.1, 3), rng.normal(size=3)
            pushes = [BodyImpulse(robot.push_body, point, vector, bool(step % 20))]
        plant.step(0.2 * robot.effort_limits * rng.uniform(-1, 1, robot.model.nv - 6), pushes)
        pin.dccrba(robot.model, data, q, v)
        gained = data.Ag @ (plant.v - v) + plant.dt * data.dAg @ v
        given = impulse_at_com(plant, pushes, q)
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


def drift(robot: Robot, step_s: float, seed: int) -> Array:
    """Largest relative change of (linear momentum, angular momentum, energy) over 1 s."""
    plant = PinocchioPlant(PlantConfig(step_s=step_s), robot)
    v = 0.5 * np.random.default_rng(seed).uniform(-1.0, 1.0, robot.model.nv)
    plant.reset(robot.q_nominal, v)
    data, torques = robot.model.createData(), np.zeros(robot.model.nv - 6)

    def invariants() -> tuple[Array, Array, Array]:
        h = pin.computeCentroidalMomentum(robot.model, data, plant.q, plant.v)
        energy = pin.computeKineticEnergy(robot.model, data, plant.q, plant.v)
        return np.array(h.linear), np.array(h.angular), np.array([energy])

    start, worst = invariants(), np.zeros(3)
    for _ in range(round(1.0 / step_s)):
        plant.step(torques)
        for i, (now, then) in enumerate(zip(invariants(), start, strict=True)):
            change = np.linalg.norm(now - then) / np.linalg.norm(then)
            worst[i] = max(worst[i], float(change))
    return worst


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_free_flight_keeps_momentum_and_energy_to_first_order_in_the_step(
    toro: Robot, seed: int
) -> None:
    robot = floating(toro)
    at_1_ms, at_half = drift(robot, 1e-3, seed), drift(robot, 5e-4, seed)
    assert (at_1_ms < DRIFT).all(), at_1_ms
    np.testing.assert_allclose(at_1_ms / at_half, 2.0, rtol=0.02)
