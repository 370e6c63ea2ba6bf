"""Where files are: those that ship with the package, and those that a YAML file names."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SQLITE_FILE = re.compile(r"(sqlite(?:\+\w+)?:///)(?!/|:memory:|file:)(.+)", re.DOTALL)
CODE_FILE = re.compile(r"(?P<file>[^:*?\"<>|]+\.py):(?P<attribute>[A-Za-z_]\w*)")
"""A reference to a user's own code."""
NETWORK_FILE = re.compile(r"[^*?\"<>|]+\.onnx")
"""A trained network."""
_PACKAGE = Path(__file__).resolve().parents[1]


def data_folder(name: str) -> Path:
    """The folder ``robots`` or ``configs``: packaged data in a wheel, the top level of a clone."""
    packaged = _PACKAGE / "_data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


def is_yaml_path(text: object) -> bool:
    """Whether ``text`` is the path of a YAML file, not the name of something that we ship."""
    return isinstance(text, str) and text.endswith((".yaml", ".yml"))


def with_full_paths(tree: Any, folder: Path | None = None) -> Any:
    """A config's or a study's tree with full paths; relative ones begin at ``folder``.

    That is the folder of the file which names them, or by default the working folder.  A path may
    be that of a robot, wherever a study sets one, of a database file, of a network, and of a user's
    own code, ``file.py:Name``.
    """
    start = Path.cwd() if folder is None else folder
    if isinstance(tree, list | tuple):
        return [with_full_paths(item, start) for item in tree]
    if not isinstance(tree, Mapping):
        return _full_code(tree, start)
    full = {key: with_full_paths(item, start) for key, item in tree.items()}
    for key in full:
        if key == "robot" or (key == "values" and tree.get("key") == "robot"):
            full[key] = _full_robots(full[key], start)
        elif key == "storage":
            full[key] = _full_database(full[key], start)
    return full


def full_path(text: str, folder: Path) -> str:
    """A path that means the same from everywhere."""
    return os.path.abspath(os.path.join(folder, text))


def _full_robots(value: Any, folder: Path) -> Any:
    """One robot, a list of them, or a choice among them."""
    if isinstance(value, list):
        return [_full_robots(item, folder) for item in value]
    if isinstance(value, Mapping):
        return {key: _full_robots(item, folder) for key, item in value.items()}
    return full_path(value, folder) if is_yaml_path(value) else value


def _full_code(value: Any, folder: Path) -> Any:
    if isinstance(value, str) and NETWORK_FILE.fullmatch(value):
        return full_path(value, folder)
    found = CODE_FILE.fullmatch(value) if isinstance(value, str) else None
    return f"{full_path(found['file'], folder)}:{found['attribute']}" if found else value


def _full_database(value: Any, folder: Path) -> Any:
    found = _SQLITE_FILE.fullmatch(value) if isinstance(value, str) else None
    return f"{found[1]}{full_path(found[2], folder)}" if found else value
