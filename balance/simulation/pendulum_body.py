"""The pendulum that hits, shakes or presses a robot, as a body with a state of its own.

With theta its angle from hanging, towards the push, I its moment of inertia and W the torque of its
weight when it is level (:class:`balance.config.pendulum.PendulumConfig`),

    I theta'' = -W sin theta + tau_motor - tau_friction sign(theta') - f L cos theta.

Its tip touches the robot through a pad.  The depth is d = L sin theta - x, with x how far the
robot's point has moved along the push, and the pad's force, which is level,

    f = k d (1 + a d')   for d > 0,   else 0        (Hunt and Crossley),

or, of one that is attached, f = k (d + a |d| d').

A step of length dt finds the impulse i = dt f at its middle, so that pendulum and robot are given
the same impulse, and the energy of the pad is that of its spring whatever dt is: the force is
(V(d+) - V(d)) / (d+ - d), with V the spring's energy.  How the robot's point will move within the
step is taken from how it did in the last one and from its effective mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from balance.config.pendulum import (
    FallConfig,
    PendulumConfig,
    RampForceConfig,
    SineAngleConfig,
    SineForceConfig,
)

Array = NDArray[np.float64]

APART_S = 0.02  # for which a pendulum must be off the robot before its hit is over
SAME_DEPTH_M = 1e-12


@dataclass(frozen=True)
class Point:
    """The robot's point along the push: its way (m), its speed (m/s), and what it will do.

    ``drift`` (m/s) is by how much its speed grows in a step without the pendulum, ``inverse_mass``
    (1/kg) how it answers an impulse.
    """

    way: float
    speed: float
    drift: float
    inverse_mass: float


class PendulumBody:
    """State and motion of the pendulum; energies are sums since the start, J."""

    def __init__(self, config: PendulumConfig, dt: float) -> None:
        self.config, self.dt = config, dt
        self._free = isinstance(config.motion, FallConfig)
        self._forced = isinstance(config.motion, SineForceConfig | RampForceConfig)
        self._angle = None if self._free or self._forced else _angle_of_time(config)
        self._force = _force_of_time(config) if self._forced else None
        self.reset()

    def reset(self) -> None:
        """Where it is before it begins."""
        free = isinstance(self.config.motion, FallConfig)
        self.angle = -self.config.release_rad if free else 0.0
        self.rate = 0.0
        self.depth = 0.0
        self.friction_J = self.pad_loss_J = self.motor_J = 0.0
        self.return_J: float | None = None
        """Its energy where it came to rest after a hit; None before."""
        self.caught = self._hit = False
        self._apart = 0.0

    @property
    def energy(self) -> float:
        """Kinetic and potential energy, J."""
        return 0.5 * self.config.inertia * self.rate**2 + self.potential(self.angle)

    def potential(self, angle: float) -> float:
        """Of its weight, above that of hanging, J."""
        return self.config.weight_Nm * (1.0 - math.cos(angle))

    @property
    def spring_J(self) -> float:
        """What the pad's spring holds."""
        return self._stored(self.depth)

    def _stored(self, depth: float) -> float:
        if not self.config.attached:
            depth = max(depth, 0.0)
        return 0.5 * self.config.pad.stiffness * depth**2

    def step(self, time: float, point: Point) -> float:
        """Move on by a step that begins at ``time``; the impulse on the robot's point, N s."""
        config = self.config
        if time < config.time_s - 1e-9 * self.dt or self.caught:
            return 0.0
        if not self._free and time > config.end_s - 0.5 * self.dt:
            self.caught = True  # it lets go
            self.depth = 0.0
            return 0.0
        self.depth = config.length_m * math.sin(self.angle) - point.way
        move = self._driven(time) if self._angle is not None else self._swing(time)

        def excess(impulse: float) -> float:
            return impulse - self.dt * self._pad_force(self._closing(move, impulse, point))

        impulse = self.dt * self._pad_force(self._closing(move, 0.0, point))
        if impulse != 0.0:
            ends = sorted((0.0, impulse))
            from scipy.optimize import brentq  # slow to import

            impulse = float(brentq(excess, ends[0], ends[1], xtol=1e-14, rtol=1e-13))
        self._advance(move, impulse, point)
        return impulse

    def _swing(self, time: float) -> Callable[[float], tuple[float, float, float]]:
        """New angle, rate and the friction's impulse (N m s), as functions of the tip's impulse."""
        config, dt = self.config, self.dt
        middle = self.angle + 0.5 * dt * self.rate
        lever = config.length_m * math.cos(middle)
        if self._force is None:
            torque, friction = -config.weight_Nm * math.sin(middle), config.friction_Nm * dt
        else:  # the motor makes up for weight and friction
            torque, friction = lever * self._force(time + 0.5 * dt), 0.0

        def move(impulse: float) -> tuple[float, float, float]:
            momentum = config.inertia * self.rate + dt * torque - lever * impulse
            braked = -math.copysign(min(friction, abs(momentum)), momentum)
            rate = (momentum + braked) / config.inertia
            return self.angle + 0.5 * dt * (self.rate + rate), rate, braked

        return move

    def _driven(self, time: float) -> Callable[[float], tuple[float, float, float]]:
        """The same of one whose motor follows an angle over time, whatever that takes."""
        assert self._angle is not None
        angle = self._angle(time + self.dt)
        rate = (angle - self.angle) / self.dt

        def move(impulse: float) -> tuple[float, float, float]:
            return angle, rate, 0.0

        return move

    def _closing(
        self, move: Callable[[float], tuple[float, float, float]], impulse: float, point: Point
    ) -> float:
        """Mean speed (m/s) with which the depth grows within the step."""
        tip = self._tip_way(move(impulse)[0]) / self.dt
        return tip - point.speed - 0.5 * (point.drift + point.inverse_mass * impulse)

    def _tip_way(self, angle: float) -> float:
        return self.config.length_m * (math.sin(angle) - math.sin(self.angle))

    def _pad_force(self, closing: float) -> float:
        """Mean force of the pad, N, when the depth grows at this speed within the step."""
        pad, before = self.config.pad, self.depth
        after = before + self.dt * closing
        if self.config.attached:
            middle = 0.5 * (before + after)
            return pad.stiffness * (middle + pad.damping * abs(middle) * closing)
        if abs(after - before) < SAME_DEPTH_M:
            spring = pad.stiffness * max(before, 0.0)
        else:
            spring = (self._stored(after) - self._stored(before)) / (after - before)
        return spring * max(0.0, 1.0 + pad.damping * closing)

    def _advance(
        self,
        move: Callable[[float], tuple[float, float, float]],
        impulse: float,
        point: Point,
    ) -> None:
        """Take the step, and keep the books."""
        closing = self._closing(move, impulse, point)
        angle, rate, braked = move(impulse)
        energy = self.energy
        turned = angle - self.angle
        self.friction_J -= braked * turned / self.dt
        self.pad_loss_J += impulse * closing - (
            self._stored(self.depth + self.dt * closing) - self._stored(self.depth)
        )
        given = impulse * self._tip_way(angle) / self.dt  # to pad and robot
        was = self.rate
        self.angle, self.rate = angle, rate
        self.depth += self.dt * closing
        if not self._free:
            self.motor_J += self.energy - energy + given
        self._watch(was, impulse)

    def _watch(self, was: float, impulse: float) -> None:
        """Notice the end of a hit and where the pendulum comes to rest after it."""
        if impulse != 0.0:
            self._hit, self._apart = True, 0.0
            return
        if not self._hit or not self._free or self.return_J is not None:
            return
        self._apart += self.dt
        if self._apart > APART_S and (self.rate == 0.0 or was * self.rate < 0.0):
            self.return_J = self.energy
            self.caught = self.config.caught


