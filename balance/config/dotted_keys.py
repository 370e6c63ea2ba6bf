"""Dotted keys such as ``controller.gains.K_P.1`` in nested mappings and lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from balance.errors import ConfigError


def plain_copy(value: Any) -> Any:
    """Nested mappings and sequences as new dictionaries and lists."""
    if isinstance(value, Mapping):
        return {key: plain_copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_copy(item) for item in value]
    return value


def set_key(tree: Any, key: str, value: Any) -> None:
    """Set a dotted key in nested mappings and lists; the schema judges new keys later."""
    *parents, last = key.split(".")
    here, above = tree, ""
    for part in parents:
        if isinstance(here, list):
            here = here[_list_index(here, part, key)]
        elif isinstance(here, dict):
            here = here.setdefault(part, {})
        else:
            raise ConfigError(f"cannot set '{key}': '{above}' is {here!r}, not a mapping or list")
        above = part
    if isinstance(here, list):
        here[_list_index(here, last, key)] = plain_copy(value)
    elif isinstance(here, dict):
        here[last] = plain_copy(value)
    else:
        raise ConfigError(f"cannot set '{key}': '{parents[-1]}' is {here!r}, not a mapping or list")


def _list_index(items: list[Any], part: str, key: str) -> int:
    if not part.isdigit() or int(part) >= len(items):
        raise ConfigError(
            f"cannot set '{key}': '{part}' must be a whole number from 0 to {len(items) - 1}"
        )
    return int(part)
