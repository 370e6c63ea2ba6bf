"""Joints of the Pinocchio plant: friction, torque limits and end stops."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray
from plant_steps import step_velocity

from balance.config import PlantConfig
from balance.errors import BalanceError, ConfigError
from balance.robots import Robot
from balance.simulation.plants.interface import BodyImpulse
from balance.simulation.plants.pinocchio_plant import PinocchioPlant

Array = NDArray[np.float64]


def lifted(robot: Robot) -> Array:
    q = robot.q_nominal.copy()
    q[2] += 2.0
    return q


def test_strong_joint_friction_on_light_joints_only_ever_brakes(any_robot: Robot) -> None:
    """30 N m s/rad on a wrist of 1e-3 kg m^2 decays 30 times within a 1 ms step."""
    robot = any_robot
    plant = PinocchioPlant(PlantConfig(joint_damping=30.0), robot)
    v = np.zeros(robot.model.nv)
    v[6:] = np.random.default_rng(1).uniform(-5.0, 5.0, robot.model.nv - 6)
    plant.reset(lifted(robot), v)
    speeds = []
    for _ in range(100):
        plant.step(np.zeros(robot.model.nv - 6))
        speeds.append(np.abs(plant.v[6:]).max())
    assert np.max(speeds) < 5.0
    assert speeds[-1] < 0.5 * speeds[0]


def test_friction_of_one_joint_is_implicit_euler(toro: Robot) -> None:
    """(M + dt B) (v+ - v) = dt (tau - B v - b), solved with dense matrices."""
    plant = PinocchioPlant(PlantConfig(joint_damping={"left_knee": 20.0}), toro)
    rng = np.random.default_rng(2)
    q, v, torques = lifted(toro), rng.uniform(-0.5, 0.5, 33), rng.uniform(-5.0, 5.0, 27)
    plant.reset(q, v)
    plant.step(torques)
    data, dt = toro.model.createData(), plant.dt
    M = pin.crba(toro.model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    B = np.zeros((33, 33))
    knee = 6 + toro.joint_names.index("left_knee")
    B[knee, knee] = 20.0
    tau = np.concatenate([np.zeros(6), torques]) - pin.nonLinearEffects(toro.model, data, q, v)
    expected = v + np.linalg.solve(M + dt * B, dt * (tau - B @ v))
    np.testing.assert_allclose(plant.v[6:], expected[6:], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(step_velocity(plant, toro, q), expected, atol=1e-11)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_end_stops_hold_every_joint_under_its_full_torque(any_robot: Robot, sign: float) -> None:
    """Driven into the stops from 0.02 rad away, joints stay within 0.05 rad of their range."""
    robot = any_robot
    model = robot.model
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    plant = PinocchioPlant(PlantConfig(joint_damping=1.0, collisions="none"), robot)
    q = lifted(robot)
    q[7:] = upper - 0.02 if sign > 0.0 else lower + 0.02
    plant.reset(q, np.zeros(model.nv))
    for _ in range(200):
        plant.step(sign * robot.effort_limits)
        beyond = np.maximum(plant.q[7:] - upper, lower - plant.q[7:])
        assert beyond.max() < 0.05
    assert beyond.min() > 0.0, "every joint must lean on its stop"


def test_torques_are_cut_at_the_limits_unless_told_otherwise(toro: Robot) -> None:
    asked = 3.0 * toro.effort_limits

    def velocity(torques: Array, limits: bool) -> Array:
        plant = PinocchioPlant(PlantConfig(torque_limits=limits), toro)
        plant.reset(lifted(toro), np.zeros(33))
        plant.step(torques)
        return step_velocity(plant, toro, lifted(toro))

    np.testing.assert_array_equal(velocity(asked, True), velocity(toro.effort_limits, True))
    np.testing.assert_array_equal(velocity(-asked, True), velocity(-toro.effort_limits, True))
    # From rest without limits the response is linear in the torque, but for gravity.
    free_fall = velocity(np.zeros(27), False)
    np.testing.assert_allclose(
        velocity(asked, False) - free_fall,
        3.0 * (velocity(toro.effort_limits, False) - free_fall),
        rtol=1e-9,
        atol=1e-10,
    )


def test_push_acts_at_its_point_in_world_or_body_axes(toro: Robot) -> None:
    """M (v+ - v) = J^T i in a step without gravity, J by finite differences of the point."""
    plant = PinocchioPlant(PlantConfig(collisions="none"), toro)
    rng = np.random.default_rng(3)
    q = pin.integrate(toro.model, lifted(toro), rng.uniform(-0.5, 0.5, 33))
    # Inside the joints' ranges, so that no end stop acts.
    q[7:] = np.clip(q[7:], toro.model.lowerPositionLimit[7:], toro.model.upperPositionLimit[7:])
    point, vector, body = np.array([0.02, -0.1, 0.3]), np.array([1.0, -2.0, 0.5]), "left_forearm"
    frame = toro.model.getFrameId(body)
    data = toro.model.createData()

    def position(tangent: Array) -> Array:
        pin.framesForwardKinematics(toro.model, data, pin.integrate(toro.model, q, tangent))
        return np.array(data.oMf[frame].act(point))

    step = 1e-6
    J = np.array([(position(step * e) - position(-step * e)) / (2 * step) for e in np.eye(33)]).T
    position(np.zeros(33))
    R_WB = data.oMf[frame].rotation.copy()
    M = pin.crba(toro.model, data, q)
    M = np.triu(M) + np.triu(M, 1).T

    def response(push: list[BodyImpulse]) -> Array:
        plant.reset(q, np.zeros(33))
        plant.step(np.zeros(27), push)
        return step_velocity(plant, toro, q)

    still = response([])
    for axes, world in ((False, vector), (True, R_WB @ vector)):
        change = response([BodyImpulse(body, point, vector, axes)]) - still
        np.testing.assert_allclose(M @ change, J.T @ world, atol=1e-7)


def test_friction_of_an_unknown_joint_is_refused(toro: Robot) -> None:
    with pytest.raises(ConfigError) as caught:
        PinocchioPlant(PlantConfig(joint_damping={"left_kneee": 1.0}), toro)
    message = str(caught.value)
    for part in ("joint_damping", "'left_kneee'", "toro", "did you mean 'left_knee'?"):
        assert part in message


def test_push_on_an_unknown_body_is_refused(toro: Robot) -> None:
    plant = PinocchioPlant(PlantConfig(), toro)
    with pytest.raises(BalanceError, match="no frame 'hipp'"):
        plant.step(np.zeros(27), [BodyImpulse("hipp", np.zeros(3), np.ones(3))])
