"""Pushes: forces over time at a point of a body, with an exact impulse in every interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from pydantic import Field

from balance.config import PUSHES, ExperimentConfig, PushConfig
from balance.config.sections import check_code, is_unread
from balance.config.user_code import FOREIGN, shown_name, told
from balance.config.values import NonNegative, Positive
from balance.dynamics.checks import symmetrise
from balance.errors import BalanceError, ConfigError, known_names
from balance.robots import Robot

Array = NDArray[np.float64]


class Profile(Protocol):
    """How a kind of push spreads over time; made from its section of the YAML and the robot."""

    @property
    def impulse(self) -> float:
        """All of it, N s."""
        ...

    @property
    def duration(self) -> float:
        """From its beginning to its end, s; 0 if all of it falls into one simulation step."""
        ...

    def delivered(self, share: float) -> float:
        """The share of the impulse that is delivered after a share, in (0, 1), of its duration."""
        ...


class ForcePush:
    """A constant force for a while."""

    class Config(PushConfig):
        """Keys of `type: force`."""

        force_N: Positive
        """Its size. Example: 150."""
        duration_s: Positive
        """How long it lasts. Example: 0.1."""

    def __init__(self, config: Config, robot: Robot) -> None:
        self.impulse, self.duration = config.force_N * config.duration_s, config.duration_s

    def delivered(self, share: float) -> float:
        """As much as time has passed."""
        return share


class HalfSinePush:
    """A force that rises and falls as half a sine and adds up to ``impulse_Ns``."""

    class Config(PushConfig):
        """Keys of `type: half_sine`."""

        impulse_Ns: Positive
        """What the force adds up to."""
        duration_s: Positive
        """How long it lasts."""

    def __init__(self, config: Config, robot: Robot) -> None:
        self.impulse, self.duration = config.impulse_Ns, config.duration_s

    def delivered(self, share: float) -> float:
        """The integral of the half sine."""
        return 0.5 * (1.0 - math.cos(math.pi * share))


class ImpulsePush:
    """An impulse: within one simulation step, or spread evenly over ``duration_s``."""

    class Config(PushConfig):
        """Keys of `type: impulse`."""

        impulse_Ns: Positive
        """What it adds up to. Example: 12."""
        duration_s: NonNegative = 0.0
        """How long it takes; 0: within one simulation step."""

    def __init__(self, config: Config, robot: Robot) -> None:
        self.impulse, self.duration = config.impulse_Ns, config.duration_s

    def delivered(self, share: float) -> float:
        """As much as time has passed."""
        return share


class PendulumPush:
    """A hit by a point mass with kinetic energy ``energy_J`` and coefficient of restitution.

    The impulse follows from the robot's effective mass at the hit point; it is delivered as half a
    sine over ``duration_s``.
    """

    class Config(PushConfig):
        """Keys of `type: pendulum`."""

        mass_kg: Positive
        """Of the point mass that hits."""
        energy_J: Positive
        """Its kinetic energy before the hit."""
        restitution: Annotated[float, Field(ge=0, le=1)]
        """Coefficient of restitution: 0 for a hit that sticks, 1 for an elastic one [-]."""
        duration_s: Positive
        """How long the hit takes."""

    def __init__(self, config: Config, robot: Robot) -> None:
        body = robot.push_body if config.body is None else config.body
        direction = np.array(config.direction) / np.linalg.norm(config.direction)
        felt = effective_mass(
            robot, robot.q_nominal, body, np.array(config.point_m), direction, config.axes == "body"
        )
        self.impulse = pendulum_impulse(config.mass_kg, config.energy_J, config.restitution, felt)
        self.duration = config.duration_s
        self.mass, self.speed = config.mass_kg, math.sqrt(2.0 * config.energy_J / config.mass_kg)

    def delivered(self, share: float) -> float:
        """The integral of a half sine."""
        return 0.5 * (1.0 - math.cos(math.pi * share))


@dataclass(frozen=True)
class Push:
    """A push of total impulse ``impulse`` (N s) along ``direction`` from ``start`` to ``end`` (s).

    ``profile`` says how it is spread; with start = end all of it falls into the step that contains
    that instant, its beginning included.
    """

    body: str
    point: Array
    direction: Array
    in_body_axes: bool
    start: float
    end: float
    impulse: float
    profile: Profile

    def delivered(self, time: float) -> float:
        """Impulse delivered before ``time``, N s: the integral of the force."""
        if time <= self.start:
            return 0.0
        if time >= self.end:
            return self.impulse
        share = (time - self.start) / (self.end - self.start)
        return self.impulse * self.profile.delivered(share)

    def between(self, begin: float, end: float) -> float:
        """Impulse delivered from ``begin`` (included) to ``end`` (excluded), N s.

        Intervals that follow one another add up to the whole, whatever their length.
        """
        return self.delivered(end) - self.delivered(begin)


@dataclass(frozen=True)
class _Guarded:
    """A user's own profile: whatever it raises is told in a sentence that names it."""

    inside: Profile
    name: str
    impulse: float
    duration: float

    def delivered(self, share: float) -> float:
        """The share of the impulse that is delivered."""
        try:
            part = float(self.inside.delivered(share))
        except FOREIGN as error:
            raise RuntimeError(f"push '{self.name}': {told(error, self.inside)}") from None
        if not math.isfinite(part):
            raise RuntimeError(f"push '{self.name}': delivered({share:.6g}) is {part}")
        return part


