"""The figure of cells beside published figures."""

from __future__ import annotations

import numpy as np

from balance.plots.published import MOST_PERCENT, PublishedData, published_figure


def test_every_deviation_has_a_mark_and_those_out_of_reach_stand_at_the_edge() -> None:
    off = np.array([[5.0, -10.0], [300.0, np.nan], [-20.0, 40.0]])
    data = PublishedData(
        "a study",
        "Somebody2015",
        ("first", "far off", "upright $x$"),
        ("one [m]", "other [s]"),
        ("0.1", "4.7"),
        off,
        np.array(["recovered", "recovered", "upright"]),
    )
    figure = published_figure(data)
    one, other = figure.axes
    found = []
    for axes in (one, other):
        marks = [line.get_xydata() for line in axes.lines if line.get_marker() != "None"]
        points = np.concatenate([np.asarray(mark) for mark in marks if len(mark)])
        found.append({(float(x), int(y)) for x, y in points})
    assert found[0] == {(5.0, 0), (0.985 * MOST_PERCENT, 1), (-20.0, 2)}
    assert found[1] == {(-10.0, 0), (40.0, 2)}
    assert [label.get_text() for label in one.get_yticklabels()] == list(data.labels)
    assert one.get_ylim() == (2.5, -0.5)  # the first line is the top one
