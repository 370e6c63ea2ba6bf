"""Figures of a tuning study: history, importance, slices and Pareto front."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from balance.plots.style import CAPTION, NARROW, WIDE, few_ticks, new_figure, styled

Array = NDArray[np.float64]

GOOD, ENDED, START, BEST = "#0072B2", "#D55E00", "#222222", "#009E73"


@dataclass(frozen=True)
class TrialData:
    """All finished trials: values of the parameters and of the objectives, one row a trial.

    ``values`` is NaN where a trial ended early; ``share`` of its pushes is then drawn instead.
    """

    title: str
    parameters: tuple[str, ...]
    logarithmic: tuple[bool, ...]
    objectives: tuple[str, ...]
    maximised: tuple[bool, ...]
    points: Array
    values: Array
    feasible: NDArray[np.bool_]
    front: NDArray[np.intp]
    best: int
    start: int | None


def history_figure(data: TrialData) -> Figure:
    """Every trial in the order of asking, and the best feasible value so far."""
    with styled():
        count = len(data.objectives)
        figure = new_figure(NARROW, 0.8 + 2.0 * count)
        for i, axes in enumerate(figure.subplots(count, 1, squeeze=False, sharex=True)[:, 0]):
            _history(axes, data, i)
        axes.set_xlabel("trial")
        _title(figure, data)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=4)
    return figure


def _history(axes: Axes, data: TrialData, i: int) -> None:
    number, values = np.arange(len(data.values)), data.values[:, i]
    good = data.feasible & np.isfinite(values)
    poor = ~data.feasible & np.isfinite(values)
    ended = ~np.isfinite(values)
    axes.plot(number[good], values[good], "o", ms=3, color=GOOD, label="kept all bounds")
    if (~data.feasible & np.isfinite(data.values[:, 0])).any():
        axes.plot(
            number[poor], values[poor], "o", ms=3, mfc="none", color=GOOD, label="broke a bound"
        )
    top = axes.get_xaxis_transform()
    axes.plot(
        number[ended], np.full(ended.sum(), 0.97), "x", ms=3.5, color=ENDED, transform=top,
        label="ended early",
    )  # fmt: skip
    if good.any():
        worst = -np.inf if data.maximised[i] else np.inf
        kept = np.where(good, values, worst)
        so_far = np.maximum.accumulate(kept) if data.maximised[i] else np.minimum.accumulate(kept)
        known = np.isfinite(so_far)
        axes.step(number[known], so_far[known], where="post", color=BEST, label="best so far")
    if data.start is not None and np.isfinite(values[data.start]):
        axes.axhline(values[data.start], color=START, lw=0.8, ls="--", label="start")
    axes.set_ylabel(data.objectives[i], parse_math=False)
    axes.set_xlim(-1, max(len(values), 2))
    axes.margins(y=0.14)
    few_ticks(axes)


def importance_figure(data: TrialData, shares: Sequence[dict[str, float]]) -> Figure:
    """How much each parameter matters for each objective."""
    with styled():
        names = data.parameters
        figure = new_figure(NARROW, 0.8 + len(data.objectives) * (0.4 + 0.22 * len(names)))
        panels = figure.subplots(len(data.objectives), 1, squeeze=False, sharex=True)[:, 0]
        for axes, objective, found in zip(panels, data.objectives, shares, strict=True):
            order = sorted(names, key=lambda name: found.get(name, 0.0))
            axes.barh(range(len(order)), [found.get(name, 0.0) for name in order], color=GOOD)
            axes.set_yticks(range(len(order)), map(_short, order), parse_math=False)
            axes.grid(False, axis="y")
            axes.set_title(objective, loc="left", **CAPTION)
            axes.margins(x=0.05)
        panels[-1].set_xlabel("importance (PED-ANOVA), share of the whole")
        _title(figure, data)
    return figure


def slice_figure(data: TrialData, objective: int = 0) -> Figure:
    """An objective against each parameter; colours go from the first trial to the last."""
    with styled():
        count = len(data.parameters)
        columns = min(3, count)
        rows = -(-count // columns)
        figure = new_figure(WIDE, 0.7 + 1.9 * rows)
        panels = figure.subplots(rows, columns, squeeze=False, sharey=True)
        for i, axes in enumerate(panels.flat):
            if i >= count:
                axes.set_visible(False)
                continue
            shown = _slice(axes, data, i, objective)
            if i % columns == 0:
                axes.set_ylabel(data.objectives[objective], parse_math=False)
        bar = figure.colorbar(shown, ax=list(panels.flat), shrink=0.8, pad=0.02)
        bar.set_label("trial")
        bar.ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        _title(figure, data)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=3)
    return figure


def _slice(axes: Axes, data: TrialData, i: int, objective: int):  # type: ignore[no-untyped-def]
    x, y = data.points[:, i], data.values[:, objective]
    known = np.isfinite(y)
    number = np.arange(len(y))
    shown = axes.scatter(
        x[known], y[known], c=number[known], s=9, cmap="cividis", vmin=0, vmax=len(y)
    )
    top = axes.get_xaxis_transform()
    axes.plot(
        x[~known], np.full((~known).sum(), 0.98), "x", ms=3, color=ENDED, transform=top,
        label="ended early",
    )  # fmt: skip
    for index, colour, label in ((data.start, START, "start"), (data.best, BEST, "best")):
        if index is not None:
            axes.axvline(x[index], color=colour, lw=0.9, ls="--", label=label)
    if data.logarithmic[i]:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(_short(data.parameters[i]), parse_math=False)
    axes.margins(x=0.03, y=0.12)
    few_ticks(axes)
    return shown


def pareto_figure(data: TrialData) -> Figure:
    """Each pair of objectives: all trials, the front, the start and the choice."""
    with styled():
        pairs = list(itertools.combinations(range(len(data.objectives)), 2))
        columns = min(3, len(pairs))
        rows = -(-len(pairs) // columns)
        figure = new_figure(NARROW if columns == 1 else WIDE, 0.7 + 2.6 * rows)
        panels = figure.subplots(rows, columns, squeeze=False)
        for axes, (i, j) in zip(panels.flat, pairs, strict=False):
            x, y = data.values[:, i], data.values[:, j]
            axes.plot(x, y, "o", ms=2.5, color="0.75", label="trials")
            order = data.front[np.argsort(x[data.front])]
            axes.plot(x[order], y[order], "o-", ms=4, lw=0.8, color=GOOD, label="Pareto front")
            for index, colour, mark, label in (
                (data.start, START, "s", "start"),
                (data.best, BEST, "*", "best.yaml"),
            ):
                if index is not None:
                    axes.plot(x[index], y[index], mark, ms=8, color=colour, label=label, ls="")
            axes.set_xlabel(data.objectives[i], parse_math=False)
            axes.set_ylabel(data.objectives[j], parse_math=False)
            axes.margins(0.06)
            few_ticks(axes)
        for axes in panels.flat[len(pairs) :]:
            axes.set_visible(False)
        _title(figure, data)
        handles, labels = panels.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=4)
    return figure


def _title(figure: Figure, data: TrialData) -> None:
    figure.suptitle(data.title, x=0.01, ha="left", parse_math=False)


def _short(key: str) -> str:
    """A key without what all gains have in common."""
    return key.removeprefix("controller.gains.").removeprefix("controller.")
