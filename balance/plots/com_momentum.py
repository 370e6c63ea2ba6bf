"""CoM error, hip rotation, linear and angular momentum over time: Fig. 2 of Garofalo2015."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from balance.metrics import judge, settling_times
from balance.plots.marks import end_time, headline, label_pushes, mark_pushes, time_axis
from balance.plots.style import (
    AXIS_COLOURS,
    AXIS_NAMES,
    NARROW,
    QUIET_COLOUR,
    new_figure,
    styled,
)
from balance.recording import Recording

Array = NDArray[np.float64]

BAND_PERCENT = 10  # of the peak: the settling band of the paper's 4.7 s


@dataclass(frozen=True)
class Quantity:
    """A vector over time and how to draw it.

    ``scale`` turns SI into ``unit``; ``peak`` and ``settling`` are keys of ``summary.json``, under
    which a reference may give published values.
    """

    label: str
    unit: str
    scale: float
    values: Callable[[Recording], Array]
    peak: str
    settling: str | None = None

    def series(self, recording: Recording) -> Array:
        """Values (n, 3) in ``unit``."""
        return self.scale * self.values(recording)


QUANTITIES = (
    Quantity("CoM error", "mm", 1e3, lambda r: r.com_error, "peak_com_error_m", "settling_time_s"),
    Quantity(
        "hip rotation", "rad", 1.0, lambda r: r.rotation_error, "peak_rotation_rad",
        "rotation_settling_time_s",
    ),
    Quantity(
        "linear\nmomentum", "kg m/s", 1.0, lambda r: r.momentum[:, :3], "peak_linear_momentum"
    ),
    Quantity(
        "angular\nmomentum", "kg m²/s", 1.0, lambda r: r.momentum[:, 3:], "peak_angular_momentum"
    ),
)  # fmt: skip


def com_momentum_figure(recording: Recording) -> Figure:
    """Four panels over time; push, settling band and the reference's peaks marked."""
    with styled():
        figure = new_figure(NARROW, 6.2)
        panels = figure.subplots(len(QUANTITIES), 1, sharex=True)
        for axes, quantity in zip(panels, QUANTITIES, strict=True):
            _panel(axes, recording, quantity)
        time_axis(panels[-1], [recording])
        label_pushes(panels[0], [recording])
        figure.suptitle(headline(recording), x=0.01, ha="left")
        figure.align_ylabels(panels)
        lines = [
            Line2D([], [], color=colour, label=name)
            for name, colour in zip(AXIS_NAMES, AXIS_COLOURS, strict=True)
        ]
        panels[0].legend(
            handles=lines, loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=3, borderaxespad=0
        )
    return figure


def _panel(axes: Axes, recording: Recording, quantity: Quantity) -> None:
    values = quantity.series(recording)
    axes.axhline(0.0, color="0.7", lw=0.6, zorder=1)
    mark_pushes(axes, [recording])
    # The largest component comes last, so that nothing hides it.
    for i in np.argsort(np.max(np.abs(values), axis=0, initial=0.0)):
        axes.plot(
            recording.time, values[:, i], color=AXIS_COLOURS[i], zorder=3, label=AXIS_NAMES[i]
        )
    axes.set_ylabel(f"{quantity.label}\n[{quantity.unit}]")
    if values.size == 0:
        axes.set_ylim(-1.0, 1.0)
        return
    _mark_reference(axes, recording, quantity, values)
    if quantity.settling and recording.pushes and judge(recording).outcome != "fell":
        _mark_settling(axes, recording, quantity, quantity.settling)


def _mark_reference(axes: Axes, recording: Recording, quantity: Quantity, values: Array) -> None:
    """The published peak as a dashed line, on the side to which our largest component went."""
    reference = recording.config.reference
    if reference is None or quantity.peak not in reference.values:
        return
    size = quantity.scale * reference.values[quantity.peak]
    side = np.sign(values.flat[np.argmax(np.abs(values))]) or 1.0
    axes.axhline(side * size, color=QUIET_COLOUR, ls=(0, (4, 3)), lw=0.8, zorder=2, gid="reference")
    axes.annotate(
        f"{reference.name}: {size:.3g} {quantity.unit}",
        (1.0, side * size),
        (0.0, -2.0 * side),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right",
        va="top" if side > 0 else "bottom",
        color=QUIET_COLOUR,
        fontsize="small",
    )


def _mark_settling(axes: Axes, recording: Recording, quantity: Quantity, settling: str) -> None:
    """The band of 10 % of the peak error, and when the error stays inside it."""
    start = max(push.start for push in recording.pushes)
    size = np.linalg.norm(quantity.series(recording), axis=1)
    band = BAND_PERCENT / 100 * float(np.max(size[recording.time >= start], initial=0.0))
    axes.axhspan(-band, band, color="0.5", alpha=0.15, lw=0, zorder=0.3, gid="settling band")
    duration = settling_times(recording.time, size / quantity.scale, start)[str(BAND_PERCENT)]
    reference = recording.config.reference
    text = f"inside {BAND_PERCENT} % of the peak\nafter {duration:.1f} s" if duration else ""
    if duration is None:
        text = f"not inside {BAND_PERCENT} % of the peak"
    if reference and settling in reference.values:
        text += f" ({reference.name}: {reference.values[settling]:.1f} s)"
    instant = end_time(recording) if duration is None else start + duration
    late = instant > 0.55 * end_time(recording)
    if duration is not None:
        axes.plot([instant, instant], [-band, band], color="black", lw=1.0, zorder=4, gid="settled")
    axes.annotate(
        text,
        (instant, -band),
        (0.0, -3.0),
        textcoords="offset points",
        ha="right" if late else "left",
        va="top",
        color=QUIET_COLOUR,
        fontsize="small",
    )
