"""The figure of measured limits shows what it is given, on the side where it was measured."""

from __future__ import annotations

import numpy as np

from balance.plots.limits import Measured, measured_figure


def ankle(azimuth_deg: float) -> float:
    return 20.0 + 5.0 * float(np.sin(np.radians(azimuth_deg)) ** 2)


def panel(name: str, size: float) -> Measured:
    limit = {azimuth: 1.5 * ankle(azimuth) for azimuth in (0.0, 90.0, 180.0, 270.0)}
    return Measured(name, limit, {"capture": {0.0: size, 90.0: size, 180.0: size}, "none": {}})


def test_every_robot_has_its_own_values_and_the_legend_each_name_once() -> None:
    figure = measured_figure([(panel("a", 10.0), ankle), (panel("b", 12.0), ankle)])
    for axes, title, size in zip(figure.axes, "ab", (10.0, 12.0), strict=True):
        assert axes.get_title() == title
        lines = {line.get_label().lstrip("_"): line for line in axes.lines}
        assert set(lines) == {"ankle limit", "limit without a step", "capture"}
        measured = np.asarray(lines["capture"].get_data())
        np.testing.assert_allclose(np.degrees(measured[0]), [0.0, 90.0, 180.0])
        np.testing.assert_allclose(measured[1], size)
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["ankle limit", "limit without a step", "capture"]


def test_a_curve_all_round_is_closed() -> None:
    figure = measured_figure([(panel("a", 10.0), ankle)])
    (limit,) = (line for line in figure.axes[0].lines if line.get_label().startswith("limit"))
    angle, value = np.asarray(limit.get_data())
    np.testing.assert_allclose(np.degrees(angle), [0.0, 90.0, 180.0, 270.0, 360.0])
    assert value[0] == value[-1] == 1.5 * ankle(0.0)