def _angle_of_time(config: PendulumConfig) -> Callable[[float], float]:
    """The angle (rad) that a motor follows."""
    motion, start = config.motion, config.time_s
    if isinstance(motion, SineAngleConfig):
        size, omega = math.radians(motion.amplitude_deg), 2.0 * math.pi * motion.frequency_hz
        return lambda time: size * _soft_sine(omega * max(0.0, time - start))
    assert not isinstance(motion, FallConfig | SineForceConfig | RampForceConfig)
    speed = math.radians(motion.rate_deg_s)
    return lambda time: speed * max(0.0, time - start)


def _soft_sine(phase: float) -> float:
    """A sine that grows to its size within half a cycle: no motor starts at full speed."""
    return math.sin(phase) * (0.5 - 0.5 * math.cos(min(phase, math.pi)))


def _force_of_time(config: PendulumConfig) -> Callable[[float], float]:
    """The force (N) at the tip for which a motor's torque is made."""
    motion, start = config.motion, config.time_s
    if isinstance(motion, SineForceConfig):
        omega = 2.0 * math.pi * motion.frequency_hz
        size = motion.amplitude_N
        return lambda time: size * math.sin(omega * max(0.0, time - start))
    assert isinstance(motion, RampForceConfig)
    rate = motion.rate_N_s
    return lambda time: rate * max(0.0, time - start)
