"""A recording and a robot in a notebook: pandas, figures, and what they say of themselves."""

from __future__ import annotations

import doctest
import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import balance
from balance.config import load_config
from balance.errors import InputError, MissingExtraError
from balance.experiment import run
from balance.recordings import notebook
from balance.recordings.recording import Recording
from balance.recordings.results import save_recording
from balance.robots import Robot, load_robot


@pytest.fixture(scope="module")
def recording() -> Recording:
    keys = {"duration_s": 0.5, "pushes.0.time_s": 0.1, "control_period_s": 0.002}
    return run(load_config("toro_push", keys))


def test_the_table_is_the_log_over_time_with_units(recording: Recording, tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="pip install 'pin-balance[pandas]'")
    frame = recording.to_pandas()
    log = pq.read_table(save_recording(recording, tmp_path / "result") / "log.parquet")
    assert ["time", *frame.columns] == log.column_names
    assert frame.index.name == "time" and np.array_equal(frame.index, recording.time)
    for name in frame.columns:
        assert np.array_equal(frame[name], log[name].to_numpy(), equal_nan=True)
        assert frame.attrs["units"][name].encode() == log.schema.field(name).metadata[b"unit"]
    assert (frame.attrs["robot"], frame.attrs["outcome"]) == ("toro", "upright")
    pushed = frame.loc[0.1:0.12, "push_force_y"].abs().max()  # as one would cut it out
    assert pushed == np.abs(recording.push_force).max()


def test_without_pandas_the_extra_is_named(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"'pandas'.*\[pandas\]"):
        recording.to_pandas()


def test_a_figure_is_shown_as_it_would_be_written(recording: Recording, tmp_path: Path) -> None:
    from balance.plots import draw_run

    figure = recording.plot()
    draw_run(recording, tmp_path)
    assert figure._repr_png_() == (tmp_path / "com_momentum.png").read_bytes()  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=r"no figure 'estimation'.*com_momentum, contacts"):
        recording.plot("estimation")


def test_a_recording_says_in_a_line_what_came_of_it(recording: Recording) -> None:
    text = repr(recording)
    assert text.startswith("<Recording of toro, law momentum: upright (not settled")
    assert text.endswith("; 250 rows of 2 ms>")


def test_the_page_of_a_recording_has_verdict_pushes_and_curves(recording: Recording) -> None:
    html = recording._repr_html_()
    page = ElementTree.fromstring(html.replace("<br>", "<br/>"))  # well formed
    words = " ".join(page.itertext())
    assert "toro, law momentum: upright" in words
    assert f"{recording.pushes[0].impulse:.3g} N s on hip" in words
    assert f"{1e3 * np.linalg.norm(recording.com_error, axis=1).max():.4g} mm" in words
    curves = [line.get("points", "").split() for line in page.iter("polyline")]
    assert len(curves) == 6 and {len(points) for points in curves} == {notebook.POINTS}


def test_a_small_curve_keeps_its_peak_and_bears_what_is_no_number() -> None:
    values = np.zeros(10_000)
    values[4321] = 2.0  # one row of many
    values[17] = np.nan
    points = ElementTree.fromstring(notebook.sparkline(values))[0].get("points", "")
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert (min(heights), max(heights)) == (2.0, notebook.HEIGHT - 2.0)
    assert heights.index(2.0) == 4321 * notebook.POINTS // 10_000
    assert notebook.sparkline(np.zeros(0)) == ""


@pytest.mark.parametrize("name", ["toro", "solo12"])
def test_a_robot_says_what_it_is(name: str) -> None:
    robot: Robot = load_robot(name)
    joints = len(robot.joint_names)
    assert repr(robot) == (
        f"<Robot {name}: {robot.mass:.1f} kg, {joints} joints, {len(robot.soles)} soles>"
    )
    words = " ".join(ElementTree.fromstring(robot._repr_html_()).itertext())
    assert robot.description in words and f"{robot.mass:.1f} kg" in words


def test_the_help_begins_with_an_example_that_is_true() -> None:
    pytest.importorskip("pandas", reason="pip install 'pin-balance[pandas]'")
    assert balance.__doc__ is not None
    assert balance.__doc__.index(">>> import balance") < 80
    spec = importlib.util.find_spec("balance")
    assert spec is not None
    example = doctest.DocTestParser().get_doctest(balance.__doc__, {}, "balance", spec.origin, 0)
    results = doctest.DocTestRunner().run(example)
    assert results.attempted == 6 and results.failed == 0
