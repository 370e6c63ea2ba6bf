"""The YAML schema of an experiment, and loading it with overrides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from balance.errors import ConfigError, FileError, known_names
from balance.paths import data_folder
from balance.schema import Strict, load_yaml_mapping, parse_yaml, validate

Array = NDArray[np.float64]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Vector3 = tuple[float, float, float]

LAWS: dict[str, str] = {"momentum": "momentum-based balancing, Garofalo2015 (38)-(39)"}
ENGINES = {"pinocchio": "rigid bodies and Coulomb contacts by Pinocchio's own solvers"}
MAX_STEPS = 4_000_000


def _gain(value: Any) -> Any:
    """A 3 x 3 gain from a number, three numbers, or nine; symmetric positive definite."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape == ():
        array = array * np.eye(3)
    elif array.shape == (3,):
        array = np.diag(array)
    if isinstance(value, bool) or array.shape != (3, 3):
        raise ValueError("a gain is one number, three numbers or a 3 x 3 matrix of numbers")
    symmetric = np.isfinite(array).all() and np.allclose(array, array.T, rtol=1e-12, atol=0)
    if not symmetric or np.linalg.eigvalsh(array)[0] <= 0.0:
        raise ValueError("a gain must be finite, symmetric and positive definite")
    return tuple(map(tuple, value)) if np.ndim(value) == 2 else value


Gain = Annotated[float | Vector3 | tuple[Vector3, Vector3, Vector3], BeforeValidator(_gain)]


def gain_matrix(gain: float | Vector3 | tuple[Vector3, ...]) -> Array:
    """The 3 x 3 matrix of a gain given as scalar, diagonal or matrix."""
    array = np.array(gain, dtype=float)
    return array if array.ndim == 2 else np.diag(np.broadcast_to(array, 3))


def _direction(value: Vector3) -> Vector3:
    if np.linalg.norm(value) < 1e-9:
        raise ValueError("a direction must not be zero")
    return value


Direction = Annotated[Vector3, AfterValidator(_direction)]


class Build(Strict):
    """Mass and CoM height of a robot."""

    mass_kg: Positive
    com_height_m: Positive


class Gains(Strict):
    """Gains of the momentum law: K_P N/m, K_D 1/s, K_R N m, D 1/s (Garofalo2015, Table 1).

    With ``designed_for`` they are meant for a robot of that build and are scaled to the actual one
    by mass and size.
    """

    K_P: Gain
    K_D: Gain
    K_R: Gain
    D: Gain
    designed_for: Build | None = None


class ContactAssumptions(Strict):
    """What a law believes of every contact: Coulomb friction, margins and force limits."""

    friction: Positive = 0.6
    cop_margin_m: NonNegative = 0.005
    min_normal_force_N: NonNegative = 10.0
    max_normal_force_N: Positive | None = None


class WrenchQP(Strict):
    """Weights of the contact-wrench QP (squared N, squared N m) and its solver."""

    solver: str = "quadprog"
    linear_weight: Positive = 1.0
    angular_weight: Positive = 10.0
    regularisation: Annotated[float, Field(gt=0, le=1)] = 1e-6


class Impedance(Strict):
    """Joint impedance of the joints that the law leaves free, per unit of joint inertia."""

    frequency_hz: Positive
    damping_ratio: Positive


class Setpoint(Strict):
    """A smooth move, over ``duration_s``, to offsets from the nominal CoM and base orientation."""

    time_s: NonNegative
    duration_s: Positive
    com_m: Vector3 = (0.0, 0.0, 0.0)
    base_rpy_rad: Vector3 = (0.0, 0.0, 0.0)


class MomentumLaw(Strict):
    """The momentum-based balancing law."""

    law: Literal["momentum"]
    gains: Gains
    contacts: ContactAssumptions = ContactAssumptions()
    qp: WrenchQP = WrenchQP()
    impedance: Impedance | None = None
    setpoints: tuple[Setpoint, ...] = ()


def _known_law(value: Any) -> Any:
    law = value.get("law") if isinstance(value, Mapping) else None
    if isinstance(law, str) and law not in LAWS:
        told = "; ".join(f"{name}: {text}" for name, text in LAWS.items())
        raise ValueError(f"unknown law '{law}'; known laws are {told}")
    return value


class Soft(Strict):
    """Spring and damper at each corner of a soft contact: N/m and N s/m."""

    stiffness: Positive = 2e5
    damping: Positive = 1e3


class Plant(Strict):
    """The simulated robot and ground.

    ``joint_damping`` is viscous joint friction in N m s/rad, one number or one per joint name.
    """

    engine: Literal["pinocchio"] = "pinocchio"
    step_s: Annotated[float, Field(gt=0, le=0.01)] = 0.001
    friction: Positive = 0.8
    joint_damping: NonNegative | dict[str, NonNegative] = 0.0
    contact: Literal["hard", "soft", "welded"] = "hard"
    soft: Soft = Soft()
    contact_tolerance: Annotated[float, Field(gt=0, le=1e-4)] = 1e-9
    torque_limits: bool = True


class PushBase(Strict):
    """Where and when a push acts: on ``body`` at ``point_m`` of its frame, from ``time_s`` on."""

    body: str | None = None
    point_m: Vector3 = (0.0, 0.0, 0.0)
    direction: Direction
    axes: Literal["world", "body"] = "world"
    time_s: NonNegative


