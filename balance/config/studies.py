"""YAML schema of studies: a base experiment, and what to vary.

A study file names its experiment by path or by the name of a shipped config, or holds it inline;
``set`` puts dotted keys on top of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, model_validator

from balance.config.axes import Axis
from balance.config.dotted_keys import set_key
from balance.config.experiment import ReferenceConfig, shipped_config
from balance.config.kinds import COMMANDS
from balance.config.paths import data_folder, with_full_paths
from balance.config.schema import Strict, load_yaml_mapping, validate
from balance.config.trust import check_trusted
from balance.config.values import Direction, Positive
from balance.errors import BalanceError, ConfigError, FileError, known_names, listed

MAX_ELEVATION_DEG = 80.0

Criterion = Literal["recovered", "flat", "upright"]


class RecordingsConfig(Strict):
    """Cells whose full recording is kept."""

    cells: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """By their numbers. Example: [0, 7]."""
    outcomes: tuple[Literal["recovered", "upright", "fell", "aborted"], ...] = ()
    """By their outcomes. Example: [fell]."""


class StudyConfig(Strict):
    """What all studies have in common."""

    command: ClassVar[str]
    """What runs it."""

    description: str = ""
    """What it is about."""
    experiment: dict[str, Any]
    """Name or path of an experiment, or one itself; `set` puts dotted keys on top of it.
    Example: toro_push."""
    timeout_s: Positive = 600.0
    """Real time after which a run counts as failed."""


class SweepConfig(StudyConfig):
    """Every combination of the axes."""

    command = "sweep"

    axes: Annotated[tuple[Axis, ...], Field(min_length=1)]
    """What is varied."""
    metric: str = "peak_com_error_m"
    """Column of the table that figures show: any quantity."""
    reference: ReferenceConfig | None = None
    """Published figures that figure and summary show beside every cell."""
    recordings: RecordingsConfig = RecordingsConfig()
    """Cells whose full recording is kept."""
    until_settled: bool = False
    """End each run when nothing can change its verdict any more, at most 10 s after the last event,
    whatever its duration_s: for outcomes, not for settling times."""


class DirectionsConfig(Strict):
    """Directions of a push in world axes; give one of count, azimuth_deg and vectors."""

    count: Annotated[int, Field(ge=1, le=3600)] | None = None
    """So many, evenly spread, from the x axis on."""
    azimuth_deg: Annotated[tuple[float, ...], Field(min_length=1)] | None = None
    """Angles from x (front) towards y (left)."""
    elevation_deg: Annotated[
        tuple[Annotated[float, Field(ge=-MAX_ELEVATION_DEG, le=MAX_ELEVATION_DEG)], ...],
        Field(min_length=1),
    ] = (0.0,)
    """Angles above level; each azimuth is taken at each."""
    vectors: Annotated[tuple[Direction, ...], Field(min_length=1)] | None = None
    """The directions themselves [-]. Example: [[1, 0, 0], [0, 1, 0.2]]."""

    @model_validator(mode="after")
    def _one_of_three(self) -> DirectionsConfig:
        given = [n for n in ("count", "azimuth_deg", "vectors") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError(
                "give one of count, azimuth_deg and vectors; given: " + (", ".join(given) or "none")
            )
        steepest = math.tan(math.radians(MAX_ELEVATION_DEG))
        for x, y, z in self.vectors or ():
            if abs(z) > steepest * math.hypot(x, y):
                raise ValueError(
                    f"the vector [{x:g}, {y:g}, {z:g}] is steeper than {MAX_ELEVATION_DEG:g} "
                    "degrees; the ankle limit is about the horizontal part of a push"
                )
        return self


class SearchConfig(Strict):
    """How limits are searched, and in which directions."""

    directions: DirectionsConfig
    """Directions in which the limit is searched."""
    tolerance: Annotated[float, Field(gt=0, le=0.5)] = 0.04
    """Width of the final bracket, over the ankle limit [-]."""
    start: Annotated[float, Field(gt=0, le=10)] = 1.0
    """First impulse to try, over the ankle limit [-]."""
    largest: Annotated[float, Field(gt=0, le=10)] = 3.0
    """Impulse beyond which nothing is tried, over the ankle limit [-]."""
    seeds: Annotated[int, Field(ge=1, le=99)] = 1
    """With noise, how many seeds vote on both ends of the bracket; an odd number."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.seeds % 2 == 0:
            raise ValueError(f"seeds = {self.seeds} must be odd, so that a vote has a majority")
        if not self.tolerance <= self.start <= self.largest:
            raise ValueError(
                f"tolerance = {self.tolerance}, start = {self.start} and largest = {self.largest} "
                "must be in this order"
            )
        return self


