"""Figures of a sweep, chosen by the number of its axes: curve, heat map, small multiples."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from balance.plots.style import CAPTION, NARROW, QUIET_COLOUR, WIDE, few_ticks, new_figure, styled

Array = NDArray[np.float64]

# Okabe and Ito's colours; the shapes tell outcomes apart without them.
OUTCOME_MARKS: dict[str, dict[str, Any]] = {
    "recovered": {"color": "#009E73", "marker": "o"},
    "upright": {"color": "#E69F00", "marker": "^"},
    "fell": {"color": "#D55E00", "marker": "x"},
    "aborted": {"color": "#CC79A7", "marker": "+"},
    "error": {"color": "#222222", "marker": "s"},
}
STANDING = ("recovered", "upright")
MAX_PANELS = 12
ROOM, MAX_TICKS = 78, 9  # characters beneath a row of panels; labels beside a column
MAPPED = "cividis"


@dataclass(frozen=True)
class Dimension:
    """A coordinate of every cell: a number, or the index of a name."""

    label: str
    values: Array
    names: tuple[str, ...] = ()

    def text(self, value: float) -> str:
        """A coordinate as a tick shows it."""
        return self.names[int(value)] if self.names else f"{value:.3g}"


@dataclass(frozen=True)
class SweepData:
    """Cells with their coordinates, outcomes ("" while not run) and one metric.

    ``scattered``: the cells are samples of a volume, not the knots of a grid.
    """

    dimensions: tuple[Dimension, ...]
    scattered: bool
    outcomes: NDArray[np.str_]
    metric: Array
    metric_label: str
    title: str


def sweep_figure(data: SweepData) -> Figure:
    """The figure that suits the number of axes."""
    with styled():
        facets = _facets(data)
        if len(data.dimensions) == 1:
            figure = new_figure(NARROW, 3.2)
            _curve(figure.subplots(), data, data.dimensions[0], ROOM * NARROW / WIDE)
        elif data.scattered or facets is None:
            figure = _one_panel_each(data)
        else:
            figure = _heat_maps(data, facets)
        figure.suptitle(data.title, x=0.01, ha="left", parse_math=False)
        _legend(figure, data, mapped=any(axes.images for axes in figure.axes))
    return figure


def _facets(data: SweepData) -> tuple[Dimension, ...] | None:
    """The dimensions that get panels of their own, all but two; None if that is too many panels.

    Names and few values make panels; the long numeric axes stay within them.
    """
    spare = len(data.dimensions) - 2
    if spare > 2:
        return None
    order = sorted(data.dimensions, key=lambda d: (not d.names, len(np.unique(d.values))))
    chosen = [d for d in data.dimensions if any(d is facet for facet in order[: max(spare, 0)])]
    panels = np.prod([len(np.unique(d.values)) for d in chosen]) if chosen else 1
    return tuple(chosen) if panels <= MAX_PANELS else None


def _curve(axes: Axes, data: SweepData, dimension: Dimension, room: float) -> None:
    """The metric against one dimension; runs that did not end standing are marked at the top."""
    standing = _standing(data)
    for outcome in STANDING:
        mask = standing & (data.outcomes == outcome)
        axes.plot(dimension.values[mask], data.metric[mask], ls="", ms=4, **OUTCOME_MARKS[outcome])
    if len(data.dimensions) == 1 and not (data.scattered or dimension.names):
        knots = np.unique(dimension.values[standing])
        means = [data.metric[standing & (dimension.values == x)].mean() for x in knots]
        axes.plot(knots, means, color=QUIET_COLOUR, lw=0.8, zorder=1)
    for outcome in ("fell", "aborted", "error"):
        x = dimension.values[data.outcomes == outcome]
        axes.plot(
            x, np.full(x.size, 0.97), ls="", ms=4, transform=axes.get_xaxis_transform(),
            **OUTCOME_MARKS[outcome],
        )  # fmt: skip
    axes.margins(0.04, 0.12)
    axes.set_xlabel(dimension.label, parse_math=False)
    axes.set_ylabel(data.metric_label, parse_math=False)
    few_ticks(axes)
    if dimension.names:
        _names_below(axes, dimension.names, room)


def _one_panel_each(data: SweepData) -> Figure:
    """A panel for each dimension, the others projected away."""
    count = len(data.dimensions)
    columns = min(3, count)
    rows = -(-count // columns)
    figure = new_figure(WIDE, 0.6 + 2.2 * rows)
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes, dimension in zip(panels.flat, data.dimensions, strict=False):
        _curve(axes, data, dimension, ROOM / columns)
        if axes not in panels[:, 0]:
            axes.set_ylabel("")
    for axes in panels.flat[count:]:
        axes.set_visible(False)
    return figure


def _heat_maps(data: SweepData, facets: tuple[Dimension, ...]) -> Figure:
    """A heat map over two dimensions for every combination of the others."""
    x, y = (d for d in data.dimensions if not any(d is facet for facet in facets))
    choices = list(itertools.product(*(np.unique(facet.values) for facet in facets)))
    columns = len(np.unique(facets[1].values)) if len(facets) == 2 else min(len(choices), 3)
    rows = -(-len(choices) // columns)
    size = (WIDE, 1.0 + 2.2 * rows) if columns > 1 else (NARROW, 1.0 + 2.8 * rows)
    figure = new_figure(*size)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    shown = data.metric[_standing(data)]
    scale = Normalize(shown.min(), shown.max()) if shown.size else None
    for axes, choice in zip(panels.flat, choices, strict=False):
        inside = np.ones(len(data.metric), dtype=bool)
        for facet, value in zip(facets, choice, strict=True):
            inside &= facet.values == value
        _heat_map(axes, data, (x, y), inside, scale)
        _ticks_below(axes, x, (ROOM if columns > 1 else ROOM * NARROW / WIDE) / columns)
        _ticks_beside(axes, y)
        named = zip(facets, choice, strict=True)
        title = ", ".join(f"{facet.label} = {facet.text(value)}" for facet, value in named)
        axes.set_title(title, loc="left", **CAPTION)
    for axes in panels.flat[len(choices) :]:
        axes.set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel(x.label, parse_math=False)
    for axes in panels[:, 0]:
        axes.set_ylabel(y.label, parse_math=False)
    if scale is not None:
        colours = ScalarMappable(scale, MAPPED)
        bar = figure.colorbar(colours, ax=list(panels.flat), shrink=0.8, pad=0.02)
        bar.set_label(data.metric_label, parse_math=False)
    return figure


def _standing(data: SweepData) -> NDArray[np.bool_]:
    """Cells that ended on their feet and have the metric."""
    return np.isin(data.outcomes, STANDING) & np.isfinite(data.metric)


def _heat_map(
    axes: Axes,
    data: SweepData,
    plane: tuple[Dimension, Dimension],
    inside: NDArray[np.bool_],
    scale: Normalize | None,
) -> None:
    """Cells on an even grid, whatever the spacing of their values; repeats are averaged."""
    standing = _standing(data) & inside
    down = (data.outcomes != "") & ~standing & inside
    shape = tuple(len(np.unique(d.values)) for d in reversed(plane))
    column, row = (np.searchsorted(np.unique(d.values), d.values) for d in plane)
    total, count, downs = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    np.add.at(total, (row[standing], column[standing]), data.metric[standing])
    np.add.at(count, (row[standing], column[standing]), 1.0)
    np.add.at(downs, (row[down], column[down]), 1.0)
    fallen = downs > count
    mean = np.divide(total, count, where=(count > 0) & ~fallen, out=np.full(shape, np.nan))
    axes.grid(False)
    axes.imshow(
        np.where(fallen, 1.0, np.nan), cmap="Greys", vmin=0.0, vmax=5.0, origin="lower",
        aspect="auto", interpolation="nearest",
    )  # fmt: skip
    axes.imshow(
        mean, cmap=MAPPED, norm=scale, origin="lower", aspect="auto", interpolation="nearest"
    )
    size = min(4.5, 60.0 / max(shape))
    for outcome, mark in OUTCOME_MARKS.items():
        if outcome != "recovered":
            here = inside & (data.outcomes == outcome)
            edge = {"mec": "white", "mew": 0.5} if outcome == "upright" else {"mew": 0.8}
            axes.plot(column[here], row[here], ls="", ms=size, **mark, **edge)
    axes.set_xlim(-0.5, shape[1] - 0.5)
    axes.set_ylim(-0.5, shape[0] - 0.5)


def _ticks_below(axes: Axes, dimension: Dimension, room: float) -> None:
    """Values of an even grid: as many numbers as fit, or all names, slanted if need be."""
    labels = [dimension.text(value) for value in np.unique(dimension.values)]
    if dimension.names:
        _names_below(axes, labels, room)
    else:
        knots = _knots([len(label) + 1 for label in labels], room)
        axes.set_xticks(knots, [labels[i] for i in knots])


def _names_below(axes: Axes, names: Sequence[str], room: float) -> None:
    axes.set_xticks(range(len(names)), names, parse_math=False)
    if sum(len(name) + 2 for name in names) > room:
        axes.tick_params("x", rotation=30)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _ticks_beside(axes: Axes, dimension: Dimension) -> None:
    labels = [dimension.text(value) for value in np.unique(dimension.values)]
    knots = list(range(len(labels))) if dimension.names else _knots([1] * len(labels), MAX_TICKS)
    axes.set_yticks(knots, [labels[i] for i in knots], parse_math=False)


def _knots(sizes: Sequence[int], room: float) -> list[int]:
    """As many evenly spaced knots as have room, with both ends if that costs no more than half."""
    last = len(sizes) - 1
    fitting = [step for step in range(1, last + 1) if sum(sizes[::step]) <= room] or [last + 1]
    even = [step for step in fitting if last % step == 0 and step <= 2 * fitting[0]]
    return list(range(0, last + 1, (even or fitting)[0]))


def _legend(figure: Figure, data: SweepData, mapped: bool) -> None:
    """The outcomes that occur, with their counts; on a heat map, recovery is a coloured cell."""
    handles = []
    for outcome, mark in OUTCOME_MARKS.items():
        count = int((data.outcomes == outcome).sum())
        if count:
            if mapped and outcome == "recovered":
                mark = {"marker": "s", "color": matplotlib.colormaps[MAPPED](0.3)}
            handles.append(Line2D([], [], ls="", ms=4, label=f"{outcome} {count}", **mark))
    waiting = int((data.outcomes == "").sum())
    if waiting:
        handles.append(Line2D([], [], ls="", label=f"still to run {waiting}"))
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=len(handles))
