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
    key: Key
    values: Annotated[tuple[Any, ...], Field(min_length=1)]


class RangeAxisConfig(Strict):
    """Numbers from ``start`` to ``stop``, both included: by ``step``, or ``count`` of them."""

    type: Literal["range"]
    key: Key
    start: int | float
    stop: int | float
    step: int | float | None = None
    count: Count | None = None
    scale: Literal["linear", "log"] = "linear"

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
    name: Annotated[str, Field(min_length=1)]
    cases: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]


class LawsAxisConfig(Strict):
    """Every control law that this version knows."""

    type: Literal["laws"]


class UniformConfig(Strict):
    """Evenly between ``low`` and ``high``, on a logarithmic scale if asked."""

    type: Literal["uniform"]
    low: float
    high: float
    log: bool = False

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
    mean: float
    std: Positive


class ChoiceConfig(Strict):
    """One of some values, each as likely as the others."""

    type: Literal["choice"]
    values: Annotated[tuple[Any, ...], Field(min_length=1)]


Distribution = Annotated[UniformConfig | NormalConfig | ChoiceConfig, Field(discriminator="type")]


class SampleAxisConfig(Strict):
    """``count`` points drawn from the distributions of several keys at once."""

    type: Literal["sample"]
    method: Literal["random", "latin_hypercube", "sobol"]
    count: Count
    seed: Annotated[int, Field(ge=0)]
    over: Annotated[dict[str, Distribution], Field(min_length=1)]

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
    axes: Annotated[tuple[Axis, ...], Field(min_length=2)]


class GridAxisConfig(Strict):
    """Every combination of some axes, for use inside of a zip."""

    type: Literal["grid"]
    axes: Annotated[tuple[Axis, ...], Field(min_length=1)]


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
