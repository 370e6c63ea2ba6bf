"""Errors of the estimated base over time, with the band that the filter gives them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from balance.errors import InputError
from balance.plots.marks import axis_handles, headline, label_pushes, mark_pushes, time_axis
from balance.plots.style import AXIS_COLOURS, CAPTION, NARROW, few_ticks, new_figure, styled
from balance.recordings.recording import Recording

PANELS = (("position", "mm", 1e3), ("rotation", "mrad", 1e3), ("velocity", "mm/s", 1e3))
BAND_STDS = 2.0
QUIET_SHARE = 0.998  # of the errors that a panel shows in full; a hit outruns any delay


def estimation_figure(recording: Recording) -> Figure:
    """Three panels over time: position, rotation and velocity error, +-2 standard deviations."""
    if recording.estimation is None:
        raise InputError("this run has no estimate to draw; set 'state: estimated' and run again")
    with styled():
        figure = new_figure(NARROW, 4.8)
        panels = figure.subplots(len(PANELS), 1, sharex=True)
        for index, axes in enumerate(panels):
            _panel(axes, recording, index)
        time_axis(panels[-1], [recording])
        label_pushes(panels[0], [recording])
        headline(figure, recording)
        figure.align_ylabels(panels)
        figure.legend(handles=axis_handles(), loc="outside upper right", ncols=3)
    return figure


def _panel(axes: Axes, recording: Recording, index: int) -> None:
    assert recording.estimation is not None
    label, unit, scale = PANELS[index]
    part = slice(3 * index, 3 * index + 3)
    errors = scale * recording.estimation[:, part]
    bands = scale * BAND_STDS * recording.estimation[:, 9:][:, part]
    axes.axhline(0.0, color="0.7", lw=0.6, zorder=1)
    mark_pushes(axes, [recording])
    for i, colour in enumerate(AXIS_COLOURS):
        for side in (-1.0, 1.0):
            axes.plot(recording.time, side * bands[:, i], color=colour, lw=0.7, ls=":", zorder=2)
        axes.plot(recording.time, errors[:, i], color=colour, lw=0.9, zorder=3)
    axes.set_ylabel(f"{label} error\n[{unit}]")
    few_ticks(axes)
    if len(errors) == 0:
        return
    size = np.linalg.norm(errors, axis=1)
    reach = 1.15 * max(np.quantile(np.abs(errors), QUIET_SHARE), bands[len(bands) // 2 :].max())
    axes.set_ylim(-reach, reach)
    rms = float(np.sqrt(np.mean(size**2)))
    words = f"rms {rms:.1f} {unit}, largest {size.max():.1f} {unit}; dotted: ±2 std of the filter"
    axes.set_title(words, loc="left", **CAPTION)
