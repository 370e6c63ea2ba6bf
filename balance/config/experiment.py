"""The YAML schema of an experiment, and loading it with overrides."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, create_model, model_validator

from balance.config.actuators import Actuators, ActuatorsConfig
from balance.config.dotted_keys import plain_copy, set_key
from balance.config.faults import Fault
from balance.config.ground import GroundConfig
from balance.config.kinds import of_many
from balance.config.laws import LawConfig
from balance.config.mismatch import MismatchConfig
from balance.config.paths import data_folder, with_full_paths
from balance.config.pendulum import PendulumConfig
from balance.config.phases import ObjectConfig, PhaseConfig, contradictions
from balance.config.plant import PlantConfig
from balance.config.pushes import PushConfig
from balance.config.ranges import draw_ranges
from balance.config.schema import Strict, load_yaml_mapping, parse_yaml, validate
from balance.config.sections import Sections, every_section, experiment_sections, is_unread
from balance.config.sensors import EstimatorConfig, SensorsConfig, State
from balance.config.stance import StanceConfig
from balance.config.trust import check_loaded, check_trusted
from balance.config.values import NonNegative, Positive
from balance.errors import ConfigError, FileError, InputError, known_names, listed

MAX_STEPS = 4_000_000


class ReferenceConfig(Strict):
    """Published figures to print beside ours."""

    name: str
    """Where they are from."""
    values: dict[str, float]
    """The figures, by their keys in summary.json, in SI units [SI]. Example: {peak_com_error_m:
    0.045}."""


class ExperimentConfig(Strict):
    """One experiment: a robot, a plant, a controller and pushes."""

    robot: str
    """Name of a robot, or the path of its YAML file."""
    duration_s: Positive
    """How long the run lasts."""
    control_period_s: Annotated[float, Field(gt=0, le=0.1)] = 0.001
    """Time between two steps of the law; a whole multiple of `plant.step_s`."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Decides all that is random: noise, and numbers drawn from ranges."""
    after_fall: Literal["law", "hold", "limp"] = "hold"
    """What the joints do once the posture is lost: the law goes on, they hold, or they are limp."""
    stop_after_fall_s: NonNegative | None = None
    """How long a run goes on after a fall; not given: until the robot lies still, at most 4 s,
    and in a study not at all. Example: 0.5."""
    stance: StanceConfig | None = None
    """Which surfaces bear load; the soles of the robot if not given."""
    objects: dict[str, ObjectConfig] = Field(default_factory=dict)
    """What the robot stands or leans on beside the floor, by names of your choice."""
    phases: tuple[PhaseConfig, ...] = ()
    """Stances in sequence, in place of the one `stance`."""
    plant: SerializeAsAny[PlantConfig] = PlantConfig()
    """The simulated robot and ground."""
    controller: SerializeAsAny[LawConfig]
    """The law and its keys. Example: {law: momentum}."""
    pushes: tuple[SerializeAsAny[PushConfig], ...] = ()
    """The pushes, in any order. Example: [{type: half_sine, impulse_Ns: 14, duration_s: 0.1,
    direction: [0, 1, 0], time_s: 1}]."""
    state: State = True
    """What the law is told of the base: its `true` state, or the one `estimated` from sensors."""
    sensors: SensorsConfig | None = None
    """Noise and delay of what the law is told; perfect if not given."""
    estimator: EstimatorConfig | None = None
    """Assumptions of the estimate, for `state: estimated`."""
    actuators: Actuators = ActuatorsConfig()
    """How torques differ from the command."""
    mismatch: MismatchConfig | None = None
    """How the simulated robot differs from the law's model."""
    ground: GroundConfig | None = None
    """Tilted, uneven or moving ground, of which the law does not know."""
    faults: tuple[Fault, ...] = ()
    """What breaks during the run."""
    pendulum: PendulumConfig | None = None
    """A pendulum that hits, shakes or presses the robot: a body of its own. Example: {direction:
    [1, 0, 0], motion: {type: fall, energy_J: 10}}."""
    quantities: tuple[str, ...] = ()
    """Figures of your own in the summary, each as FILE.py:NAME. Example:
    ['my_quantities.py:sway']."""
    reference: ReferenceConfig | None = None
    """Published figures to print beside ours."""
    provenance: dict[str, str] | None = None
    """Versions and date; written with a result, and not read. Example: {balance: 0.2.0}."""
    code: dict[str, str] | None = None
    """Files of your own code and networks that take part, each with its hash; written with a
    result, and checked when it is repeated. Example: {'my_laws.py:JointPD': 9f86d081884c7d65}."""

    @model_validator(mode="after")
    def _consistent(self) -> ExperimentConfig:
        problems = [*self._contradictions()]
        if problems:
            raise ValueError(*problems)
        return self

    def _contradictions(self) -> Iterator[str]:
        """What is wrong with keys that are right by themselves."""
        ratio = self.control_period_s / self.plant.step_s
        if abs(ratio - round(ratio)) > 1e-9 or round(ratio) < 1:
            yield (
                f"control_period_s = {self.control_period_s} must be a whole multiple of "
                f"plant.step_s = {self.plant.step_s}"
            )
        if self.duration_s / self.plant.step_s > MAX_STEPS:
            yield (
                f"duration_s = {self.duration_s} asks for more than {MAX_STEPS} simulation steps "
                f"of {self.plant.step_s} s"
            )
        for index, push in enumerate(self.pushes):
            end = push.time_s + getattr(push, "duration_s", 0.0)
            if end > self.duration_s or push.time_s >= self.duration_s:
                yield (
                    f"pushes.{index} lasts from {push.time_s} to {end:g} s, outside the run, "
                    f"which ends at duration_s = {self.duration_s} s"
                )
        yield from contradictions(self.phases, self.objects)
        if self.phases and self.stance is not None:
            yield "stance and phases both say what bears; the first phase is the stance"
        if self.phases:
            yield from self._against_phases()
        if self.ground is not None and self.stance is not None:
            for name in self.ground.heights_m:
                if name in self.stance.planes:
                    yield (
                        f"ground.heights_m and stance.planes both say where '{name}' stands; "
                        "give one of them"
                    )
        for index, move in enumerate(() if self.ground is None else self.ground.motion):
            if move.start_s >= self.duration_s:
                yield (
                    f"ground.motion.{index} starts at {move.start_s:g} s, after the run, which "
                    f"ends at duration_s = {self.duration_s:g} s"
                )
        if self.sensors is not None and self.sensors.delay_s >= self.duration_s:
            yield (
                f"sensors.delay_s = {self.sensors.delay_s:g} s reaches beyond the run, which ends "
                f"at duration_s = {self.duration_s:g} s"
            )

    def _against_phases(self) -> Iterator[str]:
        """What a run with phases cannot have."""
        if self.ground is not None:
            yield "phases are for level ground that rests, and for objects; remove ground"
        if self.plant.contact == "welded":
            yield "phases open contacts, and plant.contact = welded holds them; take hard or soft"
        for key in ("setpoints", "gain_changes"):
            if getattr(self.controller, key):
                yield f"phases say where the setpoint goes, under one set of gains; remove {key}"

    def __reduce__(self) -> Any:
        # Made from the names in it, the class of an experiment cannot be imported elsewhere.
        return _blank_experiment, (), self.__getstate__()

    @property
    def unread(self) -> bool:
        """Whether it names code that was not loaded: it can be looked at, but not run."""
        return any(map(is_unread, (self.controller, self.plant, *self.pushes)))

    @property
    def n_periods(self) -> int:
        """Number of control periods of the run; the last one may end after ``duration_s``."""
        return max(1, math.ceil(self.duration_s / self.control_period_s - 1e-9))

    @property
    def n_substeps(self) -> int:
        """Simulation steps in a control period."""
        return round(self.control_period_s / self.plant.step_s)


