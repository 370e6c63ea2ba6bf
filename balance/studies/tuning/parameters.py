"""The numbers that tuning changes: where they stand now, and which keys they set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from balance.config import parse_config
from balance.config.tuning import ParameterConfig
from balance.errors import ConfigError

DIGITS = 4  # of a tried number: what is written to best.yaml is exactly what was tried


def present_values(
    experiment: Mapping[str, Any], parameters: Sequence[ParameterConfig], source: str
) -> dict[str, float]:
    """The number that every key of every parameter has in the experiment, defaults included."""
    resolved = parse_config(experiment, source).model_dump(mode="json")
    return {key: _number(resolved, key, source) for one in parameters for key in one.keys}


def _number(tree: Any, key: str, source: str) -> float:
    here = tree
    for part in key.split("."):
        if isinstance(here, Mapping):
            here = here.get(part)
        elif isinstance(here, list) and part.isdigit() and int(part) < len(here):
            here = here[int(part)]
        else:
            here = None
    if here is None:
        raise ConfigError(
            f"{source}: the parameter '{key}' has no value in this experiment; check its spelling, "
            "or give it a value with 'set'"
        )
    if isinstance(here, bool) or not isinstance(here, int | float):
        raise ConfigError(
            f"{source}: the parameter '{key}' is {here!r} in this experiment; only a number can be "
            "tuned, such as one entry 'controller.gains.K_P.1' of a list"
        )
    return float(here)


def start_of(one: ParameterConfig, present: Mapping[str, float], source: str) -> float:
    """The present value of a parameter, from which tuning starts."""
    value = 1.0 if one.factor else present[one.key]
    if not one.low <= value <= one.high:
        what = "the factor 1 that leaves it unchanged" if one.factor else f"its value {value:g}"
        raise ConfigError(
            f"{source}: '{one.key}': {what} is outside the bounds {one.low:g} to {one.high:g}; "
            "widen them, or give 'start: false'"
        )
    return value


def overrides(
    parameters: Sequence[ParameterConfig], values: Mapping[str, float], present: Mapping[str, float]
) -> dict[str, float]:
    """The keys that some values of the parameters (by their first key) set."""
    found = {}
    for one in parameters:
        value = values[one.key]
        for key in one.keys:
            found[key] = rounded(value * present[key] if one.factor else value)
    return found


def rounded(value: float) -> float:
    """To four significant digits."""
    return float(f"{value:.{DIGITS}g}")


def check_bounds(
    experiment: Mapping[str, Any],
    parameters: Sequence[ParameterConfig],
    present: Mapping[str, float],
    source: str,
) -> None:
    """Both ends of every parameter must give a valid experiment."""
    for one in parameters:
        for value in (one.low, one.high):
            where = f"{source}: parameter '{one.key}' at its bound {value:g}"
            parse_config(experiment, where, overrides([one], {one.key: value}, present))
