"""What a learned policy is shown: numbers of the state, in the order and scale of its training."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from pydantic import BeforeValidator, model_validator

from balance.config.schema import Strict
from balance.config.values import Positive
from balance.errors import ConfigError, known_names
from balance.robots import Robot

Array = NDArray[np.float64]

SIGNALS: dict[str, str] = {
    "gravity": "direction of gravity in base axes (3)",
    "quaternion": "orientation of the base in the world, its scalar part not negative (4)",
    "angular_velocity": "of the base in base axes, rad/s (3)",
    "linear_velocity": "of the base in base axes, m/s (3)",
    "joints": "joint angles, from `posture`, rad",
    "joint_rates": "joint velocities, rad/s",
    "last_action": "what the network gave last, zeros before; one for each of its joints",
    "command": "the numbers under `values`",
    "phase": "sine and cosine of 2 pi t / `period_s` (2)",
}
_OWN = {
    "quaternion": ("scalar",),
    "joints": ("joints",),
    "joint_rates": ("joints",),
    "command": ("values",),
    "phase": ("period_s",),
}
"""Keys that only some signals have."""


class SignalConfig(Strict):
    """A part of what a network is shown."""

    signal: Literal[
        "gravity",
        "quaternion",
        "angular_velocity",
        "linear_velocity",
        "joints",
        "joint_rates",
        "last_action",
        "command",
        "phase",
    ]
    """What is shown. Example: gravity."""
    scale: float | tuple[float, ...] = 1.0
    """Factor of the numbers, one for all or one for each [-]. Example: 0.25."""
    clip: Positive | None = None
    """Largest size of a number once it is scaled; none if not given [-]. Example: 100."""
    joints: tuple[str, ...] | None = None
    """Of `joints` and `joint_rates`: which, in which order; those of the law if not given. Example:
    [left_knee, right_knee]."""
    scalar: Literal["first", "last"] = "last"
    """Of `quaternion`: where its scalar part stands."""
    values: tuple[float, ...] = ()
    """Of `command`: its numbers [-]. Example: [0, 0, 0]."""
    period_s: Positive | None = None
    """Of `phase`: how long a cycle takes. Example: 0.8."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        own = _OWN.get(self.signal, ())
        for key in ("joints", "period_s", "scalar", "values"):
            # Not whether it is set: the config of a result spells everything out.
            given = getattr(self, key) != type(self).model_fields[key].default
            if given and key not in own:
                raise ValueError(f"signal '{self.signal}' has no key {key}; leave it out")
        if self.signal == "command" and not self.values:
            raise ValueError("signal 'command' needs the key values, its numbers")
        if self.signal == "phase" and self.period_s is None:
            raise ValueError("signal 'phase' needs the key period_s, the length of a cycle")
        return self


def _named(value: Any) -> Any:
    return {"signal": value} if isinstance(value, str) else value


Signal = Annotated[SignalConfig, BeforeValidator(_named)]
STATE: tuple[SignalConfig, ...] = tuple(
    SignalConfig(signal=signal)
    for signal in ("gravity", "angular_velocity", "linear_velocity", "joints", "joint_rates")
)
"""The state of a robot that does not know where it is."""


