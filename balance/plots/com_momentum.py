"""CoM error, hip rotation, linear and angular momentum over time: Fig. 2 of Garofalo2015."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from balance.config.quantity import Quantity
from balance.plots.marks import axis_handles, headline, label_pushes, mark_pushes, time_axis
from balance.plots.style import (
    AXIS_COLOURS,
    CAPTION,
    NARROW,
    QUIET_COLOUR,
    few_ticks,
    new_figure,
    styled,
)
from balance.recordings.judging import judge
from balance.recordings.metrics import settling_times, up_to_fall
from balance.recordings.quantities import motion as quantities
from balance.recordings.recording import Recording
from balance.recordings.reference import published
from balance.recordings.verdict import Outcome

Array = NDArray[np.float64]

BAND_PERCENT = 10  # of the peak: the settling band of the paper's 4.7 s


@dataclass(frozen=True)
class Curve:
    """A vector over time and how to draw it.

    ``peak`` is the quantity that is its largest length, and ``settling`` the key of the time that
    it takes to settle; a reference may give published values of both.  The axis spans at least
    ``floor`` to either side of zero, so that rounding errors do not look like motion.
    """

    label: str
    floor: float
    values: Callable[[Recording], Array]
    peak: Quantity
    settling: str = ""

    @property
    def unit(self) -> str:
        """That of the peak."""
        return self.peak.unit

    @property
    def scale(self) -> float:
        """From SI to ``unit``."""
        return self.peak.scale

    def series(self, recording: Recording) -> Array:
        """Values (n, 3) in ``unit``."""
        return self.scale * self.values(recording)


CURVES = (
    Curve(
        "CoM error", 0.1, lambda r: r.com_error, quantities.peak_com_error_m,
        quantities.settling_time_s.key,
    ),
    Curve(
        "hip rotation", 1e-3, lambda r: r.rotation_error, quantities.peak_rotation_rad,
        quantities.rotation_settling_time_s.key,
    ),
    Curve(
        "lin. momentum", 0.1, lambda r: r.momentum[:, :3], quantities.peak_linear_momentum
    ),
    Curve(
        "ang. momentum", 0.01, lambda r: r.momentum[:, 3:], quantities.peak_angular_momentum
    ),
)  # fmt: skip


def com_momentum_figure(recording: Recording) -> Figure:
    """Four panels over time; push, settling band and the reference's peaks marked."""
    with styled():
        figure = new_figure(NARROW, 6.4)
        panels = figure.subplots(len(CURVES), 1, sharex=True)
        for axes, curve in zip(panels, CURVES, strict=True):
            _panel(axes, recording, curve)
        time_axis(panels[-1], [recording])
        label_pushes(panels[0], [recording])
        headline(figure, recording)
        figure.align_ylabels(panels)
        figure.legend(handles=axis_handles(), loc="outside upper right", ncols=3)
    return figure


def _panel(axes: Axes, recording: Recording, curve: Curve) -> None:
    values = curve.series(recording)
    axes.axhline(0.0, color="0.7", lw=0.6, zorder=1)
    mark_pushes(axes, [recording])
    # The largest component comes last, so that nothing hides it.
    for i in np.argsort(np.max(np.abs(values), axis=0, initial=0.0)):
        axes.plot(recording.time, values[:, i], color=AXIS_COLOURS[i], zorder=3)
    axes.set_ylabel(f"{curve.label}\n[{curve.unit}]")
    axes.update_datalim([(0.0, -curve.floor), (0.0, curve.floor)])
    few_ticks(axes)
    if values.size == 0:
        return
    size = np.linalg.norm(values, axis=1)
    words = [f"peak {size[: up_to_fall(recording).time.size].max():.3g} {curve.unit}"]
    if recording.pushes:
        _mark_reference(axes, recording, curve, values)
        if curve.settling and judge(recording).outcome is not Outcome.FELL:
            words.append(_mark_settling(axes, recording, size, curve.scale))
    axes.set_title(", ".join(words), loc="left", **CAPTION)


def _mark_reference(axes: Axes, recording: Recording, curve: Curve, values: Array) -> None:
    """The published peak as a dashed line, on the side to which our largest component went."""
    reference = published(recording)
    if reference is None or curve.peak.key not in reference.values:
        return
    size = curve.scale * reference.values[curve.peak.key]
    side = np.sign(values.flat[np.argmax(np.abs(values))])
    axes.axhline(side * size, color=QUIET_COLOUR, ls=(0, (4, 3)), lw=0.8, zorder=2, gid="reference")
    words = [f"– – {reference.name}: {size:.3g} {curve.unit}"]
    if curve.settling in reference.values:
        words.append(f"{reference.values[curve.settling]:.1f} s")
    axes.set_title(", ".join(words), loc="right", **CAPTION)


def _mark_settling(axes: Axes, recording: Recording, size: Array, scale: float) -> str:
    """The band of 10 % of the peak, and the instant from which on ``size`` stays inside it."""
    start = max(push.start for push in recording.pushes)
    band = BAND_PERCENT / 100 * float(np.max(size[recording.time >= start], initial=0.0))
    axes.axhspan(-band, band, color="0.5", alpha=0.15, lw=0, zorder=0.3, gid="settling band")
    duration = settling_times(recording.time, size / scale, start)[str(BAND_PERCENT)]
    if duration is None:
        return f"not within {BAND_PERCENT} %"
    instants = [start + duration] * 2
    axes.plot(instants, [-band, band], color="black", lw=1.0, zorder=4, gid="settled")
    return f"within {BAND_PERCENT} % after {duration:.1f} s"