def find_config(path: str | Path) -> Path:
    """A config file by path, or by the name of one that ships with the package."""
    path = Path(path)
    if os.path.exists(path) or path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        return path
    return shipped_config(str(path))


def shipped_config(name: str) -> Path:
    """A config file that ships with the package, by its name."""
    folder = data_folder("configs")
    shipped = folder / f"{name}.yaml"
    if not os.path.isfile(shipped):
        study = folder / "studies" / shipped.name
        if os.path.isfile(study):
            raise ConfigError(of_many(name, load_yaml_mapping(study)))
        names = [p.stem for p in folder.glob("*.yaml")]
        raise FileError(f"no file or shipped config '{name}'{known_names(name, names)}")
    return shipped


def load_config(
    source: str | Path | Mapping[str, Any] | ExperimentConfig,
    overrides: Mapping[str, Any] | None = None,
    *,
    trust: bool = False,
) -> ExperimentConfig:
    """An experiment, with dotted keys of ``overrides`` set on top.

    ``source`` is the path of a YAML file, the name of a config that ships with the package, or what
    such a file holds.  Paths in a file are relative to the file, those in a mapping and in the
    ``overrides`` to the working folder.  The code that it names is loaded; if it is that of a
    result, which may be a stranger's, only with ``trust``.
    """
    if isinstance(source, ExperimentConfig):
        if not trust:
            check_loaded(source)
        if not (overrides or source.unread):
            return source
        trust, source = True, source.model_dump(mode="json", exclude_none=True)
    path: Path | None = None
    if isinstance(source, Mapping):
        tree, name = dict(source), "the config"
    elif isinstance(source, str | os.PathLike):
        path = find_config(source)
        name = str(path)
        tree = with_full_paths(load_yaml_mapping(path), path.parent)
    else:
        raise InputError(
            f"a config of type {type(source).__name__}: it must be the path of a YAML file, the "
            "name of a shipped config, or a mapping of keys to values"
        )
    if "experiment" in tree:
        raise ConfigError(of_many(name, tree))
    if not trust:
        check_trusted(tree, name, path, overrides or {})
    return parse_config(tree, name, overrides)


