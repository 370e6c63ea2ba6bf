"""Polar plot of a recovery envelope, with the ankle limit drawn in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.projections.polar import PolarAxes
from numpy.typing import NDArray

from balance.plots.footsteps import strategy_colour, strategy_handles
from balance.plots.style import CAPTION, NARROW, QUIET_COLOUR, WIDE, new_figure, styled, styles

if TYPE_CHECKING:
    from balance.studies.limits import DirectionLimits

Array = NDArray[np.float64]

PANELS = {"recovered": "recovered", "flat": "recovered on flat soles", "upright": "upright"}
ANKLE_LINE: dict[str, Any] = {"color": QUIET_COLOUR, "ls": (0, (4, 2)), "lw": 0.9}
RECOVERY_LINE: dict[str, Any] = {"ls": (0, (1.5, 1.2)), "lw": 1.1}
STEP_DASHES = ((0, (4, 1, 1, 1)), (0, (4, 1, 1, 1, 1, 1)))  # of the limits with steps
AROUND_DEG = np.arange(0.0, 361.0)
SAME_LIMIT = 1e-6  # relative difference of two ankle limits that are the same


def envelope_figure(
    results: Sequence[DirectionLimits],
    ankle_Ns: Callable[[float, float], float],
    title: str,
    criteria: Sequence[str] = tuple(PANELS),
) -> Figure:
    """A panel for each criterion, a row for each elevation, a curve for each variant.

    The radius is in N s if all variants have the same ankle limit, else a fraction of it.
    ``ankle_Ns(azimuth_deg, elevation_deg)`` is that of the first variant, in any direction.
    """
    elevations = sorted({found.elevation_deg for found in results})
    names = list(dict.fromkeys(found.name for found in results))
    in_Ns = _shared_limit(results)
    with styled():
        width, panel = (WIDE, 2.4) if len(criteria) > 1 else (NARROW, 3.4)
        figure = new_figure(width, 0.7 + panel * len(elevations))
        panels = figure.subplots(
            len(elevations), len(criteria), squeeze=False, subplot_kw={"projection": "polar"}
        )
        for row, elevation in zip(panels, elevations, strict=True):
            here = [found for found in results if found.elevation_deg == elevation]
            for axes, criterion in zip(row, criteria, strict=True):
                caption = PANELS[criterion] + (
                    f", {elevation:g}° up" if len(elevations) > 1 else ""
                )
                axes.set_title(caption, pad=6.0, **CAPTION)
                _panel(axes, here, criterion, names, in_Ns)
                ankle = [ankle_Ns(a, elevation) if in_Ns else 1.0 for a in AROUND_DEG]
                axes.plot(np.radians(AROUND_DEG), ankle, **ANKLE_LINE, gid="ankle limit")
                _recovery_lines(axes, here, names, in_Ns)
                if criterion == "recovered":
                    _strategies(axes, here, in_Ns)
                axes.set_rmin(0.0)
            top = max(axes.get_rmax() for axes in row)
            for axes in row:
                axes.set_rmax(top)
        unit = "N s" if in_Ns else "fraction of the ankle limit"
        figure.suptitle(f"{title}: largest push [{unit}]", x=0.01, ha="left", parse_math=False)
        _legend(figure, names, results, columns=4 if width == WIDE else 2)
    return figure


def _shared_limit(results: Sequence[DirectionLimits]) -> bool:
    limits: dict[tuple[float, float], float] = {}
    for found in results:
        direction = found.azimuth_deg, found.elevation_deg
        first = limits.setdefault(direction, found.ankle_limit_Ns)
        if abs(found.ankle_limit_Ns - first) > SAME_LIMIT * first:
            return False
    return True


def round_axes(axes: PolarAxes) -> None:
    """Directions as seen from above: x, forwards, is up."""
    axes.set_theta_zero_location("N")
    axes.set_xticks(np.radians([0, 90, 180, 270]), ["front", "left", "back", "right"])
    _, left, _, right = axes.get_xticklabels()
    left.set_horizontalalignment("right")  # words at the sides end at the circle
    right.set_horizontalalignment("left")
    axes.tick_params(axis="x", pad=-3.0)
    axes.tick_params(axis="y", pad=-2.0, labelsize="small", colors=QUIET_COLOUR)
    axes.set_rlabel_position(45.0)


def _panel(
    axes: PolarAxes,
    results: Sequence[DirectionLimits],
    criterion: str,
    names: Sequence[str],
    in_Ns: bool,
) -> None:
    round_axes(axes)
    for name, colour in zip(names, styles(names), strict=True):
        ours = [found for found in results if found.name == name]
        angle, value, low, high = _curves(ours, criterion, in_Ns)
        axes.plot(angle, value, marker=".", ms=3, **colour, zorder=3)
        if np.nanmax(high - low, initial=0.0) > 0.0:
            axes.fill_between(angle, low, high, color=colour["color"], alpha=0.15, lw=0, zorder=2)


def _recovery_lines(
    axes: PolarAxes, results: Sequence[DirectionLimits], names: Sequence[str], in_Ns: bool
) -> None:
    """The recovery limits: one line each in N s, else one for each variant in its colour."""
    seen: list[Array] = []
    for name, colour in zip(names, styles(names), strict=True):
        ours = [found for found in results if found.name == name]
        for number, steps in enumerate((0, *_step_counts(ours))):
            limits = [_most(found, steps) for found in ours]
            if not ours or None in limits:
                continue
            units = [1.0 if in_Ns else found.ankle_limit_Ns for found in ours]
            angle, radius = _closed(ours, np.array(limits, dtype=float) / units)
            if any(radius.shape == old.shape and np.allclose(radius, old) for old in seen):
                continue  # the same robot under another law
            seen.append(radius)
            shade = QUIET_COLOUR if in_Ns else colour["color"]
            look = RECOVERY_LINE | ({"ls": STEP_DASHES[number - 1]} if steps else {})
            axes.plot(angle, radius, **look, color=shade, gid="recovery limit")


def _most(found: DirectionLimits, steps: int) -> float | None:
    """The recovery limit with so many steps, N s, where it is known."""
    return found.step_limits_Ns.get(steps) if steps else found.recovery_limit_Ns


def _step_counts(results: Sequence[DirectionLimits]) -> list[int]:
    """Numbers of steps for which there are recovery limits, as many as can be told apart."""
    counts = sorted({count for found in results for count in found.step_limits_Ns})
    return counts[: len(STEP_DASHES)]


def _strategies(axes: PolarAxes, results: Sequence[DirectionLimits], in_Ns: bool) -> None:
    """A dot at each recovered push of a law that may step, in the colour of what held the robot."""
    for found in results:
        unit = found.ankle_limit_Ns if in_Ns else 1.0
        for fraction, words in found.strategies:
            axes.plot(
                np.radians(found.azimuth_deg),
                unit * fraction,
                "o",
                color=strategy_colour(words),
                ms=3.5,
                zorder=3.5,
                gid="strategy",
            )


def _curves(
    results: Sequence[DirectionLimits], criterion: str, in_Ns: bool
) -> tuple[Array, Array, Array, Array]:
    """Azimuth, limit and the ends of its interval; directions not finished are left out."""
    columns = []
    for found in results:
        limit = found.limits.get(criterion) if found.finished else None
        unit = found.ankle_limit_Ns if in_Ns else 1.0
        if limit is None:
            columns.append([np.nan] * 3)
        else:
            high = limit.value if limit.high is None else limit.high
            columns.append([unit * limit.value, unit * limit.low, unit * high])
    table = np.array(columns)
    angle, value = _closed(results, table[:, 0])
    return angle, value, _closed(results, table[:, 1])[1], _closed(results, table[:, 2])[1]


def _closed(results: Sequence[DirectionLimits], values: Array) -> tuple[Array, Array]:
    """Angles and values in order of azimuth, the first one again at the end of a full circle."""
    azimuth = np.array([found.azimuth_deg % 360.0 for found in results])
    order = np.argsort(azimuth)
    azimuth, values = azimuth[order], values[order]
    gaps = np.diff(np.append(azimuth, azimuth[0] + 360.0))
    if len(azimuth) > 2 and gaps.max() < 180.0:
        azimuth, values = np.append(azimuth, azimuth[0] + 360.0), np.append(values, values[0])
    return np.radians(azimuth), values


def _legend(
    figure: Figure, names: Sequence[str], results: Sequence[DirectionLimits], columns: int
) -> None:
    handles: list[Artist] = [Line2D([], [], **ANKLE_LINE, label="ankle limit")]
    if any(found.recovery_limit_Ns for found in results):
        words = "recovery limit, no step"
        handles.append(Line2D([], [], **RECOVERY_LINE, color=QUIET_COLOUR, label=words))
    for number, dashes in zip(_step_counts(results), STEP_DASHES, strict=False):
        look, words = RECOVERY_LINE | {"ls": dashes}, f"with {number} step" + "s" * (number > 1)
        handles.append(Line2D([], [], **look, color=QUIET_COLOUR, label=words))
    handles += strategy_handles([words for found in results for _, words in found.strategies])
    fixed = len(handles)
    handles += [
        Line2D([], [], **style, label="variant")
        for name, style in zip(names, styles(names), strict=True)
        if name
    ]
    legend = figure.legend(handles=handles, loc="outside lower left", ncols=columns)
    for text, name in zip(legend.get_texts()[fixed:], [n for n in names if n], strict=True):
        # A user's name may start with _ or hold $, which mean something to matplotlib.
        text.set_text(name)
        text.set_parse_math(False)
