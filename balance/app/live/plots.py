"""Six small charts of the last ten seconds, with the pushes marked."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser

from balance.app.live.colours import AXIS_LINES, PUSH, STEP_LINES, Line, css, sole_lines
from balance.app.live.history import SPAN_S, History

HEIGHT_PX = 55
BLANK = np.array([-SPAN_S, 0.0])


@dataclass(frozen=True)
class Chart:
    """Title with unit, and the smallest range of the vertical axis."""

    title: str
    least: tuple[float, float]
    logarithmic: bool = False
    """Then the range is fixed, and values beyond it are shown at its ends."""


CHARTS: dict[str, Chart] = {
    "com_error": Chart("CoM error [mm]", (-5.0, 5.0)),
    "rotation_error": Chart("Hip rotation [°]", (-0.5, 0.5)),
    "linear_momentum": Chart("Linear momentum [kg m/s]", (-2.0, 2.0)),
    "angular_momentum": Chart("Angular momentum [kg m²/s]", (-0.2, 0.2)),
    "cop_margin": Chart("CoP margin [mm]", (0.0, 50.0)),
    "control_time": Chart("Control step [µs]", (10.0, 10000.0), logarithmic=True),
}


class Plots:
    """The charts, in the container in which they are made."""

    def __init__(self, server: viser.ViserServer, soles: list[str]) -> None:
        self._charts: dict[str, Any] = {}
        self._bounds: dict[str, tuple[float, float]] = {}
        self._key = server.gui.add_html(legend(soles))
        for key, chart in CHARTS.items():
            lines = lines_of(key, soles)
            self._charts[key] = server.gui.add_uplot(
                (BLANK, np.zeros(2), *[np.zeros(2)] * len(lines)),
                _series(lines),
                title=chart.title,
                scales=_scales(chart, chart.least),
                axes=_axes(chart),
                legend={"show": False},
                cursor={"show": False},
                height=HEIGHT_PX,
                padding=(7, 10, 0, 0),
            )

    def draw(self, history: History) -> None:
        """Show the last seconds."""
        if len(history) < 2:
            return
        for key, handle in self._charts.items():
            chart, data = CHARTS[key], history.series(key)
            if chart.logarithmic:
                data = (*data[:2], *(np.clip(column, *chart.least) for column in data[2:]))
                handle.visible = bool(np.isfinite(data[2]).any())  # a replay has no such times
            bounds = chart.least if chart.logarithmic else range_of(data[2:], chart.least)
            if bounds != self._bounds.get(key):  # the page makes a chart anew for new scales
                self._bounds[key] = bounds
                handle.scales = _scales(chart, bounds)
            handle.data = data

    def remove(self) -> None:
        """Take the charts off the page."""
        for handle in (self._key, *self._charts.values()):
            handle.remove()


def lines_of(key: str, soles: list[str]) -> tuple[Line, ...]:
    """The lines of a chart."""
    if key == "cop_margin":
        return sole_lines(soles)
    return STEP_LINES if key == "control_time" else AXIS_LINES


def _series(lines: tuple[Line, ...]) -> tuple[Any, ...]:
    hidden = {"show": False}
    fill = css(PUSH, 0.33)
    mark = {"label": "push", "scale": "push", "fill": fill, "width": 0, "points": hidden}
    drawn = [
        {"label": line.name, "stroke": css(line.colour), "width": 1.5, "points": hidden}
        | ({"dash": line.dash} if line.dash else {})
        for line in lines
    ]
    return ({"label": "t"}, mark, *drawn)


def _scales(chart: Chart, bounds: tuple[float, float]) -> dict[str, Any]:
    return {
        "x": {"time": False, "range": (-SPAN_S, 0.0)},
        "y": {"range": bounds, "distr": 3 if chart.logarithmic else 1},
        "push": {"range": (0.0, 1.0)},
    }


def _axes(chart: Chart) -> tuple[Any, ...]:
    font = "10px sans-serif"
    # A logarithmic axis would have nine lines for each power of ten.
    lines = {"grid": {"show": False}} if chart.logarithmic else {}
    return (
        {"font": font, "size": 20, "ticks": {"size": 3}, "space": 34},
        {"font": font, "size": 44, "ticks": {"size": 3}, "space": 13} | lines,
    )


def range_of(columns: tuple[Any, ...], least: tuple[float, float]) -> tuple[float, float]:
    """Round bounds that hold all values: they change seldom, so the charts stand still."""
    values = np.concatenate(columns)
    values = values[np.isfinite(values)]
    values = np.where(np.abs(values) < 1e-9, 0.0, values)  # rounding needs no room
    low = min(float(values.min(initial=0.0)), least[0])
    high = max(float(values.max(initial=0.0)), least[1])
    return (-_round_up(-low) if low < 0.0 else 0.0, _round_up(high))


def _round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, ... times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= value))


def legend(soles: list[str], steps: bool = True) -> str:
    """What colours and dashes mean; names of soles come from files, so they are escaped."""
    rows = [(*AXIS_LINES, Line("push", PUSH)), sole_lines(soles), STEP_LINES if steps else ()]
    titles = ("", "CoP: ", "Step: ")
    text = "".join(
        f"<div>{title}{''.join(_sample(line) for line in row)}</div>"
        for title, row in zip(titles, rows, strict=True)
        if row
    )
    return f'<div style="font-size:.7em;padding:.3em .9em 0;opacity:.9">{text}</div>'


def _sample(line: Line) -> str:
    width = 8 if line.colour == PUSH else 2.5
    opacity = ' stroke-opacity="0.4"' if line.colour == PUSH else ""
    dash = f' stroke-dasharray="{",".join(map(str, line.dash))}"' if line.dash else ""
    return (
        '<span style="margin-right:.6em;white-space:nowrap"><svg width="20" height="8" '
        'style="vertical-align:middle"><path d="M0 4H20" '
        f'stroke="{css(line.colour)}" stroke-width="{width}"{dash}{opacity}/></svg> '
        f"{html.escape(line.name)}</span>"
    )
