"""What a robot knows of itself: encoders, an inertial unit on the base, force sensors at the soles.

Sensors are sampled once in a control period.  They see the true state of a plant and report it
with noise, offsets, rounding and delay; the plant does not know of them.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.config.sensors import JointVelocityConfig, SensorsConfig
from balance.errors import ConfigError, known_names
from balance.robots import Robot
from balance.simulation.plants.interface import Plant

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reading:
    """One sample of all sensors.

    ``base_pose`` (7,) and ``base_velocity`` (6,) are the true ones, as old as the rest;
    ``joints`` rad and ``joint_velocities`` rad/s (nj,); ``gyro`` rad/s and ``accel`` m/s^2 (3,),
    the specific force, in the axes of the inertial unit; ``wrenches`` (k, 6) of the soles.
    """

    base_pose: Array
    base_velocity: Array
    joints: Array
    joint_velocities: Array
    gyro: Array
    accel: Array
    wrenches: Array


class Sensors:
    """The sensors of a robot in a plant."""

    def __init__(
        self,
        config: SensorsConfig,
        plant: Plant,
        robot: Robot,
        period: float,
        seeds: np.random.SeedSequence,
    ) -> None:
        """``period`` is the time between two readings in s."""
        encoder, velocity, gyro, accel, force = map(np.random.default_rng, seeds.spawn(5))
        nj, imu = robot.model.nv - 6, config.imu
        self._plant = plant
        self._encoders = Encoders(config, nj, encoder)
        self._velocity = VelocitySensor(config.velocity, nj, period, velocity)
        self._motion = BaseMotion(imu_placement(robot, imu.body), robot.model, period)
        per_sample = 1.0 / math.sqrt(period)
        self._gyro = Noise(gyro, per_sample * imu.gyro_noise, imu.gyro_bias)
        self._accel = Noise(accel, per_sample * imu.accel_noise, imu.accel_bias)
        self._force_std = np.repeat([config.force_noise_N, config.moment_noise_Nm], 3)
        self._force = force
        # The engines know no contact force before their first step: the robot stands.
        self._first_wrenches: Array | None = np.zeros((len(robot.soles), 6))
        weight = robot.mass * np.linalg.norm(robot.model.gravity.linear)
        self._first_wrenches[:, 2] = weight / len(robot.soles)
        self._delay = DelayLine(config.delay_s / period) if config.delay_s > 0.0 else None

    def read(self, q: Array, v: Array) -> Reading:
        """Sample all sensors at the true state ``q``, ``v``; the reading is ``delay_s`` old."""
        q, v = q.copy(), v.copy()  # readings are kept for a while
        joints = self._encoders.read(q[7:])
        gyro, accel = self._motion.sample(q, v)
        wrenches = self._plant.contact_wrenches
        if self._first_wrenches is not None:
            wrenches, self._first_wrenches = self._first_wrenches, None
        noise = self._force_std * self._force.standard_normal(wrenches.shape)
        reading = Reading(
            q[:7],
            v[:6],
            joints,
            self._velocity.read(joints, v[6:]),
            self._gyro.on(gyro),
            self._accel.on(accel),
            wrenches + noise,
        )
        return reading if self._delay is None else self._delay.push(reading)


class Encoders:
    """Joint angles with white noise, rounded to the resolution."""

    def __init__(self, config: SensorsConfig, n: int, rng: np.random.Generator) -> None:
        self._std, self._step = config.encoder_noise_rad, config.encoder_resolution_rad
        self._n, self._rng = n, rng

    def read(self, angles: Array) -> Array:
        """What the encoders say of ``angles`` (nj,), rad."""
        if self._std > 0.0:
            angles = angles + self._std * self._rng.standard_normal(self._n)
        if self._step > 0.0:
            angles = self._step * np.round(angles / self._step)
        return angles


class VelocitySensor:
    """Joint velocities, measured or differentiated, behind a first-order low-pass filter.

    The filter is exact for an input that is constant over a period T: with corner frequency f it
    takes the share 1 - exp(-2 pi f T) of every new value.
    """

    def __init__(
        self, config: JointVelocityConfig, n: int, period: float, rng: np.random.Generator
    ) -> None:
        self._differentiated = config.source == "differentiated"
        self._std, self._period, self._rng, self._n = config.noise_rad_s, period, rng, n
        cutoff = config.cutoff_hz
        self._share = 1.0 if cutoff is None else 1.0 - math.exp(-2.0 * math.pi * cutoff * period)
        self._last: Array | None = None
        self._filtered: Array | None = None

    def read(self, encoders: Array, velocities: Array) -> Array:
        """Velocities (nj,) from the encoders' angles, or from the true ``velocities``."""
        value = velocities
        if self._differentiated:
            last = encoders if self._last is None else self._last
            value, self._last = (encoders - last) / self._period, encoders
        if self._std > 0.0:
            value = value + self._std * self._rng.standard_normal(self._n)
        if self._filtered is None:
            self._filtered = value
        self._filtered = self._filtered + self._share * (value - self._filtered)
        return self._filtered


