"""Footsteps and strategies in the contacts figure."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from stepped_runs import MOVED_M, PLANNED, stepped

import balance
from balance.plots.contacts import contacts_figure
from balance.plots.footsteps import STRATEGY_COLOURS, strategy_colour, strategy_handles


@pytest.fixture(scope="module")
def figure() -> Figure:
    return contacts_figure(stepped())


def panel(figure: Figure) -> Axes:
    return next(axes for axes in figure.axes if axes.get_ylabel() == "left, y [m]")


def polygons(figure: Figure, gid: str) -> list[np.ndarray]:
    found = [p for p in panel(figure).patches if isinstance(p, Polygon) and p.get_gid() == gid]
    return [p.get_xy()[:-1] for p in found]


def test_drawing_it_logs_nothing(figure: Figure, caplog: pytest.LogCaptureFixture) -> None:
    before = panel(figure).get_xlim()
    with caplog.at_level("INFO", "matplotlib"):
        figure.canvas.draw()
    assert not caplog.messages
    assert panel(figure).get_xlim()[0] <= before[0] < before[1] <= panel(figure).get_xlim()[1]


def test_every_place_of_a_foot_is_drawn_where_the_foot_stood(figure: Figure) -> None:
    taken = polygons(figure, "taken")
    assert len(taken) == 3
    soles = stepped().robot.soles
    sides = sorted(np.ptp(taken[0], axis=0))
    assert sides == pytest.approx([2 * soles[0].half_width, 2 * soles[0].half_length])
    np.testing.assert_allclose(
        taken[2].mean(axis=0) - taken[0].mean(axis=0), [MOVED_M, 0], atol=1e-9
    )


def test_the_planned_landing_is_drawn_with_its_yaw(figure: Figure) -> None:
    (plan,) = polygons(figure, "plan")
    np.testing.assert_allclose(plan.mean(axis=0), PLANNED[:2], atol=1e-9)
    edges = np.diff(plan, axis=0)
    angles = np.degrees(np.arctan2(edges[:, 1], edges[:, 0])) % 90.0
    assert np.degrees(PLANNED[3]) == pytest.approx(angles[0], abs=1e-6)


def test_a_band_has_the_strategies_over_their_time(figure: Figure) -> None:
    forces = figure.axes[0]
    bands = [p for p in forces.patches if p.get_gid() == "strategy"]
    assert [round(p.get_x(), 6) for p in bands] == [0.0, 0.01, 0.02, 0.08]
    assert len({p.get_facecolor() for p in bands}) == 3


def test_legend_names_what_occurs_in_order_and_many_steps_share_a_colour() -> None:
    names = [str(h.get_label()) for h in strategy_handles(["2 steps", "ankles", "9 steps"])]
    assert names == ["ankles", "2 steps", "more steps"]
    assert strategy_colour("9 steps") == strategy_colour("5 steps")
    assert len(set(STRATEGY_COLOURS.values())) == len(STRATEGY_COLOURS)


def test_a_law_that_does_not_step_has_the_figure_that_it_had() -> None:
    recording = balance.run("toro_push", overrides={"duration_s": 0.3, "pushes": []})
    figure = contacts_figure(recording)
    assert all(axes.get_ylabel() != "left, y [m]" for axes in figure.axes)
    assert not [p for p in figure.axes[0].patches if p.get_gid() == "strategy"]
