"""Numbers drawn from a range: ``{uniform: [low, high]}`` or ``{normal: [mean, std]}``.

Wherever an experiment's file wants a number it may say a range instead.  The number is drawn when
the file is read, from the experiment's ``seed`` and the key's own name, so that

* the resolved configuration holds plain numbers and repeats the run exactly,
* a range that is added to the file leaves the numbers of all others as they were.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from balance.errors import ConfigError, listed

CUT_STD = 3.0  # a normal distribution is cut off this many standard deviations from its mean


def draw_ranges(tree: Any, seed: int) -> Any:
    """``tree`` with a number in place of every range; an error lists all that are none."""
    problems: list[str] = []
    drawn = _drawn(tree, seed, "", problems)
    if problems:
        raise ConfigError(listed("ranges", problems) if len(problems) > 1 else problems[0])
    return drawn


def _drawn(tree: Any, seed: int, key: str, problems: list[str]) -> Any:
    if isinstance(tree, Mapping):
        if _is_range(tree):
            try:
                return _draw(tree, seed, key)
            except ConfigError as error:
                problems.append(str(error))
                return None
        return {k: _drawn(item, seed, _join(key, k), problems) for k, item in tree.items()}
    if isinstance(tree, list | tuple):
        return [_drawn(item, seed, _join(key, i), problems) for i, item in enumerate(tree)]
    return tree


def _join(key: str, part: object) -> str:
    return f"{key}.{part}" if key else str(part)


def _is_range(tree: Mapping[Any, Any]) -> bool:
    """Planes have a normal as well: three numbers, which the schema judges."""
    if set(tree) == {"uniform"}:
        return True
    return set(tree) == {"normal"} and _pair(tree["normal"]) is not None


def _pair(value: Any) -> tuple[float, float] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in value):
        return None
    return float(value[0]), float(value[1])


def _draw(tree: Mapping[Any, Any], seed: int, key: str) -> float:
    kind, value = next(iter(tree.items()))
    pair = _pair(value)
    if pair is None or not np.isfinite(pair).all():
        raise ConfigError(f"'{key}.{kind}' = {value!r}: it must be two numbers, [low, high]")
    generator = np.random.default_rng([seed, zlib.crc32(key.encode())])
    if kind == "uniform":
        low, high = pair
        if low > high:
            raise ConfigError(f"'{key}.uniform' = [{low:g}, {high:g}]: low must not exceed high")
        return float(generator.uniform(low, high))
    mean, std = pair
    if std < 0.0:
        raise ConfigError(f"'{key}.normal' = [{mean:g}, {std:g}]: the std must not be negative")
    while abs(offset := float(generator.standard_normal())) > CUT_STD:
        pass
    return mean + std * offset
