"""Figures of several runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import same_color

from balance.errors import InputError
from balance.plots import draw_overlay
from balance.plots.overlay import com_momentum_overlay, contacts_overlay, torques_overlay
from balance.plots.style import RUN_COLOURS, run_style, save
from balance.plots.torques import torque_share
from balance.recordings.recording import Recording

NAMES = ("com_momentum", "contacts", "torques")


@pytest.fixture(scope="module")
def runs(pushed: Recording, talos: Recording, empty: Recording) -> list[tuple[str, Recording]]:
    """Different robots and lengths, and labels that mean something to matplotlib."""
    return [("_first", pushed), ("$K_D", talos), ("$none$", empty)]


def test_overlays_are_written_under_the_names_of_a_runs_figures(
    runs: list[tuple[str, Recording]], tmp_path: Path
) -> None:
    paths = draw_overlay(runs, tmp_path)
    assert [path.name for path in paths] == [f"{name}.png" for name in NAMES]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_equal_runs_give_equal_overlays(runs: list[tuple[str, Recording]], tmp_path: Path) -> None:
    for folder in ("first", "second"):
        save(com_momentum_overlay(runs), tmp_path / folder, "figure", pdf=True)
    for name in ("figure.png", "figure.pdf"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in ("first", "second"))
        assert first == second


def test_every_axis_has_its_column_with_one_line_per_run(
    runs: list[tuple[str, Recording]],
) -> None:
    figure = com_momentum_overlay(runs)
    assert [axes.get_title() for axes in figure.axes[:3]] == ["x", "y", "z"]
    for i, axes in enumerate(figure.axes[:3]):
        for (_, recording), colour in zip(runs, RUN_COLOURS, strict=False):
            (line,) = [line for line in axes.lines if same_color(line.get_color(), colour)]
            np.testing.assert_array_equal(line.get_ydata(), 1e3 * recording.com_error[:, i])


def test_labels_are_kept_as_given_and_followed_by_the_outcome(
    runs: list[tuple[str, Recording]],
) -> None:
    for draw in (com_momentum_overlay, contacts_overlay, torques_overlay):
        texts = [text.get_text() for text in draw(runs).legends[0].texts]
        assert [text.split(":")[0] for text in texts] == ["_first", "$K_D", "$none$"]
        assert texts[2].endswith(": nothing recorded")


def test_time_axis_holds_the_longest_run(pushed: Recording, talos: Recording) -> None:
    axes = com_momentum_overlay([("a", talos), ("b", pushed)]).axes[-1]
    assert axes.get_xlim() == pytest.approx((0.0, pushed.config.duration_s))
    assert axes.get_xlabel() == "time [s]"


def test_equal_pushes_are_marked_once_and_different_ones_each(
    pushed: Recording, talos: Recording
) -> None:
    def marked(*recordings: Recording) -> int:
        axes = com_momentum_overlay([("run", recording) for recording in recordings]).axes[0]
        return sum(patch.get_gid() == "push" for patch in axes.patches)

    assert marked(pushed, pushed) == 1
    assert marked(pushed, talos) == 2
    assert marked(replace(pushed, pushes=())) == 0


def test_soles_of_one_size_are_drawn_once(pushed: Recording, talos: Recording) -> None:
    def rectangles(*recordings: Recording) -> int:
        figure = contacts_overlay([("run", recording) for recording in recordings])
        axes = next(axes for axes in figure.axes if axes.get_xlabel() == "CoP x [mm]")
        return len(axes.patches)

    assert rectangles(pushed, pushed) == 2
    assert rectangles(pushed, talos) == 4


def test_limb_panel_shows_the_torque_nearest_to_its_limit(pushed: Recording) -> None:
    axes = torques_overlay([("run", pushed)]).axes[0]
    assert axes.get_title("left") == "Left leg"
    left = [i for i, name in enumerate(pushed.robot.joint_names) if name.startswith("left_")][:6]
    largest = 100 * np.abs(torque_share(pushed)[:, left]).max(axis=1)
    np.testing.assert_allclose(np.asarray(axes.lines[0].get_ydata()), largest, rtol=1e-12)


def test_runs_differ_in_colour_or_dashes() -> None:
    styles = {tuple(run_style(index).values()) for index in range(24)}
    assert len(styles) == 24


def test_an_overlay_of_no_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run to draw"):
        draw_overlay([], tmp_path)
