"""Checking a study before anything runs: every cell must be a valid experiment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from balance.config import ExperimentConfig, parse_config
from balance.errors import BalanceError
from balance.recordings.settling import check_time_to_judge
from balance.recordings.size import check_study_size
from balance.robots.stance import robot_of
from balance.studies.axes import Design

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
) -> None:
    """Raise an error that names the first cell that is not a valid experiment.

    The schema judges every cell; robot, bodies and joints are looked up once for all cells that
    differ only in numbers, because loading a robot takes longer than reading a config.
    """
    looked_up: set[str] = set()
    for index in range(len(design)):
        cell = design.cell(index)
        name = cell_source(source, index, cell.inputs)
        config = parse_config(base, name, {**cell.overrides, **(extra or {})})
        with about(name):
            check_time_to_judge(config)
        kind = json.dumps(_without_numbers(cell.overrides))
        if kind not in looked_up:
            looked_up.add(kind)
            look_up(config, name, robots)


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


def look_up(config: ExperimentConfig, name: str, robots: Sequence[Path]) -> None:
    """Raise an error that starts with ``name`` if robot, bodies or joints do not exist."""
    from balance.experiment import Experiment

    with about(name):
        Experiment(config, robots)


@contextmanager
def about(name: str) -> Iterator[None]:
    """Errors in here start with ``name``."""
    try:
        yield
    except BalanceError as error:
        error.args = (f"{name}: {error}",)
        raise


def _without_numbers(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_numbers(item) for item in value]
    return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value
