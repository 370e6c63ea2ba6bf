"""Figures of one run: what is drawn where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from balance.control.parts.output import ControlStatus
from balance.plots.com_momentum import com_momentum_figure
from balance.plots.contacts import contacts_figure
from balance.plots.style import AXIS_COLOURS
from balance.plots.torques import torques_figure
from balance.recordings.demand import friction_use, ground_forces
from balance.recordings.recording import Recording

FIGURES = (com_momentum_figure, contacts_figure, torques_figure)
EDGE_TOLERANCE_IN = 0.02


def marks(axes: Axes, gid: str) -> list[Any]:
    return [artist for artist in axes.get_children() if artist.get_gid() == gid]


def time_panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if "CoP" not in axes.get_xlabel() and axes.lines]


def test_axes_are_labelled_with_units(pushed: Recording) -> None:
    figure = com_momentum_figure(pushed)
    units = ["[mm]", "[rad]", "[kg m/s]", "[kg m²/s]"]
    assert [axes.get_ylabel().split("\n")[1] for axes in figure.axes] == units
    assert figure.axes[-1].get_xlabel() == "time [s]"
    labels = [axes.get_ylabel() for axes in contacts_figure(pushed).axes]
    for text, unit in (("normal", "[N]"), ("tangential", "[N]"), ("friction", "[–]")):
        assert any(text in label and unit in label for label in labels)
    assert sum(axes.get_xlabel() == "CoP x [mm]" for axes in contacts_figure(pushed).axes) == 2
    assert torques_figure(pushed).get_supylabel() == "torque / limit [%]"


def test_com_panel_shows_the_recorded_error_in_the_colours_of_the_axes(pushed: Recording) -> None:
    lines = com_momentum_figure(pushed).axes[0].lines
    for i, colour in enumerate(AXIS_COLOURS):
        (line,) = [line for line in lines if same_color(line.get_color(), colour)]
        np.testing.assert_array_equal(line.get_ydata(), 1e3 * pushed.com_error[:, i])


@pytest.mark.parametrize("draw", FIGURES)
def test_push_is_marked_in_every_panel_over_time(
    pushed: Recording, draw: Callable[[Recording], Figure]
) -> None:
    panels = time_panels(draw(pushed))
    assert len(panels) >= 4
    for axes in panels:
        (span,) = marks(axes, "push")
        assert span.get_x() == pytest.approx(0.1)
        assert span.get_x() + span.get_width() == pytest.approx(0.12)


def test_push_is_labelled_with_its_impulse(pushed: Recording) -> None:
    (label,) = marks(com_momentum_figure(pushed).axes[0], "push label")
    assert label.get_text() == f"{pushed.pushes[0].impulse:.3g} N s"
    legends = [text.get_text() for item in contacts_figure(pushed).legends for text in item.texts]
    assert f"push {pushed.pushes[0].impulse:.3g} N s" in legends


def test_close_pushes_share_a_label_and_distant_ones_do_not(pushed: Recording) -> None:
    push = pushed.pushes[0]
    weak = replace(push, start=0.125, end=0.125, impulse=2.0)
    late, never = replace(push, start=0.2, end=0.21), replace(push, start=0.4, end=0.5)
    recording = replace(pushed, pushes=(push, weak, late, never))
    axes = com_momentum_figure(recording).axes[0]
    assert len(marks(axes, "push")) == 3
    texts = [label.get_text() for label in marks(axes, "push label")]
    assert texts == [f"{push.impulse:.3g} N s", "2 N s", f"{push.impulse:.3g} N s"]
    near = replace(recording, pushes=(push, replace(weak, start=0.105, end=0.105)))
    (label,) = marks(com_momentum_figure(near).axes[0], "push label")
    assert label.get_text() == f"2 to {push.impulse:.3g} N s"


def test_without_a_push_neither_push_nor_band_nor_reference_is_drawn(pushed: Recording) -> None:
    figure = com_momentum_figure(replace(pushed, pushes=()))
    for gid in ("push", "push label", "settling band", "reference"):
        assert not any(marks(axes, gid) for axes in figure.axes)


def test_settling_mark_of_an_exponential_is_at_its_closed_form(
    at_rest: Callable[[int], Recording],
) -> None:
    recording, decay = at_rest(2000), 0.4
    start = recording.pushes[0].start
    error = np.zeros((2000, 3))
    after = recording.time >= start
    error[after, 1] = 0.02 * np.exp(-(recording.time[after] - start) / decay)
    axes = com_momentum_figure(replace(recording, com_error=error)).axes[0]
    (mark,) = marks(axes, "settled")
    expected = start + decay * np.log(10.0)
    assert mark.get_xdata()[0] == pytest.approx(expected, abs=recording.config.control_period_s)
    np.testing.assert_allclose(mark.get_ydata(), [-2.0, 2.0], rtol=1e-12)
    assert f"within 10 % after {decay * np.log(10.0):.1f} s" in axes.get_title("left")


def test_reference_peak_is_on_the_side_of_our_peak(pushed: Recording) -> None:
    for sign in (1.0, -1.0):
        mirrored = replace(pushed, com_error=sign * pushed.com_error)
        axes = com_momentum_figure(mirrored).axes[0]
        (line,) = marks(axes, "reference")
        largest = pushed.com_error.flat[np.argmax(np.abs(pushed.com_error))]
        assert line.get_ydata()[0] == pytest.approx(45.0 * sign * np.sign(largest))
        assert "Garofalo2015" in axes.get_title("right")


def test_measured_forces_never_leave_the_friction_cone_of_the_ground(fall: Recording) -> None:
    # Only in the axes of the ground: in those of a tipped sole the ratio exceeds one.
    use = friction_use(fall)
    assert np.nanmax(use) <= 1.0 + 1e-6
    assert np.nanmax(use) > 0.99
    force = fall.contact_wrenches[:, :, :3]
    np.testing.assert_allclose(
        np.linalg.norm(ground_forces(fall), axis=2), np.linalg.norm(force, axis=2), rtol=1e-12
    )


def test_impacts_are_cut_off_with_their_peak_stated(fall: Recording) -> None:
    axes = contacts_figure(fall).axes[0]
    peak = max(fall.contact_wrenches[:, 0, 2].max(), np.nanmax(fall.wrenches[:, 0, 2]))
    assert axes.get_ylim()[1] < peak
    assert axes.get_title("right") == f"peak {1e-3 * peak:.3g} kN"


def test_moments_of_limited_wrenches_are_shaded(pushed: Recording) -> None:
    status = np.zeros_like(pushed.status)
    status[[10, 11, 12, 40]] = ControlStatus.WRENCH_LIMITED
    status[50] = ControlStatus.TORQUE_LIMITED
    recording = replace(pushed, status=status)
    (shading,) = marks(contacts_figure(recording).axes[0], "limited")
    spans = [path.vertices[[0, 2], 0] for path in shading.get_paths()]
    np.testing.assert_allclose(spans, [[0.010, 0.013], [0.040, 0.041]], atol=1e-9)
    (shading,) = marks(torques_figure(recording).axes[0], "limited")
    (path,) = shading.get_paths()
    np.testing.assert_allclose(path.vertices[[0, 2], 0], [0.050, 0.051], atol=1e-9)


def test_cop_path_lies_in_the_sole_and_breaks_where_the_sole_is_unloaded(
    pushed: Recording,
) -> None:
    wrenches = pushed.contact_wrenches.copy()
    wrenches[100:150, 0] = 0.0
    figure = contacts_figure(replace(pushed, contact_wrenches=wrenches))
    axes = next(axes for axes in figure.axes if axes.get_xlabel() == "CoP x [mm]")
    (path,) = [item for item in axes.collections if isinstance(item, LineCollection)]
    points = np.concatenate([piece.vertices for piece in path.get_paths()])
    sole = pushed.robot.soles[0]
    finite = points[np.isfinite(points[:, 0])]
    assert len(finite) > 100
    assert (np.abs(finite) <= 1e3 * np.array([sole.half_length, sole.half_width]) + 1e-6).all()
    outer, inner = (patch for patch in axes.patches if isinstance(patch, Rectangle))
    assert outer.get_width() == pytest.approx(2e3 * sole.half_length)
    margin = pushed.config.controller.contacts.cop_margin_m
    assert inner.get_width() == pytest.approx(2e3 * (sole.half_length - margin))


def test_every_joint_is_listed_with_its_peak_and_limit(pushed: Recording) -> None:
    legends = [axes.get_legend() for axes in torques_figure(pushed).axes]
    texts = [text.get_text() for legend in legends if legend for text in legend.texts]
    assert len(texts) == len(pushed.robot.joint_names)
    peak = np.abs(pushed.torques[:, 0]).max()
    assert f"hip roll: {peak:.1f} of 176" in texts


def test_saturated_joints_are_marked_where_they_saturate(pushed: Recording) -> None:
    assert not any(marks(axes, "saturated") for axes in torques_figure(pushed).axes)
    torques = pushed.torques.copy()
    torques[20:30, 3] = -pushed.robot.effort_limits[3]
    figure = torques_figure(replace(pushed, torques=torques))
    (mark,) = [mark for axes in figure.axes for mark in marks(axes, "saturated")]
    assert list(np.flatnonzero(np.isfinite(mark.get_ydata()))) == list(range(20, 30))


@pytest.mark.parametrize("draw", FIGURES)
@pytest.mark.parametrize("name", ["fall", "empty", "talos"])
def test_nothing_is_cut_off(
    draw: Callable[[Recording], Figure], name: str, request: pytest.FixtureRequest
) -> None:
    figure = draw(request.getfixturevalue(name))
    figure.draw_without_rendering()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0) >= -EDGE_TOLERANCE_IN
    assert box.x1 <= width + EDGE_TOLERANCE_IN
    assert box.y1 <= height + EDGE_TOLERANCE_IN
