"""Whose code a YAML file names: the user's own file is trusted, that of a result is not.

A result may come from anybody.  Reading one, drawing it and replaying it never run what its config
names; running it again does, and has to be asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from balance.config.user_code import references
from balance.errors import ConfigError

_MARKS = ("code", "provenance")
"""Keys that only a result's config has."""


def is_result(tree: Mapping[str, Any], path: Path | None = None) -> bool:
    """Whether an experiment is that of a result, by what it says or by where it lies."""
    beside = path is not None and os.path.isfile(path.parent / "summary.json")
    return beside or any(mark in tree for mark in _MARKS)


def check_trusted(
    tree: Mapping[str, Any],
    name: str,
    path: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> None:
    """Raise if an experiment is a result's and names code; ``overrides`` are the user's own."""
    if not is_result(tree, path):
        return
    for key, reference in references(tree):
        if not any(key == own or key.startswith(f"{own}.") for own in overrides or ()):
            raise ConfigError(
                f"{name} comes from a result and names code, '{key}' = '{reference}'; running it "
                "runs that code: read it, then give --trust (trust=True in Python)"
            )


class Loaded(Protocol):
    """An experiment's config, which knows this module."""

    @property
    def unread(self) -> bool: ...


def check_loaded(config: Loaded) -> None:
    """Raise if an experiment was only read, not loaded with the code that it names."""
    if config.unread:
        raise ConfigError(
            "this config was read from a result without the code that it names; to run that, load "
            "it with load_config(config, trust=True)"
        )
