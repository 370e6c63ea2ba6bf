"""The figure of a comparison: a colour for each law, and whatever is known of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from balance.config import LAWS, load_config
from balance.config.quantity import Shown
from balance.experiment import run
from balance.plots.compare import compare_figure
from balance.plots.style import RUN_COLOURS, law_style, run_style, save, styles
from balance.recordings.recording import Recording
from balance.recordings.summary import columns_shown, flatten
from balance.studies.compare_table import LawResult
from balance.studies.limits import DirectionLimits
from balance.studies.search import Limit
from balance.studies.workers import failed

NAMES = LAWS.ready()


@pytest.fixture(scope="module")
def recording() -> Recording:
    """A tenth of a second of the paper's experiment, hit at 0.05 s."""
    return run(load_config("toro_push", {"duration_s": 0.35, "pushes.0.time_s": 0.05}))


def found(
    azimuth_deg: float, value: float, finished: bool = True, held: bool = False
) -> DirectionLimits:
    limits = {"recovered": Limit(value, value, None if held else value + 0.04)}
    return DirectionLimits({}, azimuth_deg, 0.0, 40.0, 77.5, limits, 9, 0, finished)


def result(
    recording: Recording | None, law: str, label: str = "", limits: Any = (), **columns: Any
) -> LawResult:
    row = {**flatten(recording.summary()), **columns} if recording else columns or None
    return LawResult(label or law, law, row, recording, tuple(limits))


def bars(figure: Figure, title: str) -> list[tuple[float, str]]:
    """Lengths and face colours of the bars in the panel of this title."""
    (axes,) = [axes for axes in figure.axes if axes.get_title("left") == title]
    return [(p.get_width(), str(np.round(p.get_facecolor(), 3))) for p in axes.patches]


def test_every_law_has_a_look_of_its_own() -> None:
    looks = [tuple(sorted(law_style(name).items())) for name in NAMES]
    assert len(set(looks)) == len(NAMES)
    assert law_style("momentum")["color"] in RUN_COLOURS


def test_laws_look_alike_in_envelopes_and_comparisons() -> None:
    """The variants of ``envelope_laws`` are the laws in their order."""
    assert [law_style(name) for name in NAMES[: len(RUN_COLOURS)]] == [
        run_style(index) for index in range(len(NAMES[: len(RUN_COLOURS)]))
    ]


def test_runs_of_different_laws_have_the_laws_colours_in_any_order() -> None:
    assert styles(["ott2011", "momentum"]) == [law_style("ott2011"), law_style("momentum")]
    assert styles(["momentum", "momentum"]) == [run_style(0), run_style(1)]
    assert styles(["hip", "chest"]) == [run_style(0), run_style(1)]


def test_variants_of_a_law_share_its_colour_but_not_its_dashes() -> None:
    plain, variant = law_style("momentum"), law_style("momentum", 1)
    assert plain["color"] == variant["color"] and plain["linestyle"] != variant["linestyle"]


def test_overlays_show_every_run_along_the_axis_of_the_push(recording: Recording) -> None:
    figure = compare_figure([result(recording, name) for name in NAMES], "test")
    com = figure.axes[0]
    assert com.get_ylabel() == "CoM error y\n[mm]"
    drawn = [line for line in com.lines if len(line.get_xdata()) == recording.time.size]  # type: ignore[arg-type]
    assert [line.get_color() for line in drawn] == [law_style(name)["color"] for name in NAMES]
    np.testing.assert_array_equal(drawn[0].get_ydata(), 1e3 * recording.com_error[:, 1])


def test_each_figure_of_a_run_is_a_bar(recording: Recording) -> None:
    summary = flatten(recording.summary())
    figure = compare_figure([result(recording, "momentum", outcome="recovered")], "test")
    for column in columns_shown(Shown.BARS):
        if summary[column.name] is not None:
            ((length, _),) = bars(figure, column.short_title)
            assert length == pytest.approx(column.quantity.scale * summary[column.name])


def test_laws_that_fell_have_hollow_bars(recording: Recording) -> None:
    runs = [
        result(recording, "momentum", outcome="recovered"),
        result(recording, "ott2011", outcome="fell"),
    ]
    (_, filled), (_, hollow) = bars(compare_figure(runs, "test"), "CoM peak [mm]")
    assert hollow == str(np.array([1.0, 1.0, 1.0, 1.0])) != filled


def test_limits_are_drawn_when_their_search_is_finished(recording: Recording) -> None:
    limits = [found(0.0, 0.9), found(90.0, 0.7, finished=False)]
    figure = compare_figure([result(recording, "momentum", limits=limits)], "test")
    (axes,) = [axes for axes in figure.axes if "ankle" in axes.get_ylabel()]
    assert [p.get_height() for p in axes.patches] == [0.9]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["front, 40.0 N s", "left, 40.0 N s"]


def test_a_limit_beyond_the_largest_push_says_so_and_times_can_be_left_out(
    recording: Recording,
) -> None:
    run = result(recording, "momentum", limits=[found(0.0, 0.9), found(90.0, 3.0, held=True)])
    full, untimed = compare_figure([run], "test"), compare_figure([run], "test", timed=False)
    (axes,) = [axes for axes in full.axes if "ankle" in axes.get_ylabel()]
    assert [text.get_text() for text in axes.texts] == ["0.90", "≥ 3.00"]
    titles = [{axes.get_title("left") for axes in one.axes} for one in (full, untimed)]
    assert titles[0] - titles[1] == {"control step, median [µs]"}


def test_a_figure_can_be_written_before_anything_has_run(
    recording: Recording, tmp_path: Any
) -> None:
    waiting = [result(None, name) for name in NAMES]
    broken = [result(None, "momentum", **failed("crashed")), result(recording, "ott2011", "a$b_$c")]
    compare_figure(waiting, "none").draw_without_rendering()
    assert save(compare_figure(broken, "a $ title"), tmp_path, "compare")
