"""Checking a study before anything runs: every cell must be a valid experiment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from balance.config import ExperimentConfig, PlantConfig, parse_config
from balance.config.actuators import PERFECT_DRIVES
from balance.errors import SHOWN_NAMES, BalanceError, Problems
from balance.recordings.settling import check_time_to_judge
from balance.recordings.size import check_study_size
from balance.robots.stance import robot_of
from balance.studies.axes import Design

if TYPE_CHECKING:
    from balance.experiment import Experiment

SHOWN = 60  # characters of a value in a message


def cell_source(source: str, index: int, inputs: Mapping[str, Any]) -> str:
    """What errors call a cell: the study, its number, and what it varies."""
    shown = ", ".join(f"{name}={_short(value)}" for name, value in inputs.items())
    shown = " ".join(shown.splitlines())  # a value may be any text; a message is one line
    return f"{source}: cell {index}" + (f" ({shown})" if shown else "")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def check_cells(
    base: Mapping[str, Any],
    design: Design,
    source: str,
    robots: Sequence[Path],
    extra: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Raise an error that lists what is wrong with the cells, each with the first that has it.

    The schema judges every cell; robot, bodies and joints are looked up once for all cells that
    differ only in numbers, because loading a robot takes longer than reading a config.  Returns
    the user's own code that takes part, with the hash of each file.
    """
    code: dict[str, str] = {}
    looked_up: set[str] = set()
    problems = Problems(source)
    for index in range(len(design)):
        cell = design.cell(index)
        name = cell_source(source, index, cell.inputs)
        with problems.at(name):
            config = parse_config(base, name, {**cell.overrides, **(extra or {})})
            code |= config.code or {}
            with about(name):
                check_time_to_judge(config)
            kind = json.dumps(_without_numbers(cell.overrides))
            if kind not in looked_up:
                looked_up.add(kind)
                look_up(config, name, robots)
        if len(problems) > SHOWN_NAMES:
            break
    problems.tell()
    return code


def code_key(code: Mapping[str, str]) -> dict[str, Any]:
    """What the user's own code adds to a study's definition: with another file it is another."""
    return {"code": dict(code)} if code else {}


def check_size(
    base: Mapping[str, Any],
    design: Design,
    source: str,
    robots: Sequence[Path],
    runs: int,
    kept: int = 0,
) -> None:
    """Raise if the study asks for more than a disk holds; its first cell stands for all."""
    cell = design.cell(0)
    name = cell_source(source, 0, cell.inputs)
    config = parse_config(base, name, cell.overrides)
    with about(source):
        check_study_size(runs, kept, config, robot_of(config, robots))


def look_up(config: ExperimentConfig, name: str, robots: Sequence[Path]) -> Experiment:
    """The experiment, or an error that starts with ``name`` and lists what does not exist."""
    from balance.experiment import Experiment

    try:
        return Experiment(config, robots)
    except BalanceError as error:
        problems = Problems(name)
        for part, key, index in _parts(config):
            with problems.at(name):
                try:
                    Experiment(part, robots)
                except BalanceError as one:
                    one.args = (f"{name}: {str(one).replace(f'{key}.0', f'{key}.{index}')}",)
                    raise
        problems.tell()
        error.args = (f"{name}: {error}",)  # each part is well: they do not go together
        raise


@contextmanager
def about(name: str) -> Iterator[None]:
    """Errors in here start with ``name``."""
    try:
        yield
    except BalanceError as error:
        error.args = (f"{name}: {error}",)
        raise


def _parts(config: ExperimentConfig) -> Iterator[tuple[ExperimentConfig, str, int]]:
    """The experiment with one part of it at a time, each to be judged by itself.

    With a part that is one of a list come the list's key and its place there.
    """
    sections = ("sensors", "estimator", "mismatch", "ground")
    bare: dict[str, Any] = {
        **dict.fromkeys(sections),
        "state": True,
        "actuators": PERFECT_DRIVES,
        "plant": PlantConfig(engine=config.plant.engine, step_s=config.plant.step_s),
        "pushes": (),
        "faults": (),
    }
    yield config.model_copy(update=bare), "", 0
    for key in ("plant", "actuators", *sections):
        if getattr(config, key) is not None:
            kept = {key: getattr(config, key), "state": config.state}
            yield config.model_copy(update=bare | kept), "", 0
    for key in ("pushes", "faults"):
        for index, one in enumerate(getattr(config, key)):
            yield config.model_copy(update=bare | {key: (one,)}), key, index


def _without_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_numbers(item) for item in value]
    return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value