class BaseMotion:
    """Angular velocity and specific force at the inertial unit.

    The specific force is the mean over the last period, in the present axes: Delta v / T - g.
    """

    def __init__(self, placement: pin.SE3, model: pin.Model, period: float) -> None:
        self._R_BI, self._p_BI = placement.rotation.copy(), placement.translation.copy()
        self._gravity, self._period = np.array(model.gravity.linear), period
        self._last: Array | None = None

    def sample(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Angular velocity (3,) rad/s and specific force (3,) m/s^2 in the unit's axes."""
        R_WI, R_IB = pin.Quaternion(q[3:7]).matrix().dot(self._R_BI), self._R_BI.T
        omega = v[3:6]
        velocity = R_WI.dot(R_IB.dot(v[:3] + _cross(omega, self._p_BI)))
        last = velocity if self._last is None else self._last
        self._last = velocity
        force = (velocity - last) / self._period - self._gravity
        return R_IB.dot(omega), R_WI.T.dot(force)


def _cross(a: Array, b: Array) -> Array:
    """``np.cross`` of two vectors, to the last bit, at a tenth of its time."""
    (a_x, a_y, a_z), (b_x, b_y, b_z) = a.tolist(), b.tolist()
    return np.array([a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x])


class Noise:
    """White noise and a constant offset on three axes."""

    def __init__(self, rng: np.random.Generator, std: float, bias_std: float) -> None:
        self._rng, self._std = rng, std
        self.bias = bias_std * rng.standard_normal(3)

    def on(self, value: Array) -> Array:
        """``value`` (3,) as the sensor reports it."""
        return np.asarray(value + self.bias + self._std * self._rng.standard_normal(3))


class DelayLine:
    """Readings from ``delay`` sampling periods ago, interpolated between the two nearest.

    Before that much time has passed, the first reading is repeated.
    """

    def __init__(self, delay: float) -> None:
        # A delay of a whole number of periods shall not be a mixture because of rounding.
        delay = round(delay, 9)
        self._share = delay - math.floor(delay)
        self._kept: deque[Reading] = deque(maxlen=math.floor(delay) + 2)

    def push(self, reading: Reading) -> Reading:
        """Take the newest reading, and give the one that is due."""
        if not self._kept:
            self._kept.extend([reading] * (self._kept.maxlen or 1))
        self._kept.append(reading)
        older, newer = self._kept[0], self._kept[1]
        return newer if self._share == 0.0 else _between(newer, older, self._share)


def _between(newer: Reading, older: Reading, share: float) -> Reading:
    """``newer``, moved by ``share`` of the way to ``older``."""

    def mix(name: str) -> Array:
        a: Array = getattr(newer, name)
        return np.asarray(a + share * (getattr(older, name) - a))

    names = ("base_velocity", "joints", "joint_velocities", "gyro", "accel", "wrenches")
    pose = pin.SE3.Interpolate(_placement(newer), _placement(older), share)
    return Reading(pin.SE3ToXYZQUAT(pose), *(mix(name) for name in names))


def _placement(reading: Reading) -> pin.SE3:
    return pin.XYZQUATToSE3(reading.base_pose)


def imu_placement(robot: Robot, body: str | None) -> pin.SE3:
    """Placement of the inertial unit in the frame of the base's joint."""
    model = robot.model
    bodies = {f.name: f for f in model.frames if f.type == pin.FrameType.BODY}
    if body is None:
        return pin.SE3.Identity()
    if body not in bodies:
        raise ConfigError(
            f"sensors.imu.body = '{body}': robot '{robot.name}' has no such body"
            f"{known_names(body, bodies)}"
        )
    if bodies[body].parentJoint != 1:
        fixed = [name for name, frame in bodies.items() if frame.parentJoint == 1]
        raise ConfigError(
            f"sensors.imu.body = '{body}' moves relative to the base of robot '{robot.name}'; "
            f"the inertial unit must be fixed to it: {', '.join(fixed)}"
        )
    return bodies[body].placement
