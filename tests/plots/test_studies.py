"""Figures of studies: their kind follows the axes, their marks the outcomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from balance.plots.envelope import AROUND_DEG, envelope_figure
from balance.plots.studies import Dimension, SweepData, _knots, sweep_figure
from balance.plots.style import save
from balance.studies.limits import DirectionLimits
from balance.studies.search import CRITERIA, Limit


def data(*sizes: int, names: tuple[str, ...] = (), scattered: bool = False) -> SweepData:
    """A full grid; the last tenth of the cells falls, and the very last is still to run."""
    grid = np.meshgrid(*(np.arange(size, dtype=float) for size in sizes), indexing="ij")
    dimensions = [Dimension(f"key {i}", 2.0 * axis.ravel()) for i, axis in enumerate(grid)]
    if names:
        dimensions[-1] = Dimension("case", grid[-1].ravel(), names)
    count = grid[0].size
    outcomes = np.array(["recovered"] * count, dtype="<U9")
    outcomes[-max(count // 10, 2) :] = "fell"
    outcomes[-1] = ""
    metric = np.linspace(1.0, 2.0, count)
    metric[outcomes == "fell"] = 50.0
    return SweepData(tuple(dimensions), scattered, outcomes, metric, "metric_m", "a study")


def panels(figure: Figure) -> list[Axes]:
    return [axes for axes in figure.axes if axes.get_visible() and axes.get_label() != "<colorbar>"]


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_one_axis_is_a_curve_that_falls_do_not_flatten() -> None:
    figure = sweep_figure(data(20))
    (axes,) = panels(figure)
    assert axes.get_xlabel() == "key 0" and axes.get_ylabel() == "metric_m"
    assert axes.get_ylim()[1] < 3.0
    assert texts(figure) == ["recovered 18", "fell 1", "still to run 1"]


def test_two_axes_are_a_heat_map() -> None:
    figure = sweep_figure(data(5, 4))
    (axes,) = panels(figure)
    fallen, mean = (image.get_array() for image in axes.images)
    assert fallen is not None and mean is not None
    assert mean.shape == (4, 5)  # the first axis runs to the right
    assert mean[0, 1] == pytest.approx(1.0 + 4 / 19)
    assert np.ma.getmaskarray(np.ma.masked_invalid(mean))[3, 3:].tolist() == [False, True]
    assert np.isfinite(np.asarray(fallen, dtype=float)).sum() == 1


@pytest.mark.parametrize(
    ("sizes", "names", "titles"),
    [
        ((4, 3, 2), ("hip", "head"), ["case = hip", "case = head"]),
        ((2, 4, 3), (), ["key 0 = 0", "key 0 = 2"]),
        ((2, 3, 4, 3), (), None),
    ],
)
def test_more_axes_are_small_multiples(
    sizes: tuple[int, ...], names: tuple[str, ...], titles: list[str] | None
) -> None:
    figure = sweep_figure(data(*sizes, names=names))
    found = panels(figure)
    if titles is None:
        assert len(found) == 6 and "key 0 = 0, key 1 = 0" in found[0].get_title("left")
    else:
        assert [axes.get_title("left") for axes in found] == titles


def test_samples_and_many_axes_get_a_panel_for_each_key() -> None:
    assert len(panels(sweep_figure(data(3, 2, 2, scattered=True)))) == 3
    assert len(panels(sweep_figure(data(2, 2, 2, 2, 2)))) == 5


def test_repeats_are_averaged_and_the_majority_decides() -> None:
    x = np.repeat([0.0, 1.0], 3)
    outcomes = np.array(["recovered", "recovered", "fell", "fell", "fell", "recovered"])
    metric = np.array([1.0, 3.0, 9.0, 9.0, 9.0, 1.0])
    plane = (Dimension("a", x), Dimension("b", np.zeros(6)))
    figure = sweep_figure(SweepData(plane, False, outcomes, metric, "metric", "repeats"))
    mean = np.asarray(panels(figure)[0].images[1].get_array(), dtype=float)
    assert mean[0, 0] == pytest.approx(2.0)
    assert np.isnan(mean[0, 1])


def test_a_sweep_without_any_result_can_be_drawn() -> None:
    for sizes in ((4,), (4, 3), (4, 3, 2)):
        empty = data(*sizes)
        nothing = np.full(empty.metric.size, "", dtype="<U9")
        sweep_figure(
            SweepData(
                empty.dimensions, False, nothing, np.full(empty.metric.size, np.nan), "m", "empty"
            )
        )


def limits(azimuth: float, value: float, ankle: float = 20.0, **changes: object) -> DirectionLimits:
    found = {name: Limit(value, value - 0.1, value + 0.1) for name in CRITERIA}
    values: dict[str, object] = {
        "variant": {"law": "momentum"}, "azimuth_deg": azimuth, "elevation_deg": 0.0,
        "ankle_limit_Ns": ankle, "mass_kg": 77.5, "limits": found, "runs": 8, "errors": 0,
        "finished": True,
    }  # fmt: skip
    return DirectionLimits(**{**values, **changes})  # type: ignore[arg-type]


def ankle(azimuth_deg: float, elevation_deg: float) -> float:
    return 20.0 + azimuth_deg / 36.0


def test_an_envelope_closes_and_has_the_ankle_limit() -> None:
    results = [limits(a, 0.8) for a in (90.0, 0.0, 270.0, 180.0)]
    figure = envelope_figure(results, ankle, "toro")
    assert len(panels(figure)) == 3
    curve, ankle_line = panels(figure)[0].lines
    np.testing.assert_allclose(curve.get_xdata(), np.radians([0, 90, 180, 270, 360]))
    np.testing.assert_allclose(curve.get_ydata(), 16.0)
    assert ankle_line.get_gid() == "ankle limit"
    np.testing.assert_allclose(ankle_line.get_ydata(), [ankle(a, 0.0) for a in AROUND_DEG])
    assert texts(figure) == ["ankle limit", "momentum"]


def test_an_envelope_shows_the_recovery_limit_of_a_robot_once() -> None:
    around = (0.0, 90.0, 180.0, 270.0)
    results = [
        limits(a, 0.8, variant={"law": law}, recovery_limit_Ns=30.0)
        for law in ("momentum", "capture")
        for a in around
    ]
    figure = envelope_figure(results, ankle, "toro")
    lines = [line for line in panels(figure)[0].lines if line.get_gid() == "recovery limit"]
    assert len(lines) == 1  # both laws have the same robot
    np.testing.assert_allclose(lines[0].get_ydata(), 30.0)
    assert texts(figure) == ["ankle limit", "recovery limit, no step", "momentum", "capture"]


def test_an_envelope_of_a_law_that_steps_shows_strategies_and_limits_with_steps() -> None:
    tried = ((0.5, "ankles"), (1.2, "hips"), (1.8, "1 step"))
    with_steps = {"recovery_limit_Ns": 30.0, "step_limits_Ns": {1: 50.0, 2: 60.0}}
    results = [limits(a, 1.8, strategies=tried, **with_steps) for a in (0.0, 90.0, 180.0, 270.0)]
    figure = envelope_figure(results, lambda a, e: 20.0, "toro", ("recovered",))
    lines = panels(figure)[0].lines
    dots = [line for line in lines if line.get_gid() == "strategy"]
    assert len(dots) == 12 and len({line.get_color() for line in dots}) == 3
    assert sorted({float(line.get_ydata()[0]) for line in dots}) == [10.0, 24.0, 36.0]  # N s
    drawn = [line.get_ydata()[0] for line in lines if line.get_gid() == "recovery limit"]
    assert drawn == [30.0, 50.0, 60.0]
    assert texts(figure)[:7] == [
        "ankle limit", "recovery limit, no step", "with 1 step", "with 2 steps", "ankles", "hips",
        "1 step",
    ]  # fmt: skip


def test_recovery_limits_of_different_robots_are_fractions_in_their_colours() -> None:
    around = (0.0, 120.0, 240.0)
    results = [limits(a, 0.8, recovery_limit_Ns=30.0) for a in around]
    small = {"variant": {"robot": "g1"}, "recovery_limit_Ns": 6.0}
    results += [limits(a, 0.6, 5.0, **small) for a in around]
    figure = envelope_figure(results, ankle, "robots")
    first, second = (line for line in panels(figure)[0].lines if line.get_gid() == "recovery limit")
    np.testing.assert_allclose(first.get_ydata(), 1.5)
    np.testing.assert_allclose(second.get_ydata(), 1.2)
    assert first.get_color() != second.get_color()


def test_robots_of_different_size_are_compared_in_fractions() -> None:
    results = [limits(a, 0.8) for a in (0.0, 120.0, 240.0)]
    results += [limits(a, 0.6, 5.0, variant={"robot": "g1"}) for a in (0.0, 120.0, 240.0)]
    figure = envelope_figure(results, ankle, "robots")
    first, second, ankle_line = panels(figure)[0].lines
    np.testing.assert_allclose(first.get_ydata(), 0.8)
    np.testing.assert_allclose(second.get_ydata(), 0.6)
    np.testing.assert_allclose(ankle_line.get_ydata(), 1.0)


def test_directions_without_a_result_leave_a_gap() -> None:
    results = [limits(0.0, 0.8), limits(90.0, 0.8, finished=False), limits(180.0, 0.8, limits={})]
    figure = envelope_figure(results, ankle, "toro")
    radii = np.asarray(panels(figure)[0].lines[0].get_ydata())
    assert np.isfinite(radii).tolist() == [True, False, False]


def test_elevations_get_rows_of_their_own() -> None:
    results = [limits(0.0, 0.8, elevation_deg=e) for e in (0.0, 30.0)]
    assert len(panels(envelope_figure(results, ankle, "toro"))) == 6


def test_figures_are_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(sweep_figure(data(3)), tmp_path, "figure", pdf=True)
    before = (tmp_path / "figure.png").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"figure.png", "figure.pdf"}

    def fails(*_: object, **__: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(Figure, "savefig", fails)
    with pytest.raises(OSError, match="no space"):
        save(sweep_figure(data(3, 3)), tmp_path, "figure")
    assert (tmp_path / "figure.png").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"figure.png", "figure.pdf"}


def test_ticks_are_even_and_hold_both_ends_where_that_is_cheap() -> None:
    assert _knots([4] * 6, 24) == [0, 1, 2, 3, 4, 5]
    assert _knots([4] * 10, 20) == [0, 3, 6, 9]
    assert _knots([4] * 12, 24) == [0, 2, 4, 6, 8, 10]
    assert _knots([9], 4) == [0]
