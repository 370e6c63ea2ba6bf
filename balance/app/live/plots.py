"""Live plots: six small charts of the last ten seconds, with the pushes marked."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser

from balance.app.live.history import SPAN_S, History

AXES = (("x", "#D55E00"), ("y", "#009E73"), ("z", "#0072B2"))
PUSH = "#E69F00"
HEIGHT_PX = 80
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
STEPS = (("largest", "#56B4E9"), ("median", "#0072B2"), ("deadline", "#D55E00"))
SOLE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


class Plots:
    """The charts in a panel of their own at the left edge."""

    def __init__(self, server: viser.ViserServer, soles: list[str]) -> None:
        self._panel = server.gui.add_panel()
        self._server = server
        self._charts: dict[str, Any] = {}
        self._bounds: dict[str, tuple[float, float]] = {}
        with self._panel.add_tab("Last 10 seconds", viser.Icon.CHART_LINE):
            server.gui.add_html(_legend(soles))
            for key, chart in CHARTS.items():
                names = self._names(key, soles)
                self._charts[key] = server.gui.add_uplot(
                    (BLANK, np.zeros(2), *[np.zeros(2)] * len(names)),
                    _series(names),
                    title=chart.title,
                    scales=_scales(chart, chart.least),
                    axes=_axes(chart),
                    legend={"show": False},
                    cursor={"show": False},
                    height=HEIGHT_PX,
                    padding=(7, 10, 0, 0),
                )
        self._panel.dock_left()
        self._panel.set_width(330)

    @staticmethod
    def _names(key: str, soles: list[str]) -> list[tuple[str, str]]:
        if key == "cop_margin":
            return list(zip(soles, SOLE_COLOURS, strict=False))
        if key == "control_time":
            return list(STEPS)
        return list(AXES)

    def draw(self, history: History) -> None:
        """Show the last seconds."""
        if len(history) < 2:
            return
        for key, handle in self._charts.items():
            chart, data = CHARTS[key], history.series(key)
            if chart.logarithmic:
                data = (*data[:2], *(np.clip(column, *chart.least) for column in data[2:]))
                handle.visible = bool(np.isfinite(data[2]).any())  # a replay has no such times
            bounds = chart.least if chart.logarithmic else _range(data[2:], chart.least)
            if bounds != self._bounds.get(key):  # the page makes a chart anew for new scales
                self._bounds[key] = bounds
                handle.scales = _scales(chart, bounds)
            handle.data = data

    def remove(self) -> None:
        """Take the panel off the page."""
        self._panel.remove()


def _series(names: list[tuple[str, str]]) -> tuple[Any, ...]:
    hidden = {"show": False}
    mark = {"label": "push", "scale": "push", "fill": PUSH + "55", "width": 0, "points": hidden}
    lines = [
        {"label": name, "stroke": colour, "width": 1.5, "points": hidden} for name, colour in names
    ]
    return ({"label": "t"}, mark, *lines)


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
        {"font": font, "size": 20, "ticks": {"size": 3}, "space": 40},
        {"font": font, "size": 44, "ticks": {"size": 3}, "space": 26} | lines,
    )


def _range(columns: tuple[Any, ...], least: tuple[float, float]) -> tuple[float, float]:
    """Round bounds that hold all values: they change seldom, so the charts stand still."""
    values = np.concatenate(columns)
    values = values[np.isfinite(values)]
    low = min(float(values.min(initial=0.0)), least[0])
    high = max(float(values.max(initial=0.0)), least[1])
    return (-_round_up(-low) if low < 0.0 else 0.0, _round_up(high))


def _round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, ... times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= value))


def _legend(soles: list[str]) -> str:
    """What the colours mean; names of soles come from files, so they are escaped."""
    lines = ((*AXES, ("push", PUSH)), tuple(zip(soles, SOLE_COLOURS, strict=False)), STEPS)
    rows = [
        "".join(
            f'<span style="margin-right:.9em"><b style="color:{colour}">■</b> '
            f"{html.escape(name)}</span>"
            for name, colour in line
        )
        for line in lines
    ]
    style = "font-size:.78em;padding:.35em .8em 0;opacity:.85"
    return f'<div style="{style}">{rows[0]}<br>CoP: {rows[1]}<br>Step: {rows[2]}</div>'
