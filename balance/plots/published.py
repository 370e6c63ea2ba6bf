"""Cells of a study beside published figures: a line for each cell, a panel for each figure."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from balance.plots.studies import OUTCOME_MARKS
from balance.plots.style import QUIET_COLOUR, WIDE, new_figure, styled

Array = NDArray[np.float64]

LINE_IN, HEAD_IN = 0.165, 1.2  # height of a line, and of all that is above and below them
TITLE_WIDTH = 13  # characters of a panel's title in a line
LEAST_PERCENT, MOST_PERCENT = 10.0, 60.0  # shown to either side
BAND = "0.95"


@dataclass(frozen=True)
class PublishedData:
    """By how many percent each cell is off (cells, figures); NaN where it has no figure."""

    title: str
    name: str
    """Who published the figures."""
    labels: tuple[str, ...]
    figures: tuple[str, ...]
    published: tuple[str, ...]
    off: Array
    outcomes: NDArray[np.str_]


def published_figure(data: PublishedData) -> Figure:
    """Deviations from the published figures; a thin line marks the first cell.

    What is further off than the panels reach stands at their edge, as an arrowhead.
    """
    with styled():
        figure = new_figure(WIDE, HEAD_IN + LINE_IN * len(data.labels))
        panels = figure.subplots(1, len(data.figures), squeeze=False, sharex=True, sharey=True)[0]
        largest = np.nanmax(np.abs(data.off), initial=0.0)
        reach = float(np.clip(1.1 * largest, LEAST_PERCENT, MOST_PERCENT))
        for index, axes in enumerate(panels):
            _panel(axes, data, index, reach)
        axes = panels[0]
        axes.set_yticks(range(len(data.labels)), data.labels, parse_math=False, fontsize=7.0)
        axes.set_ylim(len(data.labels) - 0.5, -0.5)
        title = f"{data.title}: by how many percent each figure is off that of {data.name}"
        figure.suptitle(title, x=0.01, ha="left", parse_math=False)
        _legend(figure, data)
    return figure


def _panel(axes: Axes, data: PublishedData, index: int, reach: float) -> None:
    lines = np.arange(len(data.labels))
    for line in lines[1::2]:
        axes.axhspan(line - 0.5, line + 0.5, color=BAND, lw=0, zorder=0)
    axes.grid(False, axis="y")
    axes.axvline(0.0, color="black", lw=0.9)
    off = data.off[:, index]
    if np.isfinite(off[0]):
        axes.axvline(float(np.clip(off[0], -reach, reach)), color=QUIET_COLOUR, lw=0.6, ls=":")
    for outcome, mark in OUTCOME_MARKS.items():
        mine = (data.outcomes == outcome) & np.isfinite(off)
        inside = mine & (np.abs(off) <= reach)
        axes.plot(off[inside], lines[inside], ls="", ms=3.5, **mark)
        for side, marker in ((-1.0, "<"), (1.0, ">")):
            beyond = mine & (side * off > reach)
            where = np.full(beyond.sum(), 0.985 * side * reach)
            axes.plot(where, lines[beyond], ls="", ms=3.5, **{**mark, "marker": marker})
    axes.set_xlim(-reach, reach)
    axes.xaxis.set_major_locator(MaxNLocator(3, symmetric=True))
    axes.tick_params("y", length=0)
    axes.tick_params("x", labelsize=6.5)
    title = "\n".join(textwrap.wrap(data.figures[index], TITLE_WIDTH))
    axes.set_title(f"{title}\n{data.published[index]}", fontsize=6.5, parse_math=False)


def _legend(figure: Figure, data: PublishedData) -> None:
    handles = [
        Line2D([], [], color="black", lw=0.9, label=data.name),
        Line2D([], [], color=QUIET_COLOUR, lw=0.6, ls=":", label=data.labels[0]),
    ]
    for outcome, mark in OUTCOME_MARKS.items():
        if count := int((data.outcomes == outcome).sum()):
            handles.append(Line2D([], [], ls="", ms=3.5, label=f"{outcome} {count}", **mark))
    for handle in handles:
        handle.set_label(str(handle.get_label()).replace("$", r"\$"))
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles), fontsize=7.0)
