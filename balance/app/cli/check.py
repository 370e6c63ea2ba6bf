"""The commands ``balance check`` and ``balance schema``: what our YAML files may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from balance.app.cli.options import RobotsOption, SetOption, TrustOption, tell_code
from balance.errors import BalanceError, ConfigError, FileError, known_names

if TYPE_CHECKING:
    from pydantic import BaseModel

    from balance.config import ExperimentConfig
    from balance.robots.sequence import PlannedPhase

Kind = Literal["experiment", "sweep", "envelope", "tune", "compare", "robot"]
Robots = Sequence[Path]
Overrides = Mapping[str, Any]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command()(check)
    app.command()(schema)


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A YAML file of an experiment, a study or a robot, or the name of a shipped one.",
        ),
    ],
    set_: SetOption = None,
    robots: RobotsOption = None,
    trust: TrustOption = False,
) -> None:
    """Validate an experiment, a study or a robot, all it names included, without running it."""
    from balance.app.terminal import console
    from balance.config import parse_overrides
    from balance.config.schema import load_yaml_mapping

    path = find_yaml(file, robots or [])
    kind = kind_of(load_yaml_mapping(path))
    try:
        told = _CHECKS[kind](path, parse_overrides(set_ or []), robots or [], trust)
    except BalanceError as error:
        where = f"{path} (taken for {_TITLES[kind]})"
        text = str(error)
        known = text.startswith((f"{path}:", f"{path} "))
        error.args = (where + text[len(str(path)) :] if known else f"{where}: {text}",)
        raise
    console.print(f"{path}: valid {kind}; {told}", highlight=False, soft_wrap=True)


def schema(
    kind: Annotated[Kind, typer.Argument(help="The kind of file.")] = "experiment",
    law: Annotated[
        str | None,
        typer.Option("--law", metavar="NAME", help="With the keys of this law, or FILE.py:NAME."),
    ] = None,
) -> None:
    """Print the JSON schema of a YAML file: of an experiment, a study or a robot."""
    import json

    from balance.config.experiment import full_schema
    from balance.config.meanings import ToldSchema

    if law is not None and kind != "experiment":
        raise ConfigError(f"--law is about an experiment, not about a file of kind '{kind}'")
    model = full_schema(law) if kind == "experiment" else models()[kind]
    tree = model.model_json_schema(schema_generator=ToldSchema)
    properties = tree["properties"]
    if "experiment" in properties:  # a file may name one instead, and set keys on top of it
        properties["experiment"] = {"anyOf": [{"type": "string"}, {"type": "object"}]}
        properties["set"] = {"type": "object"}
    print(json.dumps(tree, indent=2))


def models() -> dict[Kind, type[BaseModel]]:
    """The schema of each kind of file."""
    from balance.config import ExperimentConfig
    from balance.config.compare import CompareConfig
    from balance.config.studies import EnvelopeConfig, SweepConfig
    from balance.config.tuning import TuneConfig
    from balance.robots import RobotFile

    return {
        "experiment": ExperimentConfig,
        "sweep": SweepConfig,
        "envelope": EnvelopeConfig,
        "tune": TuneConfig,
        "compare": CompareConfig,
        "robot": RobotFile,
    }


def kind_of(tree: Mapping[str, Any]) -> Kind:
    """What a file is for, by its keys: the kind that knows most of them."""
    from balance.config.kinds import study_kind

    if "experiment" in tree:
        return study_kind(tree)
    known = {kind: len(set(model.model_fields) & set(tree)) for kind, model in models().items()}
    return max(known, key=lambda kind: known[kind])


def find_yaml(name: str, robots: Robots) -> Path:
    """A file by path, or by the name of a shipped experiment, study or robot."""
    from balance.config import find_config
    from balance.config.paths import data_folder
    from balance.config.studies import find_study
    from balance.robots import robot_files

    for find in (find_study, find_config):  # a clone has a folder, and a study, 'robots'
        try:
            return find(name)
        except FileError:
            continue
    files = robot_files(robots)
    if name in files:
        return files[name]
    shipped = [path.stem for path in data_folder("configs").rglob("*.yaml")]
    raise FileError(
        f"no file, shipped config, study or robot '{name}'{known_names(name, [*shipped, *files])}"
    )


def _check_experiment(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> str:
    from balance.app.cli.loading import load_experiment
    from balance.config.user_code import shown_name
    from balance.studies.cells import look_up

    config = load_experiment(path, overrides, robots, trust)
    tell_code(config.code)
    experiment = look_up(config, str(path), robots)
    impulses = ", ".join(f"{push.impulse:.4g} N s" for push in experiment.pushes) or "no push"
    return (
        f"robot {experiment.robot.name}, law {shown_name(config.controller.law)}, "
        f"{config.duration_s:g} s, {impulses}{_phases_told(config, experiment.phases)}"
    )


def _phases_told(config: ExperimentConfig, phases: Sequence[PlannedPhase]) -> str:
    """A line for every phase: how near its static posture is to its limits."""
    if not phases:
        return ""
    from balance.robots.objects import world_objects
    from balance.robots.stance_report import stance_reports

    reports = stance_reports(phases, world_objects(config.objects))
    lines = [f"\n  {one.name}: {one.sentence()}" for one in reports]
    return f", {len(phases)} phases:{''.join(lines)}"


def _check_sweep(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> str:
    from balance.config.studies import SweepConfig, load_study
    from balance.studies.sweep import Sweep

    study = Sweep(load_study(SweepConfig, path, overrides, trust), path.stem, str(path), robots)
    tell_code(study.definition.get("code"))
    return f"{len(study.design)} runs"


def _check_envelope(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> str:
    from balance.config.studies import EnvelopeConfig, load_study
    from balance.studies.envelope import Envelope

    study = Envelope(
        load_study(EnvelopeConfig, path, overrides, trust), path.stem, str(path), robots
    )
    tell_code(study.definition.get("code"))
    return f"{len(study.searches)} limits to search"


def _check_tuning(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> str:
    from balance.config.studies import load_study
    from balance.config.tuning import TuneConfig
    from balance.studies.tuning.study import Tuning

    config = load_study(TuneConfig, path, overrides, trust)
    study = Tuning(config, path.stem, str(path), robots)
    tell_code(study.definition.get("code"))
    return (
        f"{len(config.parameters)} parameters, {config.trials} trials of up to "
        f"{study.plan.usual_runs} runs"
    )


def _check_comparison(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> str:
    from balance.config.compare import load_comparison
    from balance.studies.compare import Compare

    study = Compare(load_comparison(path, overrides, trust=trust), path.stem, str(path), robots)
    tell_code(study.definition.get("code"))
    return f"{len(study.laws)} laws"


def _check_robot(path: Path, overrides: Overrides, robots: Robots, trust: bool) -> str:
    from balance.robots import load_robot
    from balance.robots.shapes.robot_shapes import shapes_in_words

    if overrides:
        raise ConfigError(f"{path}: --set changes experiments and studies, not robots")
    robot = load_robot(str(path))
    _ = robot.shapes  # reads the meshes
    return (
        f"robot {robot.name}, {robot.mass:.4g} kg, {len(robot.joint_names)} joints, "
        f"{len(robot.soles)} soles, {shapes_in_words(robot)}"
    )


_CHECKS: dict[Kind, Callable[[Path, Overrides, Robots, bool], str]] = {
    "experiment": _check_experiment,
    "sweep": _check_sweep,
    "envelope": _check_envelope,
    "tune": _check_tuning,
    "compare": _check_comparison,
    "robot": _check_robot,
}
_TITLES: dict[Kind, str] = {
    "experiment": "an experiment",
    "sweep": "a sweep",
    "envelope": "an envelope",
    "tune": "a tuning study",
    "compare": "a comparison",
    "robot": "a robot",
}
