"""What the figure of a sweep is drawn from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from balance.config.axes import Axis, SampleAxisConfig
from balance.studies.axes import Design

if TYPE_CHECKING:
    from balance.plots.studies import Dimension


def dimensions(axes: Sequence[Axis], design: Design) -> tuple[tuple[Dimension, ...], bool]:
    """Coordinates of every cell, one for each axis, and whether the cells are scattered.

    A sample has a coordinate for each of its keys; keys that are zipped share one.  Seeds are
    repeats, not a dimension, unless there is nothing else.
    """
    columns: list[str] = []
    labels: list[str] = []
    for axis, points in zip(axes, design.dimensions, strict=True):
        names = list(points[0].inputs)
        if isinstance(axis, SampleAxisConfig):
            columns += names
            labels += names
        else:
            columns.append(names[0])
            labels.append(" / ".join(names))
    if set(columns) != {"seed"} and "seed" in columns:
        labels.pop(columns.index("seed"))
        columns.remove("seed")
    values: list[list[Any]] = [[] for _ in columns]
    for index in range(len(design)):
        inputs = design.cell(index).inputs
        for column, found in zip(columns, values, strict=True):
            found.append(inputs[column])
    scattered = any(isinstance(axis, SampleAxisConfig) for axis in axes)
    return tuple(map(_dimension, labels, values)), scattered


def _dimension(label: str, values: list[Any]) -> Dimension:
    from balance.plots.studies import Dimension

    if all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
        return Dimension(label, np.array(values, dtype=float))
    texts = [x if isinstance(x, str) else json.dumps(x) for x in values]
    number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    return Dimension(label, np.array([number[text] for text in texts], float), tuple(number))
