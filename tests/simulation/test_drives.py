"""Drives follow, cut, round and lose torques as their closed forms say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config import PlantConfig
from balance.config.actuators import ActuatorsConfig
from balance.config.schema import validate
from balance.errors import ConfigError, RobotError
from balance.robots import Robot
from balance.simulation.drives import ActuatedPlant
from balance.simulation.plants import make_plant
from balance.simulation.plants.interface import BodyImpulse

Array = NDArray[np.float64]


class TorqueMeter:
    """A plant that only notes the torques it is given."""

    def __init__(self, robot: Robot, dt: float = 0.001) -> None:
        self.dt, self.time = dt, 0.0
        self.q, self.v = robot.q_nominal, np.zeros(robot.model.nv)
        self.contact_wrenches = np.zeros((len(robot.soles), 6))
        self.joint_damping = np.zeros(robot.model.nv - 6)
        self.torque_range = np.array([-robot.effort_limits, robot.effort_limits])
        self.seen: list[Array] = []

    def set_friction(self, surface: int, friction: float) -> None:
        raise AssertionError("drives leave the ground alone")

    def reset(self, q: Array, v: Array) -> None:
        self.q, self.v, self.seen = q, v, []

    def remember(self) -> bool:
        return False

    def go_back(self) -> None:
        raise AssertionError("it remembers nothing")

    def step(self, torques: Array, impulses: Sequence[BodyImpulse] = ()) -> None:
        self.seen.append(np.array(torques))


def drives(
    robot: Robot, config: dict[str, Any], substeps: int = 1, dt: float = 0.001, seed: int = 0
) -> tuple[ActuatedPlant, TorqueMeter]:
    meter = TorqueMeter(robot, dt)
    parsed = validate(ActuatorsConfig, config, "test")
    seeds = np.random.SeedSequence(seed)
    return ActuatedPlant(meter, parsed, robot, substeps, seeds), meter


def constant(robot: Robot, value: float) -> Array:
    return np.full(robot.model.nv - 6, value)


def test_drives_without_faults_pass_every_torque_on(toro: Robot) -> None:
    plant, meter = drives(toro, {})
    asked = np.random.default_rng(0).normal(size=(5, 27))
    for torques in asked:
        plant.step(torques)
    np.testing.assert_array_equal(meter.seen, asked)


@pytest.mark.parametrize("dt", [1e-3, 2.5e-4])
def test_lag_has_the_step_response_of_first_order(toro: Robot, dt: float) -> None:
    """The impulse until t is that of 1 - exp(-t / T): t - T (1 - exp(-t / T)), for any step."""
    lag = 0.004
    plant, meter = drives(toro, {"lag_s": lag}, dt=dt)
    plant.step(constant(toro, 0.0))  # the drives rest at the first command
    for _ in range(round(0.02 / dt)):
        plant.step(constant(toro, 10.0))
    impulse = dt * np.cumsum(np.array(meter.seen)[1:, 0])
    t = dt * np.arange(1, len(impulse) + 1)
    np.testing.assert_allclose(impulse, 10.0 * (t - lag * (1.0 - np.exp(-t / lag))), rtol=1e-9)


def test_drives_hold_the_robot_from_the_start(toro: Robot) -> None:
    plant, meter = drives(toro, {"lag_s": 0.01})
    plant.step(constant(toro, 7.0))
    np.testing.assert_allclose(meter.seen[0], 7.0, atol=1e-12)


def test_torque_is_rounded_to_its_resolution(toro: Robot) -> None:
    plant, meter = drives(toro, {"resolution_Nm": 0.25})
    asked = np.linspace(-1.0, 1.0, 27)
    plant.step(asked)
    assert np.abs(meter.seen[0] - asked).max() <= 0.125 + 1e-12
    np.testing.assert_allclose(meter.seen[0] % 0.25, 0.0, atol=1e-12)


def test_driving_torque_falls_with_speed_and_braking_torque_does_not(toro: Robot) -> None:
    plant, meter = drives(toro, {"speed_torque": {"full_until": 0.5, "none_from": 1.5}})
    limits, rated = toro.effort_limits, toro.rated_speeds
    for share, factor in ((0.0, 1.0), (0.5, 1.0), (1.0, 0.5), (1.25, 0.25), (2.0, 0.0)):
        meter.v = np.concatenate([np.zeros(6), share * rated])
        plant.step(limits)
        np.testing.assert_allclose(meter.seen[-1], factor * limits, atol=1e-9)
        plant.step(-limits)
        np.testing.assert_allclose(meter.seen[-1], -limits, atol=1e-9)


def test_dropped_periods_repeat_the_torque_before(toro: Robot) -> None:
    """Whole control periods are lost, never a part of one; about as many as asked for."""
    share, substeps, periods = 0.3, 3, 2000
    plant, meter = drives(toro, {"dropped_share": share}, substeps=substeps)
    for period in range(periods):
        for _ in range(substeps):
            plant.step(constant(toro, float(period)))
    seen = np.array(meter.seen)[:, 0].reshape(periods, substeps)
    assert (seen == seen[:, :1]).all()
    arrived = seen[:, 0] == np.arange(periods)
    assert arrived[0], "the first command arrives"
    last = np.maximum.accumulate(np.where(arrived, np.arange(periods), 0))
    np.testing.assert_array_equal(seen[:, 0], last)
    lost = 1.0 - arrived.mean()
    assert lost == pytest.approx(share, abs=4.0 * np.sqrt(share * (1 - share) / periods))


def test_reset_repeats_the_same_dropped_periods(toro: Robot) -> None:
    plant, meter = drives(toro, {"dropped_share": 0.5, "lag_s": 0.002})

    def run() -> Array:
        for k in range(50):
            plant.step(constant(toro, float(k)))
        return np.array(meter.seen)

    first = run()
    plant.reset(toro.q_nominal, np.zeros(33))
    np.testing.assert_array_equal(run(), first)
    other, meter = drives(toro, {"dropped_share": 0.5, "lag_s": 0.002}, seed=1)
    plant = other
    assert (run() != first).any()


def flying(robot: Robot, engine: Any, coulomb: float) -> ActuatedPlant:
    """A robot without weight, its joints in mid-range, its drives with dry friction."""
    model = robot.model.copy()
    model.gravity.linear = np.zeros(3)
    robot = replace(robot, model=model)
    q = robot.q_nominal.copy()
    q[2] += 5.0
    q[7:] = 0.5 * (model.lowerPositionLimit[7:] + model.upperPositionLimit[7:])
    inner = make_plant(PlantConfig(engine=engine, torque_limits=False), robot)
    parsed = validate(ActuatorsConfig, {"coulomb_Nm": coulomb, "speed_torque": "none"}, "test")
    plant = ActuatedPlant(inner, parsed, robot, 1, np.random.SeedSequence(0))
    plant.reset(q, np.zeros(model.nv))
    return plant


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_dry_friction_opposes_motion_and_holds_what_it_can(toro: Robot, engine: str) -> None:
    """The torque found from the motion is the friction: f against sliding, less when sticking."""
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    friction = 2.0
    plant = flying(toro, engine, friction)
    model = toro.model.copy()
    model.gravity.linear = np.zeros(3)
    data = model.createData()
    torques = np.where(np.arange(27) % 2 == 0, 6.0, 1.5)  # every other joint can be held
    for _ in range(30):
        q, v = plant.q, plant.v
        plant.step(torques)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        drive = np.concatenate([np.zeros(6), torques]) - pin.nonLinearEffects(model, data, q, v)
        # The base moved with another velocity than it has where it came to.
        v_step = np.concatenate([pin.difference(model, q, plant.q)[:6] / plant.dt, plant.v[6:]])
        found = (M @ (v_step - v) / plant.dt - drive)[6:]
    sliding = np.abs(plant.v[6:]) > 0.1
    assert sliding.sum() >= 10
    np.testing.assert_allclose(found[sliding], -friction * np.sign(plant.v[6:][sliding]), rtol=0.2)
    sticking = np.abs(plant.v[6:]) < 1e-4
    assert sticking.any()
    assert (np.abs(found[sticking]) <= friction).all()


@pytest.mark.parametrize("value", [{"left_kne": 1.0}, {"": 1.0}])
def test_friction_of_an_unknown_joint_gets_one_sentence(toro: Robot, value: Any) -> None:
    with pytest.raises(ConfigError, match=r"actuators\.coulomb_Nm names a joint .* valid:"):
        drives(toro, {"coulomb_Nm": value})


def test_speed_curve_needs_rated_speeds(toro: Robot) -> None:
    model = toro.model.copy()
    limits = np.array(model.upperVelocityLimit)
    limits[8] = 0.0
    model.upperVelocityLimit = limits
    with pytest.raises(RobotError, match="rated speed of joint 'left_hip_yaw'"):
        drives(replace(toro, model=model), {"speed_torque": {}})


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"lag_s": -1.0}, "lag_s"),
        ({"dropped_share": 1.0}, "dropped_share"),
        ({"speed_torque": {"full_until": 1.0, "none_from": 0.5}}, "must be below none_from"),
        ({"speed_torque": "off"}, "of full_until and none_from, or none"),
        ({"lag": 0.1}, "did you mean 'lag_s'?"),
    ],
)
def test_wrong_drives_get_one_sentence(config: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate(ActuatorsConfig, config, "file.yaml")
    assert told in str(caught.value) and "\n" not in str(caught.value)