class EnvelopeConfig(SearchConfig, StudyConfig):
    """The largest impulse of the first push in each direction."""

    command = "envelope"

    axes: tuple[Axis, ...] = ()
    """What is varied beside the direction."""
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)] = (
        "recovered",
        "flat",
        "upright",
    )
    """The largest push that is recovered, that is recovered on flat soles, and after which the
    robot is upright."""


S = TypeVar("S", bound=StudyConfig)


def find_study(path: str | Path, or_experiment: bool = False) -> Path:
    """A study file by path, or by the name of one that ships with the package.

    With ``or_experiment`` the name may also be that of a shipped experiment.
    """
    path = Path(path)
    # A clone has a folder 'robots', and there is a study of that name.
    there = os.path.exists(path) and not os.path.isdir(path)
    if there or path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        return path
    folder = data_folder("configs") / "studies"
    shipped = folder / f"{path}.yaml"
    if os.path.isfile(shipped):
        return shipped
    experiment = folder.parent / shipped.name
    if or_experiment and os.path.isfile(experiment):
        return experiment
    if os.path.isfile(experiment):
        raise FileError(f"'{path}' is one experiment, not a study; run it with: balance run {path}")
    folders = (folder, folder.parent) if or_experiment else (folder,)
    names = [file.stem for one in folders for file in one.glob("*.yaml")]
    kinds = "study or config" if or_experiment else "study"
    raise FileError(f"no file or shipped {kinds} '{path}'{known_names(str(path), names)}")


def load_study(
    cls: type[S],
    path: str | Path,
    overrides: Mapping[str, Any] | None = None,
    trust: bool = False,
) -> S:
    """The study in a YAML file, its experiment filled in, with dotted ``overrides`` on top.

    An experiment that is the config of a result may name code only with ``trust``.
    """
    path = find_study(path)
    tree = with_full_paths(load_yaml_mapping(path), path.parent)
    source = str(path)
    command = next((command for key, command in COMMANDS.items() if key in tree), cls.command)
    if command != cls.command:
        raise ConfigError(f"{source} is for 'balance {command}', not for 'balance {cls.command}'")
    changes = tree.pop("set", {})
    if not isinstance(changes, Mapping):
        raise ConfigError(f"{source}: 'set' = {changes!r}: it must be a mapping of dotted keys")
    experiment = _experiment(tree.get("experiment"), path, None if trust else changes)
    tree["experiment"] = experiment
    problems = []
    for key, value in [
        *((f"experiment.{key}", value) for key, value in changes.items()),
        *(overrides or {}).items(),
    ]:
        try:
            set_key(tree, key, value)
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        raise ConfigError(listed(source, problems))
    return validate(cls, with_full_paths(tree), source)


def _experiment(value: object, study: Path, own: Mapping[str, Any] | None) -> dict[str, Any]:
    """The base experiment as a mapping, without what only describes a single run.

    ``own`` are keys that the study sets on top of it; with None its code is trusted.
    """
    named: Path | None = None
    if isinstance(value, str):
        try:
            named = _named_experiment(value, study.parent)
            tree = with_full_paths(load_yaml_mapping(named), named.parent)
        except (BalanceError, ValueError, OSError) as error:
            raise ConfigError(f"{study}: 'experiment': {error}") from None
    elif isinstance(value, Mapping):
        tree = dict(value)
    else:
        raise ConfigError(
            f"{study}: 'experiment' = {value!r}: it must be the path or name of an experiment, "
            "or an experiment itself"
        )
    if own is not None:
        check_trusted(tree, str(named or f"{study}: 'experiment'"), named, own)
    return {key: item for key, item in tree.items() if key not in ("reference", "provenance")}


def _named_experiment(name: str, folder: Path) -> Path:
    """A path, relative to the study's ``folder``, or the name of a shipped config."""
    beside = folder / name
    is_path = beside.suffix in (".yaml", ".yml") or len(Path(name).parts) > 1
    return beside if is_path or beside.is_file() else shipped_config(name)