@dataclass(frozen=True)
class _Even:
    """What is known of a push from its result alone: how much, and for how long."""

    impulse: float
    duration: float

    def delivered(self, share: float) -> float:
        """As much as time has passed."""
        return share


def body_names(robot: Robot) -> list[str]:
    """What a push can act on."""
    return [frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY]


def unknown_body(index: int, body: str, robot: Robot) -> ConfigError:
    """The mistake of a push on a body that the robot does not have."""
    return ConfigError(
        f"pushes.{index}.body = '{body}': robot '{robot.name}' has no such body"
        f"{known_names(body, body_names(robot))}"
    )


def make_pushes(
    config: ExperimentConfig, robot: Robot, given: Sequence[Mapping[str, Any]] | None = None
) -> list[Push]:
    """The pushes of an experiment, with every impulse worked out.

    Where the code behind one was not loaded, as in the config of a result, ``given`` says what was
    delivered: the entries ``pushes`` of its summary.
    """
    bodies, pushes = body_names(robot), []
    for index, item in enumerate(config.pushes):
        body = robot.push_body if item.body is None else item.body
        if body not in bodies:
            raise unknown_body(index, body, robot)
        direction = np.array(item.direction) / np.linalg.norm(item.direction)
        point, in_body = np.array(item.point_m), item.axes == "body"
        if is_unread(item) and given is not None:
            told_of = given[index]
            duration = float(told_of["end_s"]) - float(told_of["start_s"])
            profile: Profile = _Even(float(told_of["impulse_Ns"]), duration)
        else:
            profile = _profile(config, index, robot)
        start, end = item.time_s, item.time_s + profile.duration
        pushes.append(Push(body, point, direction, in_body, start, end, profile.impulse, profile))
    return pushes


def _profile(config: ExperimentConfig, index: int, robot: Robot) -> Profile:
    item, key = config.pushes[index], f"pushes.{index}.type"
    kind = PUSHES.find(item.type, key)
    if kind.code is None:
        ours: Profile = kind.target(item, robot)
        return ours
    check_code(kind, config.code)
    try:
        profile = kind.target(item, robot)
        impulse, duration = float(profile.impulse), float(profile.duration)
    except BalanceError:
        raise
    except FOREIGN as error:
        raise ConfigError(
            f"'{key}' = '{item.type}' cannot be made: {told(error, kind.target)}"
        ) from None
    if not (math.isfinite(impulse) and math.isfinite(duration) and duration >= 0.0):
        raise ConfigError(
            f"'{key}' = '{item.type}': its impulse is {impulse} N s and its duration {duration} s; "
            "both must be finite, and the duration not negative"
        )
    guarded = _Guarded(profile, shown_name(item.type), impulse, duration)
    try:
        guarded.delivered(0.5)
    except RuntimeError as error:
        raise ConfigError(f"'{key}' = '{item.type}': {error}") from None
    return guarded


def pendulum_impulse(mass: float, energy: float, restitution: float, target_mass: float) -> float:
    """Impulse (N s) of a point mass with kinetic ``energy`` (J) that hits a resting target.

    Newton's law of impact: (1 + e) v m m_t / (m + m_t), with m_t the target's effective mass at
    the hit point.
    """
    speed = math.sqrt(2.0 * energy / mass)
    return (1.0 + restitution) * speed * mass * target_mass / (mass + target_mass)


def effective_mass(
    robot: Robot,
    q: Array,
    body: str,
    point: Array,
    direction: Array,
    in_body_axes: bool = False,
) -> float:
    """Mass (kg) that a hit on ``body`` feels along ``direction`` while the soles stay put.

    1 / (n^T J P J^T n), with P = M^-1 - M^-1 J_c^T (J_c M^-1 J_c^T)^-1 J_c M^-1 the inverse inertia
    that is left when the contacts hold.
    """
    model, data = robot.model, robot.model.createData()
    M = symmetrise(pin.crba(model, data, q))
    pin.computeJointJacobians(model, data, q)
    pin.framesForwardKinematics(model, data, q)
    frame = model.frames[model.getFrameId(body)]
    placement = frame.placement * pin.SE3(np.eye(3), point)
    J = pin.getFrameJacobian(model, data, frame.parentJoint, placement, pin.LOCAL_WORLD_ALIGNED)
    rotation = data.oMi[frame.parentJoint].rotation @ placement.rotation
    row = (rotation @ direction if in_body_axes else direction) @ J[:3]
    J_c = np.concatenate(
        [pin.getFrameJacobian(model, data, sole.frame_id, pin.LOCAL) for sole in robot.soles]
    )
    M_inv_row, M_inv_J = np.linalg.solve(M, row), np.linalg.solve(M, J_c.T)
    held = np.linalg.lstsq(J_c @ M_inv_J, J_c @ M_inv_row, rcond=1e-10)[0]
    return float(1.0 / (row @ (M_inv_row - M_inv_J @ held)))
