"""A user's experiment, and all that is wrong with it in one message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from balance.errors import BalanceError, ConfigError, Problems

if TYPE_CHECKING:
    from balance.config import ExperimentConfig


def load_experiment(
    path: Path, overrides: Mapping[str, Any], robots: Sequence[Path], trust: bool
) -> ExperimentConfig:
    """As :func:`balance.load_config`; beside wrong keys, unknown robots and bodies are told too.

    Both are looked up after the keys, for only then it is sure what they are.
    """
    from balance.config import load_config

    try:
        return load_config(path, overrides, trust=trust)
    except ConfigError:
        problems = Problems(str(path))
        with problems.at(str(path)):
            raise
        for mistake in _unknown_names(path, overrides, robots):
            with problems.at(str(path)):
                raise type(mistake)(f"{path}: {mistake}") from None
        problems.tell()
        raise


def _unknown_names(
    path: Path, overrides: Mapping[str, Any], robots: Sequence[Path]
) -> Iterator[BalanceError]:
    from balance.config.dotted_keys import set_key
    from balance.config.paths import with_full_paths
    from balance.config.schema import load_yaml_mapping
    from balance.robots.shared import shared_robot
    from balance.simulation.pushes import body_names, unknown_body

    try:
        tree: Any = dict(load_yaml_mapping(path))
        for key, value in overrides.items():
            set_key(tree, key, value)
        tree = with_full_paths(tree, path.parent)
    except BalanceError:
        return  # told already
    if not isinstance(tree.get("robot"), str):
        return
    try:
        robot = shared_robot(tree["robot"], robots)
    except BalanceError as error:
        yield error
        return
    pushes = tree.get("pushes")
    for index, push in enumerate(pushes if isinstance(pushes, list) else ()):
        body = push.get("body") if isinstance(push, Mapping) else None
        if isinstance(body, str) and body not in body_names(robot):
            yield unknown_body(index, body, robot)