class Observation:
    """The numbers that a network is shown, frame by frame.

    Each frame is what ``observe`` lists, one part after the other; of several frames the oldest
    stands first.  Before there were so many the first one stands for those that lack.
    """

    def __init__(
        self,
        parts: Sequence[SignalConfig],
        robot: Robot,
        joints: NDArray[np.intp],
        posture: Array,
        frames: int,
    ) -> None:
        """``joints`` are those of the network, ``posture`` (nj,) what all angles count from."""
        self._posture, self._shown_joints = posture, joints
        self._parts: list[tuple[slice, Read, Array, float]] = []
        self.last_action = np.zeros(len(joints))
        words, size = [], 0
        zero = np.zeros(robot.model.nv)
        for index, part in enumerate(parts):
            read = self._reader(part, robot, f"controller.observe.{index}.joints")
            count = len(read(robot.q_nominal, zero, 0.0))
            scale = np.array(part.scale, dtype=float)
            if scale.ndim and len(scale) != count:
                raise ConfigError(
                    f"'controller.observe.{index}.scale' has {len(scale)} numbers, and "
                    f"'{part.signal}' has {count}; give one for all, or one for each"
                )
            self._parts.append((slice(size, size + count), read, scale, part.clip or np.inf))
            words.append(f"{part.signal} {count}")
            size += count
        self._frames: deque[Array] = deque(maxlen=frames)
        self._width, self.size = size, size * frames
        self.words = ", ".join(words) + (f", {frames} times" if frames > 1 else "")
        """What it consists of."""

    def _reader(self, part: SignalConfig, robot: Robot, key: str) -> Read:
        joints = self._shown_joints
        if part.joints is not None:
            joints = joint_indices(part.joints, robot, key)
        rest, command = self._posture[joints], np.array(part.values)
        order = [3, 0, 1, 2] if part.scalar == "first" else [0, 1, 2, 3]
        rate = 2.0 * np.pi / (part.period_s or 1.0)
        readers: dict[str, Read] = {
            "gravity": lambda q, v, t: -pin.Quaternion(q[3:7]).matrix()[2],
            "quaternion": lambda q, v, t: (q[3:7] if q[6] >= 0.0 else -q[3:7])[order],
            "angular_velocity": lambda q, v, t: v[3:6],
            "linear_velocity": lambda q, v, t: v[:3],
            "joints": lambda q, v, t: q[7:][joints] - rest,
            "joint_rates": lambda q, v, t: v[6:][joints],
            "last_action": lambda q, v, t: self.last_action,
            "command": lambda q, v, t: command,
            "phase": lambda q, v, t: np.array([np.sin(rate * t), np.cos(rate * t)]),
        }
        return readers[part.signal]

    def add(self, q: Array, v: Array, t: float) -> Array:
        """The observation (size,) with the frame of this state as its latest."""
        frame = np.empty(self._width)
        for place, read, scale, most in self._parts:
            frame[place] = np.clip(scale * read(q, v, t), -most, most)
        lacking = (self._frames.maxlen or 1) - 1 if not self._frames else 0
        self._frames.extend([frame] * (1 + lacking))
        return np.concatenate(self._frames)


Read = Callable[[Array, Array, float], Array]
"""Numbers of a configuration, a velocity and a time."""


def joint_indices(
    names: Sequence[str] | Mapping[str, float], robot: Robot, key: str
) -> NDArray[np.intp]:
    """Where joints stand among those of the robot; an error names one that it lacks."""
    known, given = robot.joint_names, list(names)
    for index, name in enumerate(given):
        keyed = isinstance(names, Mapping)
        where = f"'{key}.{name}'" if keyed else f"'{key}.{index}' = '{name}'"
        if name not in known:
            raise ConfigError(
                f"{where}: robot '{robot.name}' has no such joint{known_names(name, known)}"
            )
        if name in given[:index]:
            raise ConfigError(f"{where} stands there twice")
    return np.array([known.index(name) for name in names], dtype=np.intp)


PerJoint = float | tuple[float, ...] | dict[str, float]
"""One number for all joints, one for each in their order, or some by the joints' names."""


def per_joint(given: PerJoint | None, names: Sequence[str], usual: Array, key: str) -> Array:
    """One number for each of the named joints; ``usual`` for those of which nothing is said."""
    numbers = usual.copy()
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                raise ConfigError(
                    f"'{key}.{name}': the network has no such joint{known_names(name, names)}"
                )
            numbers[list(names).index(name)] = value
    elif isinstance(given, tuple) and len(given) != len(names):
        raise ConfigError(
            f"'{key}' has {len(given)} numbers for {len(names)} joints; give one for all, one for "
            "each, or some by name"
        )
    elif given is not None:
        numbers[:] = given
    return numbers
