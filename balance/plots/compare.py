"""The figure of a comparison: overlaid motions, recovery limits, and figures of each law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from balance.config.quantity import Shown
from balance.plots.com_momentum import CURVES, Curve
from balance.plots.envelope import ANKLE_LINE
from balance.plots.marks import mark_pushes, push_handles, time_axis
from balance.plots.style import (
    AXIS_NAMES,
    CAPTION,
    QUIET_COLOUR,
    WIDE,
    few_ticks,
    law_styles,
    new_figure,
    styled,
)
from balance.recordings.summary import columns_shown

if TYPE_CHECKING:
    from balance.studies.compare_table import LawResult

Styles = dict[str, dict[str, Any]]

OVERLAYS_IN, LIMITS_IN, BARS_IN, LEGEND_IN = 3.1, 1.5, 0.55, 0.6
BAR_IN = 0.12  # height of a law's bar
BAR_COLUMNS = 4
SIDE_BY_SIDE = 24  # bars of limits whose figures have room beside each other
MEDIAN, P99 = "control_step_us_median", "control_step_us_p99"  # in one panel
BEHIND_TEXT: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.3}


def compare_figure(results: Sequence[LawResult], title: str, timed: bool = True) -> Figure:
    """Motions above, recovery limits in the middle where there are any, figures below.

    Without ``timed`` it leaves out how long a control step took, which other work disturbs.
    """
    styles = _styles(results)
    limits = [LIMITS_IN] if any(result.limits for result in results) else []
    bars = BARS_IN + (BAR_IN + 0.02) * len(results)
    heights = [OVERLAYS_IN, *limits, bar_rows() * bars]
    with styled():
        figure = new_figure(WIDE, sum(heights) + LEGEND_IN)
        parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        _overlays(parts[0], results, styles)
        if limits:
            _limits(parts[1], results, styles)
        _bars(parts[-1], results, styles, timed)
        figure.suptitle(title, x=0.01, ha="left", parse_math=False)
        _legend(figure, results, styles)
    return figure


def _styles(results: Sequence[LawResult]) -> Styles:
    """The look of each law by its label."""
    looks = law_styles([result.law for result in results])
    return {result.label: look for result, look in zip(results, looks, strict=True)}


def _overlays(part: SubFigure, results: Sequence[LawResult], styles: Styles) -> None:
    """CoM error, hip rotation and momenta over time, each along the axis on which most happens."""
    runs = [(result.label, r) for result in results if (r := result.recording) and r.time.size]
    recordings = [recording for _, recording in runs]
    for axes, curve in zip(part.subplots(2, 2, sharex=True).flat, CURVES, strict=True):
        few_ticks(axes, 4)
        axes.set_ylabel(f"{curve.label}\n[{curve.unit}]")
        if not runs:
            continue
        axis = _main_axis(results, curve)
        axes.set_ylabel(f"{curve.label} {AXIS_NAMES[axis]}\n[{curve.unit}]")
        axes.axhline(0.0, color="0.7", lw=0.6, zorder=1)
        mark_pushes(axes, recordings)
        for index, (label, recording) in enumerate(runs):
            values = curve.series(recording)[:, axis]
            width = max(2.0 - 0.25 * index, 0.8)  # a line shows below one that covers it
            axes.plot(recording.time, values, **styles[label], lw=width, zorder=3)
        time_axis(axes, recordings, label=axes.get_subplotspec().is_last_row())


def _main_axis(results: Sequence[LawResult], curve: Curve) -> int:
    """The axis with the largest peak of the runs that stayed on their feet, if any did."""
    known = [result for result in results if result.recording and result.recording.time.size]
    standing = [result for result in known if result.outcome in ("recovered", "upright")]
    peaks = [
        np.abs(curve.series(result.recording)).max(axis=0)
        for result in standing or known
        if result.recording
    ]
    return int(np.argmax(np.max(peaks, axis=0)))


def _limits(part: SubFigure, results: Sequence[LawResult], styles: Styles) -> None:
    """Bars for each direction: the largest recovered push as a fraction of the ankle limit."""
    from balance.studies.compare_table import limit_text, side

    axes = part.subplots()
    directions = max((result.limits for result in results), key=len)
    width = 0.8 / len(results)
    crowded = len(results) * len(directions) > SIDE_BY_SIDE
    for index, result in enumerate(results):
        style = styles[result.label]
        for where, found in enumerate(result.limits):
            limit = found.limits.get("recovered") if found.finished else None
            if limit is not None:
                at = where + (index - 0.5 * (len(results) - 1)) * width
                axes.bar(at, limit.value, 0.9 * width, **_bar(style, filled=True))
                axes.annotate(
                    limit_text(limit), (at, limit.value), (0, 1), textcoords="offset points",
                    ha="center", va="bottom", fontsize=5.5, color=QUIET_COLOUR, bbox=BEHIND_TEXT,
                    rotation=90.0 if crowded else 0.0,
                )  # fmt: skip
    axes.axhline(1.0, **ANKLE_LINE, zorder=2, gid="ankle limit")
    axes.update_datalim([(0.0, 0.0), (0.0, 1.05)])
    names = [
        f"{side(found.azimuth_deg, found.elevation_deg)}, {found.ankle_limit_Ns:.1f} N s"
        for found in directions
    ]
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.grid(False, axis="x")
    few_ticks(axes, 4)
    axes.set_ylabel("largest push /\nankle limit [–]")


def _bar(style: dict[str, Any], filled: bool) -> dict[str, Any]:
    """A bar in a law's colour; hatched for a variant, hollow if the law did not recover."""
    hatch = {"-": "", "--": "////", ":": "....", "-.": "xxxx"}[style["linestyle"]]
    colour = style["color"]
    face = colour if filled and not hatch else "white"
    return {"facecolor": face, "edgecolor": colour, "hatch": hatch if filled else "", "lw": 0.8}


