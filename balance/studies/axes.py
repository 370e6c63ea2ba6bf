"""From the axes of a study to its cells: which keys take which values in the i-th one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc, truncnorm

from balance.config import LAWS
from balance.config.axes import (
    MAX_CELLS,
    Axis,
    CasesAxisConfig,
    ChoiceConfig,
    Distribution,
    GridAxisConfig,
    LawsAxisConfig,
    ListAxisConfig,
    NormalConfig,
    RangeAxisConfig,
    SampleAxisConfig,
    UniformConfig,
    ZipAxisConfig,
)
from balance.config.user_code import shown_name
from balance.errors import ConfigError

Array = NDArray[np.float64]

NORMAL_CUT = 3.0  # standard deviations


@dataclass(frozen=True)
class Point:
    """One position on an axis: what the table shows, and which keys it sets."""

    inputs: Mapping[str, Any]
    overrides: Mapping[str, Any]


@dataclass(frozen=True)
class Design:
    """The cells of a study: every combination of the points of its dimensions.

    The last dimension varies fastest, as in nested loops.
    """

    dimensions: tuple[tuple[Point, ...], ...]

    def __len__(self) -> int:
        return math.prod(len(points) for points in self.dimensions)

    def cell(self, index: int) -> Point:
        """What the ``index``-th cell shows and sets."""
        inputs: dict[str, Any] = {}
        overrides: dict[str, Any] = {}
        shape = [len(points) for points in self.dimensions]
        for points, i in zip(self.dimensions, np.unravel_index(index, shape or [1]), strict=False):
            inputs |= points[i].inputs
            overrides |= points[i].overrides
        return Point(inputs, overrides)

    @property
    def columns(self) -> list[str]:
        """Names of the inputs, in the order of the axes."""
        return [name for points in self.dimensions for name in points[0].inputs]


def make_design(axes: Sequence[Axis], source: str) -> Design:
    """The cells that ``axes`` describe; ``source`` names the study in errors."""
    design = Design(tuple(_points(axis, source) for axis in axes))
    names = design.columns
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ConfigError(f"{source}: '{min(twice)}' is varied by more than one axis")
    if len(design) > MAX_CELLS:
        raise ConfigError(f"{source}: {len(design)} cells are more than {MAX_CELLS}")
    return design


def _points(axis: Axis, source: str) -> tuple[Point, ...]:
    match axis:
        case ListAxisConfig():
            return _values(axis.key, axis.values)
        case RangeAxisConfig():
            return _values(axis.key, _range(axis))
        case LawsAxisConfig():
            return _values("controller.law", LAWS.ready(installed=False))
        case CasesAxisConfig():
            return tuple(Point({axis.name: name}, keys) for name, keys in axis.cases.items())
        case SampleAxisConfig():
            return _sample(axis)
        case GridAxisConfig():
            inner = make_design(axis.axes, source)
            return tuple(inner.cell(i) for i in range(len(inner)))
        case ZipAxisConfig():
            return _zip(axis, source)
    raise TypeError(f"no points for {axis!r}")


def _values(key: str, values: Sequence[Any]) -> tuple[Point, ...]:
    return tuple(Point({key: _shown(value)}, {key: value}) for value in values)


def _shown(value: Any) -> Any:
    """A value as tables show it: the user's own code without the folder that it is in."""
    return shown_name(value) if isinstance(value, str) else value


def _range(axis: RangeAxisConfig) -> list[float] | list[int]:
    """Both ends included; whole numbers stay whole."""
    start, stop, step = axis.start, axis.stop, axis.step
    if step is not None:
        count = math.floor((stop - start) / step + 1e-9) + 1
        whole = all(isinstance(x, int) for x in (start, step))
        # Rounding takes 0.1 + 2 * 0.1 back to 0.3.
        return [start + i * step if whole else round(start + i * step, 12) for i in range(count)]
    assert axis.count is not None  # the schema asks for one of the two
    if axis.scale == "log":
        return [float(x) for x in np.geomspace(start, stop, axis.count)]
    return [round(float(x), 12) for x in np.linspace(start, stop, axis.count)]


def _zip(axis: ZipAxisConfig, source: str) -> tuple[Point, ...]:
    columns = [_points(inner, source) for inner in axis.axes]
    lengths = [len(points) for points in columns]
    if len(set(lengths)) > 1:
        raise ConfigError(f"{source}: the axes of a zip have {lengths} values; they must be equal")
    return tuple(
        Point(
            {name: value for point in row for name, value in point.inputs.items()},
            {key: value for point in row for key, value in point.overrides.items()},
        )
        for row in zip(*columns, strict=True)
    )


def _sample(axis: SampleAxisConfig) -> tuple[Point, ...]:
    """Points of the unit cube, taken through the inverse distribution function of each key."""
    size = len(axis.over)
    rng = np.random.default_rng(axis.seed)
    if axis.method == "latin_hypercube":
        cube = qmc.LatinHypercube(size, seed=rng).random(axis.count)
    elif axis.method == "sobol":
        cube = qmc.Sobol(size, seed=rng).random_base2(axis.count.bit_length() - 1)
    else:
        cube = rng.random((axis.count, size))
    columns = [
        _quantiles(distribution, cube[:, i]) for i, distribution in enumerate(axis.over.values())
    ]
    rows = [dict(zip(axis.over, row, strict=True)) for row in zip(*columns, strict=True)]
    return tuple(Point(row, row) for row in rows)


def _quantiles(distribution: Distribution, share: Array) -> list[Any]:
    match distribution:
        case UniformConfig(log=True):
            low, high = math.log(distribution.low), math.log(distribution.high)
            return [math.exp(low + (high - low) * x) for x in share]
        case UniformConfig():
            return [
                distribution.low + (distribution.high - distribution.low) * x
                for x in share.tolist()
            ]
        case NormalConfig():
            scaled = truncnorm.ppf(share, -NORMAL_CUT, NORMAL_CUT)
            return [distribution.mean + distribution.std * x for x in scaled.tolist()]
        case ChoiceConfig():
            return [distribution.values[int(x * len(distribution.values))] for x in share]
    raise TypeError(f"no quantiles for {distribution!r}")
