"""The charts of a whole recording as SVG, for a page that nobody serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from balance.app.live.colours import PUSH, Line, css
from balance.app.live.history import MARK_S
from balance.app.live.plots import CHARTS, Chart, lines_of, range_of
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

WIDTH, HEIGHT = 280.0, 84.0  # of a chart in its own units, which the page stretches
LEFT, RIGHT, TOP, BOTTOM = 40.0, 6.0, 4.0, 14.0  # margins for the numbers
INNER, INNER_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM


def charts(
    time: Array, values: Mapping[str, Array], soles: list[str], pushes: Sequence[Push]
) -> str:
    """A figure with title for each quantity of ``values`` (n, k) over ``time`` (n,), s."""
    return "".join(
        _chart(CHARTS[key], time, columns, lines_of(key, soles), pushes)
        for key, columns in values.items()
    )


def span_of(time: Array) -> float:
    """What the horizontal axis of the charts reaches to, s."""
    return max(float(time[-1]), 1e-3)


def _chart(
    chart: Chart, time: Array, columns: Array, lines: Sequence[Line], pushes: Sequence[Push]
) -> str:
    span = span_of(time)
    low, high = range_of(tuple(columns.T), chart.least)
    x = LEFT + INNER * time / span
    y = TOP + INNER_HEIGHT * (high - np.clip(columns, low, high)) / (high - low)
    levels = sorted({low, 0.0, high})  # a range holds zero
    parts = [_mark(push, span) for push in pushes]
    parts += [_level(value, low, high) for value in levels]
    parts += [_moment(moment, span) for moment in _moments(span)]
    parts += [_curve(x, y[:, i], line) for i, line in enumerate(lines[: columns.shape[1]])]
    cursor = f'<line class="cursor" x1="0" x2="0" y1="{TOP}" y2="{TOP + INNER_HEIGHT:g}"/>'
    title = escape(chart.title)
    return (
        f"<figure><figcaption>{title}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{title}">'
        f"{''.join(parts)}{cursor}</svg></figure>"
    )


def _curve(x: Array, y: Array, line: Line) -> str:
    """One path, with a gap where there is no value."""
    words, before = [], False
    for here, there in zip(x, y, strict=True):
        if finite := bool(np.isfinite(there)):
            words.append(f"{'L' if before else 'M'}{here:.1f} {there:.1f}")
        before = finite
    dash = f' stroke-dasharray="{",".join(map(str, line.dash))}"' if line.dash else ""
    return f'<path class="curve" d="{"".join(words)}" stroke="{css(line.colour)}"{dash}/>'


def _mark(push: Push, span: float) -> str:
    left = LEFT + INNER * push.start / span
    width = max(INNER * max(push.end - push.start, MARK_S) / span, 2.0)
    return (
        f'<rect class="push" x="{left:.1f}" y="{TOP}" width="{width:.1f}" '
        f'height="{INNER_HEIGHT:g}" fill="{css(PUSH)}"/>'
    )


def _level(value: float, low: float, high: float) -> str:
    y = TOP + INNER_HEIGHT * (high - value) / (high - low)
    return (
        f'<line class="grid" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{LEFT - 4:g}" y="{y + 3:.1f}" text-anchor="end">{value:g}</text>'
    )


def _moment(moment: float, span: float) -> str:
    x = LEFT + INNER * moment / span
    return f'<text x="{x:.1f}" y="{HEIGHT - 3:g}" text-anchor="middle">{moment:g} s</text>'


def _moments(span: float) -> list[float]:
    """Three to six round times."""
    power = 10.0 ** np.floor(np.log10(span))
    step = next(s * power for s in (0.2, 0.5, 1.0, 2.0) if span / (s * power) <= 5.0)
    return [round(i * step, 6) for i in range(int(span / step + 1e-9) + 1)]