def parse_config(
    value: Mapping[str, Any],
    source: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    code: bool = True,
) -> ExperimentConfig:
    """The experiment in a mapping; ``source`` names it in errors.

    A relative path in it begins at the working folder.  Without ``code`` nothing that the
    experiment names is run: the sections of a user's own law, pushes and engine are kept as they
    are.
    """
    tree: Any = plain_copy(value)
    problems = []
    for key, item in (overrides or {}).items():
        try:
            set_key(tree, key, item)
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError(listed(source, problems))
    seed = tree.get("seed", 0)
    try:
        tree = draw_ranges(tree, seed if type(seed) is int and seed >= 0 else 0)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{source}: an experiment is a mapping of keys, not a range of numbers")
    tree = with_full_paths(tree)
    sections = experiment_sections(tree, code)
    if code and isinstance(tree.get("code", {}), Mapping):
        tree = sections.with_code(tree)
    schema = _schema(sections.law, sections.pushes, sections.plant)
    return validate(schema, tree, source, sections.problems)


@cache
def _schema(law: Any, pushes: Any, plant: Any) -> type[ExperimentConfig]:
    """The schema of an experiment with the keys of the law, pushes and engine that it names."""
    fields = Sections(law, pushes, plant).fields()
    return create_model("ExperimentConfig", __base__=ExperimentConfig, **fields)


def full_schema(law: str | None = None) -> type[ExperimentConfig]:
    """The schema of an experiment with all keys of our laws and pushes, or of one ``law``."""
    fields = every_section(with_full_paths(law))
    return create_model("ExperimentConfig", __base__=ExperimentConfig, **fields)


def _blank_experiment() -> ExperimentConfig:
    return ExperimentConfig.__new__(ExperimentConfig)


def parse_overrides(assignments: list[str]) -> dict[str, Any]:
    """Dotted keys and values of arguments like ``controller.gains.K_P.1=2500``."""
    overrides = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--set '{text}': expected key.path=value")
        overrides[key.strip()] = parse_yaml(value, f"--set '{text}'")
    return overrides
