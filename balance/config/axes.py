"""YAML schema of the axes of a study: what is varied, and over which values."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from balance.config.schema import Strict
from balance.config.values import Positive

MAX_CELLS = 10_000_000
Count = Annotated[int, Field(ge=1, le=MAX_CELLS)]
Key = Annotated[str, Field(min_length=1)]


class ListAxisConfig(Strict):
    """Given values of one key."""

    type: Literal["list"]
    """`list`."""
    key: Key
    """Dotted key of the experiment."""
    values: Annotated[tuple[Any, ...], Field(min_length=1)]
    """Its values."""


class RangeAxisConfig(Strict):
    """Numbers from ``start`` to ``stop``, both included."""

    type: Literal["range"]
    """`range`."""
    key: Key
    """Dotted key of the experiment."""
    start: int | float
    """The first number [as the key]."""
    stop: int | float
    """The last one [as the key]."""
    step: int | float | None = None
    """Distance of two numbers; give this or `count` [as the key]."""
    count: Count | None = None
    """How many numbers; give this or `step`. Example: 5."""
    scale: Literal["linear", "log"] = "linear"
    """Whether they are evenly spread on a linear or a logarithmic scale."""

    @model_validator(mode="after")
    def _not_empty(self) -> RangeAxisConfig:
        if (self.step is None) == (self.count is None):
            raise ValueError(f"the range of '{self.key}' needs either step or count")
        if self.scale == "log" and (self.count is None or min(self.start, self.stop) <= 0):
            raise ValueError(
                f"the logarithmic range of '{self.key}' needs count, and bounds above zero"
            )
        if self.step is not None and (
            self.step == 0 or (self.stop - self.start) / self.step < -1e-9
        ):
            raise ValueError(
                f"the range of '{self.key}' from {self.start} to {self.stop} by steps of "
                f"{self.step} is empty"
            )
        if self.step is not None and (self.stop - self.start) / self.step > MAX_CELLS:
            raise ValueError(
                f"the range of '{self.key}' from {self.start} to {self.stop} by steps of "
                f"{self.step} has more than {MAX_CELLS} values"
            )
        if self.count == 1 and self.start != self.stop:
            raise ValueError(
                f"the range of '{self.key}' from {self.start} to {self.stop} needs a count of at "
                "least 2"
            )
        return self


class CasesAxisConfig(Strict):
    """Named sets of overrides: for each name, dotted keys and their values."""

    type: Literal["cases"]
    """`cases`."""
    name: Annotated[str, Field(min_length=1)]
    """Name of the axis: a column of the table."""
    cases: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]
    """For each case, dotted keys of the experiment and their values. Example: {firm:
    {plant.friction: 0.8}, icy: {plant.friction: 0.2}}."""


class LawsAxisConfig(Strict):
    """Every control law that this version knows."""

    type: Literal["laws"]
    """`laws`."""


class UniformConfig(Strict):
    """Evenly between ``low`` and ``high``, on a logarithmic scale if asked."""

    type: Literal["uniform"]
    """`uniform`."""
    low: float
    """The smallest value [as the key]. Example: 0.3."""
    high: float
    """The largest one [as the key]. Example: 1.0."""
    log: bool = False
    """Evenly on a logarithmic scale."""

    @model_validator(mode="after")
    def _in_order(self) -> UniformConfig:
        if not self.low < self.high:
            raise ValueError(f"low = {self.low} must be below high = {self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"low = {self.low} must be above zero on a logarithmic scale")
        return self


class NormalConfig(Strict):
    """Gaussian, cut off at three standard deviations."""

    type: Literal["normal"]
    """`normal`."""
    mean: float
    """Its mean [as the key]. Example: 1.0."""
    std: Positive
    """Its standard deviation [as the key]. Example: 0.05."""


class ChoiceConfig(Strict):
    """One of some values, each as likely as the others."""

    type: Literal["choice"]
    """`choice`."""
    values: Annotated[tuple[Any, ...], Field(min_length=1)]
    """The values. Example: [hard, soft]."""


Distribution = Annotated[UniformConfig | NormalConfig | ChoiceConfig, Field(discriminator="type")]


class SampleAxisConfig(Strict):
    """Points drawn from the distributions of several keys at once."""

    type: Literal["sample"]
    """`sample`."""
    method: Literal["random", "latin_hypercube", "sobol"]
    """How they are drawn. Example: sobol."""
    count: Count
    """How many points; a power of two for sobol. Example: 64."""
    seed: Annotated[int, Field(ge=0)]
    """Decides which. Example: 1."""
    over: Annotated[dict[str, Distribution], Field(min_length=1)]
    """The distribution of each dotted key. Example: {plant.friction: {type: uniform, low: 0.3,
    high: 1.0}}."""

    @model_validator(mode="after")
    def _balanced(self) -> SampleAxisConfig:
        if self.method == "sobol" and self.count & (self.count - 1):
            near = 2 ** round(math.log2(self.count))
            raise ValueError(
                f"a Sobol sample is balanced only if its count is a power of two; "
                f"{self.count} is not, {near} is"
            )
        return self


class ZipAxisConfig(Strict):
    """Axes of equal length that advance together."""

    type: Literal["zip"]
    """`zip`."""
    axes: Annotated[tuple[Axis, ...], Field(min_length=2)]
    """The axes. Example: [{type: list, key: seed, values: [0, 1]}, {type: list, key:
    plant.friction, values: [0.5, 0.8]}]."""


class GridAxisConfig(Strict):
    """Every combination of some axes, for use inside of a zip."""

    type: Literal["grid"]
    """`grid`."""
    axes: Annotated[tuple[Axis, ...], Field(min_length=1)]
    """The axes. Example: [{type: list, key: seed, values: [0, 1]}]."""


Axis = Annotated[
    ListAxisConfig
    | RangeAxisConfig
    | CasesAxisConfig
    | LawsAxisConfig
    | SampleAxisConfig
    | ZipAxisConfig
    | GridAxisConfig,
    Field(discriminator="type"),
]

ZipAxisConfig.model_rebuild()
GridAxisConfig.model_rebuild()