class ForcePush(PushBase):
    """A constant force for a while."""

    type: Literal["force"]
    force_N: Positive
    duration_s: Positive


class HalfSinePush(PushBase):
    """A force that rises and falls as half a sine and adds up to ``impulse_Ns``."""

    type: Literal["half_sine"]
    impulse_Ns: Positive
    duration_s: Positive


class ImpulsePush(PushBase):
    """An impulse: within one simulation step, or spread evenly over ``duration_s``."""

    type: Literal["impulse"]
    impulse_Ns: Positive
    duration_s: NonNegative = 0.0


class PendulumPush(PushBase):
    """A hit by a point mass with kinetic energy ``energy_J`` and coefficient of restitution.

    The impulse follows from the robot's effective mass at the hit point; it is delivered as half a
    sine over ``duration_s``.
    """

    type: Literal["pendulum"]
    mass_kg: Positive
    energy_J: Positive
    restitution: Annotated[float, Field(ge=0, le=1)]
    duration_s: Positive


Push = Annotated[ForcePush | HalfSinePush | ImpulsePush | PendulumPush, Field(discriminator="type")]


class Reference(Strict):
    """Published figures to print beside ours; keys are those of ``summary.json``."""

    name: str
    values: dict[str, float]


class ExperimentConfig(Strict):
    """One experiment: a robot, a plant, a controller and pushes."""

    robot: str
    duration_s: Positive
    control_period_s: Annotated[float, Field(gt=0, le=0.1)] = 0.001
    seed: Annotated[int, Field(ge=0)] = 0
    stop_after_fall_s: NonNegative = 0.0
    plant: Plant = Plant()
    controller: Annotated[MomentumLaw, BeforeValidator(_known_law)]
    pushes: tuple[Push, ...] = ()
    reference: Reference | None = None
    provenance: dict[str, str] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> ExperimentConfig:
        ratio = self.control_period_s / self.plant.step_s
        if abs(ratio - round(ratio)) > 1e-9 or round(ratio) < 1:
            raise ValueError(
                f"control_period_s = {self.control_period_s} must be a whole multiple of "
                f"plant.step_s = {self.plant.step_s}"
            )
        if self.duration_s / self.plant.step_s > MAX_STEPS:
            raise ValueError(
                f"duration_s = {self.duration_s} asks for more than {MAX_STEPS} simulation steps "
                f"of {self.plant.step_s} s"
            )
        for index, push in enumerate(self.pushes):
            end = push.time_s + getattr(push, "duration_s", 0.0)
            if end > self.duration_s or push.time_s >= self.duration_s:
                raise ValueError(
                    f"pushes.{index} lasts from {push.time_s} to {end:g} s, outside the run, "
                    f"which ends at duration_s = {self.duration_s} s"
                )
        return self

    @property
    def n_periods(self) -> int:
        """Number of control periods of the run."""
        return max(1, round(self.duration_s / self.control_period_s))

    @property
    def n_substeps(self) -> int:
        """Simulation steps in a control period."""
        return round(self.control_period_s / self.plant.step_s)


def find_config(path: str | Path) -> Path:
    """A config file by path, or by the name of one that ships with the package."""
    path = Path(path)
    if path.exists() or path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        return path
    folder = data_folder("configs")
    shipped = folder / f"{path}.yaml"
    if not shipped.is_file():
        names = [p.stem for p in folder.glob("*.yaml")]
        raise FileError(f"no file or shipped config '{path}'{known_names(str(path), names)}")
    return shipped


def load_config(path: str | Path, overrides: Mapping[str, Any] | None = None) -> ExperimentConfig:
    """The experiment in a YAML file, with dotted keys of ``overrides`` set on top."""
    path = find_config(path)
    return parse_config(load_yaml_mapping(path), str(path), overrides)


def parse_config(
    value: Mapping[str, Any], source: str, overrides: Mapping[str, Any] | None = None
) -> ExperimentConfig:
    """The experiment in a mapping; ``source`` names it in errors."""
    tree: Any = _copy(value)
    for key, item in (overrides or {}).items():
        _set(tree, key, item)
    return validate(ExperimentConfig, tree, source)


def parse_overrides(assignments: list[str]) -> dict[str, Any]:
    """Dotted keys and values of arguments like ``controller.gains.K_P.1=2500``."""
    overrides = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set '{text}': expected key.path=value")
        overrides[key.strip()] = parse_yaml(value, f"--set '{text}'")
    return overrides


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item) for item in value]
    return value


def _set(tree: Any, key: str, value: Any) -> None:
    """Set a dotted key in nested mappings and lists; the schema judges new keys later."""
    *parents, last = key.split(".")
    here = tree
    for part in parents:
        if isinstance(here, list):
            here = here[_list_index(here, part, key)]
        elif isinstance(here, dict):
            here = here.setdefault(part, {})
        else:
            raise ConfigError(f"cannot set '{key}': there is nothing below '{part}'")
    if isinstance(here, list):
        here[_list_index(here, last, key)] = _copy(value)
    elif isinstance(here, dict):
        here[last] = _copy(value)
    else:
        raise ConfigError(f"cannot set '{key}': '{parents[-1]}' is {here!r}, not a mapping or list")


def _list_index(items: list[Any], part: str, key: str) -> int:
    if not part.isdigit() or int(part) >= len(items):
        raise ConfigError(
            f"cannot set '{key}': '{part}' must be a whole number from 0 to {len(items) - 1}"
        )
    return int(part)