def bar_rows() -> int:
    """Rows of panels of bars."""
    return -(-len(columns_shown(Shown.BARS)) // BAR_COLUMNS)


def _bars(part: SubFigure, results: Sequence[LawResult], styles: Styles, timed: bool) -> None:
    """A panel for each figure of the runs, a bar for each law."""
    columns = [one for one in columns_shown(Shown.BARS) if timed or one.name != MEDIAN]
    panels = part.subplots(bar_rows(), BAR_COLUMNS, sharey=True, squeeze=False)
    for axes in panels.flat[len(columns) :]:
        axes.set_visible(False)
    rows = range(len(results))
    for axes, column in zip(panels.flat, columns, strict=False):
        scale, end = column.quantity.scale, column.quantity.full
        axes.set_title(column.short_title, loc="left", **CAPTION)
        axes.grid(False)
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(bottom=False, labelbottom=False, left=False)
        values = [result.number(column.name) for result in results]
        known = [scale * value for value in values if value is not None]
        room = 1.35 * max([end, *known, 1e-9])
        for y, result, value in zip(rows, results, values, strict=True):
            text = column.cell(value) if result.outcome else ""
            if value is not None:
                filled = result.outcome == "recovered"
                axes.barh(y, scale * value, 0.75, **_bar(styles[result.label], filled))
            if column.name == MEDIAN and (p99 := result.number(P99)):
                text += f" (p99 {column.number(p99)})"
                room = max(room, 2.2 * max(known))
            at = 0.0 if value is None else scale * value
            axes.annotate(
                text, (at, y), (2, 0), textcoords="offset points", va="center", fontsize=6.0,
                bbox=BEHIND_TEXT,
            )  # fmt: skip
        if end:
            axes.axvline(end, **ANKLE_LINE, zorder=0)
        axes.set_xlim(0.0, room)
        axes.set_yticks(rows, [result.label for result in results], fontsize=6.5, parse_math=False)
    panels[0, 0].invert_yaxis()


def _legend(figure: Figure, results: Sequence[LawResult], styles: Styles) -> None:
    """Laws with their outcomes, the ankle limit and the push, below everything."""
    lines = [Line2D([], [], **styles[result.label], label="law") for result in results]
    recordings = [result.recording for result in results if result.recording]
    others: list[Any] = [*push_handles(recordings)] if recordings else []
    if any(result.limits for result in results):
        others.append(Line2D([], [], **ANKLE_LINE, label="ankle limit"))
    legend = figure.legend(handles=[*lines, *others], loc="outside lower left", ncols=4)
    for text, result in zip(legend.get_texts(), results, strict=False):
        # A user's name may hold $, which means something to matplotlib.
        text.set_text(f"{result.label}: {result.outcome or 'still to run'}")
        text.set_parse_math(False)
