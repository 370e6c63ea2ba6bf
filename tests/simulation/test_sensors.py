"""Sensors report the truth with the noise, offset, rounding and delay that the file says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from balance.config.schema import validate
from balance.config.sensors import PRESETS, SensorsConfig
from balance.errors import ConfigError
from balance.robots import Robot
from balance.simulation.sensors import DelayLine, Reading, Sensors, imu_placement

Array = NDArray[np.float64]

PERIOD = 0.001


class StillPlant:
    """Contact wrenches that a test sets."""

    def __init__(self, soles: int) -> None:
        self.contact_wrenches = np.zeros((soles, 6))


def sensors(robot: Robot, config: dict[str, Any], seed: int = 0) -> Sensors:
    parsed = validate(SensorsConfig, config, "test")
    seeds = np.random.SeedSequence(seed)
    plant: Any = StillPlant(len(robot.soles))
    return Sensors(parsed, plant, robot, PERIOD, seeds)


def samples(source: Sensors, robot: Robot, n: int, name: str) -> Array:
    q, v = robot.q_nominal, np.zeros(robot.model.nv)
    return np.array([getattr(source.read(q, v), name) for _ in range(n)])


def test_perfect_sensors_report_the_state_and_minus_gravity(any_robot: Robot) -> None:
    robot = any_robot
    v = np.random.default_rng(0).normal(size=robot.model.nv)
    reading = sensors(robot, {}).read(robot.q_nominal, v)
    np.testing.assert_array_equal(reading.base_pose, robot.q_nominal[:7])
    np.testing.assert_array_equal(reading.base_velocity, v[:6])
    np.testing.assert_array_equal(reading.joints, robot.q_nominal[7:])
    np.testing.assert_array_equal(reading.joint_velocities, v[6:])
    np.testing.assert_allclose(reading.gyro, v[3:6], atol=1e-15)
    np.testing.assert_allclose(reading.accel, [0.0, 0.0, 9.81], atol=1e-12)
    assert reading.wrenches[:, 2].sum() == pytest.approx(robot.mass * 9.81)


def test_encoders_round_to_their_resolution(toro: Robot) -> None:
    """Never off by more than half a step, and always on the grid."""
    step = 1e-3
    source = sensors(toro, {"encoder_resolution_rad": step})
    rng, v = np.random.default_rng(1), np.zeros(toro.model.nv)
    for _ in range(50):
        q = toro.q_nominal.copy()
        q[7:] += rng.normal(size=len(q) - 7)
        seen = source.read(q, v).joints
        assert np.abs(seen - q[7:]).max() <= 0.5 * step * (1 + 1e-9)
        np.testing.assert_allclose(seen / step, np.round(seen / step), atol=1e-9)


@pytest.mark.parametrize(
    ("config", "name", "std"),
    [
        ({"encoder_noise_rad": 1e-4}, "joints", 1e-4),
        ({"velocity": {"noise_rad_s": 0.02}}, "joint_velocities", 0.02),
        ({"imu": {"gyro_noise": 1e-3}}, "gyro", 1e-3 / np.sqrt(PERIOD)),
        ({"imu": {"accel_noise": 2e-3}}, "accel", 2e-3 / np.sqrt(PERIOD)),
        ({"force_noise_N": 2.0, "moment_noise_Nm": 2.0}, "wrenches", 2.0),
    ],
)
def test_noise_is_white_with_the_given_size(
    toro: Robot, config: dict[str, Any], name: str, std: float
) -> None:
    seen = samples(sensors(toro, config), toro, 801, name)[1:].reshape(800, -1)
    seen = seen - seen.mean(axis=0)
    error = 4.0 / np.sqrt(2.0 * seen.size)
    assert seen.std() == pytest.approx(std, rel=error + 1.0 / 800)
    neighbours = np.mean(seen[1:] * seen[:-1]) / std**2
    assert abs(neighbours) < 4.0 / np.sqrt(seen.size) + 2.0 / 800


def test_biases_are_constant_in_a_run_and_spread_over_seeds(toro: Robot) -> None:
    config = {"imu": {"gyro_bias": 0.01, "accel_bias": 0.1}}
    first = samples(sensors(toro, config), toro, 3, "gyro")
    assert (first == first[0]).all() and (first != 0.0).all()
    q, v = toro.q_nominal, np.zeros(toro.model.nv)
    readings = [sensors(toro, config, seed).read(q, v) for seed in range(100)]
    gyro = np.array([r.gyro for r in readings])
    accel = np.array([r.accel for r in readings]) - [0.0, 0.0, 9.81]
    for offsets, std in ((gyro, 0.01), (accel, 0.1)):
        assert offsets.std() == pytest.approx(std, rel=4.0 / np.sqrt(600))


def test_each_sensor_has_its_own_random_numbers(toro: Robot) -> None:
    """Noise on one sensor does not change that of another; equal seeds repeat all."""
    alone = samples(sensors(toro, {"imu": {"gyro_noise": 1.0}}), toro, 5, "gyro")
    config = {"imu": {"gyro_noise": 1.0}, "encoder_noise_rad": 1.0, "force_noise_N": 1.0}
    np.testing.assert_array_equal(samples(sensors(toro, config), toro, 5, "gyro"), alone)
    other = samples(sensors(toro, {"imu": {"gyro_noise": 1.0}}, seed=1), toro, 5, "gyro")
    assert (other != alone).all()


def test_differentiated_velocities_are_a_filtered_difference(toro: Robot) -> None:
    """A ramp from rest gives the step response 1 - exp(-2 pi f t) of the filter."""
    cutoff, speed = 20.0, 0.7
    source = sensors(toro, {"velocity": {"source": "differentiated", "cutoff_hz": cutoff}})
    q, v = toro.q_nominal.copy(), np.zeros(toro.model.nv)
    assert not source.read(q, v).joint_velocities.any()
    for k in range(1, 60):
        q[7:] = toro.q_nominal[7:] + speed * PERIOD * k
        expected = speed * (1.0 - np.exp(-2.0 * np.pi * cutoff * PERIOD * k))
        np.testing.assert_allclose(source.read(q, v).joint_velocities, expected, rtol=1e-9)


def test_accelerometer_feels_the_motion_of_its_own_place(with_imu_link: Robot) -> None:
    """Spinning about the vertical, an offset unit feels the centripetal acceleration."""
    robot = with_imu_link
    body = "imu_link"
    placement = imu_placement(robot, body)
    source = sensors(robot, {"imu": {"body": body}})
    rate, q, v = 2.0, robot.q_nominal.copy(), np.zeros(robot.model.nv)
    v[5] = rate
    for k in range(3):
        q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, rate * PERIOD * k)).coeffs()
        reading = source.read(q, v)
    arm = placement.translation * [1.0, 1.0, 0.0]
    in_base = placement.rotation @ reading.accel
    # The mean over a period lags by half of it: rate x PERIOD / 2.
    np.testing.assert_allclose(in_base, -(rate**2) * arm + [0, 0, 9.81], atol=2e-3)
    np.testing.assert_allclose(placement.rotation @ reading.gyro, [0, 0, rate], atol=1e-12)


@pytest.fixture
def with_imu_link(toro: Robot) -> Robot:
    """The TORO-like robot with another body fixed to its base."""
    from dataclasses import replace

    model = toro.model.copy()
    place = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 0.5), np.array([0.1, -0.05, 0.2]))
    root = model.getFrameId("root_joint")
    model.addFrame(pin.Frame("imu_link", 1, root, place, pin.FrameType.BODY))
    return replace(toro, model=model)


def reading_at(value: float) -> Reading:
    pose = pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, value), np.array([value, 0.0, 0.0]))
    one = np.array([value])
    return Reading(pin.SE3ToXYZQUAT(pose), one, one, one, one, one, one)


@pytest.mark.parametrize("delay", [0.0, 0.25, 1.0, 2.0, 3.7])
def test_delay_is_a_shift_by_whole_and_fractional_periods(delay: float) -> None:
    """Of a signal that grows linearly with time the past is known exactly between samples too."""
    line = DelayLine(delay)
    for k in range(10):
        out = line.push(reading_at(0.1 * k))
        expected = 0.1 * max(0.0, k - delay)
        if k - delay >= 0.0 or k == 0:
            assert out.joints[0] == pytest.approx(expected, abs=1e-12)
            turn = pin.log3(pin.Quaternion(out.base_pose[3:7]).matrix())
            np.testing.assert_allclose(turn, [0.0, 0.0, expected], atol=1e-12)


def test_delayed_readings_start_with_the_first_one() -> None:
    line = DelayLine(5.0)
    assert [line.push(reading_at(1.0 + k)).joints[0] for k in range(7)] == [1, 1, 1, 1, 1, 1, 2]


def test_preset_fills_in_what_is_not_given() -> None:
    given = {"preset": "default", "delay_s": 0.002, "imu": {"gyro_noise": 0.5}}
    config = validate(SensorsConfig, given, "test")
    assert config.imu.gyro_noise == 0.5 and config.delay_s == 0.002
    assert config.imu.accel_noise == PRESETS["default"]["imu"]["accel_noise"]
    assert config.velocity.source == "differentiated"
    again = validate(SensorsConfig, config.model_dump(mode="json", exclude_none=True), "again")
    assert again == config


@pytest.mark.parametrize(
    ("body", "told"),
    [("hipp", "did you mean 'hip'?"), ("head", "must be fixed to it: hip")],
)
def test_unit_on_a_wrong_body_gets_one_sentence(toro: Robot, body: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sensors(toro, {"imu": {"body": body}})
    assert f"sensors.imu.body = '{body}'" in str(caught.value) and told in str(caught.value)
