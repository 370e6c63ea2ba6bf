"""Contact forces of a run through stances in sequence, phase by phase."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from balance.errors import InputError
from balance.plots.contacts import COMMANDED
from balance.plots.marks import end_time, headline, mark_pushes, push_handles, time_axis
from balance.plots.style import AXIS_COLOURS, WIDE, few_ticks, new_figure, styled
from balance.recordings.phase_rows import phase_spans
from balance.recordings.recording import Recording

OFF_COLOUR, BETWEEN_COLOUR = "#DDDDDD", "#F3E3B3"
HEIGHT, HEAD = 1.05, 1.5  # inches, of a panel and of all that is above and below
LEAST_WEIGHTS, MOST_WEIGHTS = 0.15, 1.4  # of an axis of forces; impacts are cut off


def phases_figure(recording: Recording) -> Figure:
    """A panel for each contact: measured and commanded normal force, and whether it is to bear."""
    if recording.phase is None or recording.bearing is None:
        raise InputError("the run has no phases; contacts.png shows its forces")
    soles = recording.robot.soles
    with styled():
        figure = new_figure(WIDE, HEAD + HEIGHT * len(soles))
        panels = figure.subplots(len(soles), 1, sharex=True, squeeze=False)[:, 0]
        for number, (axes, sole) in enumerate(zip(panels, soles, strict=True)):
            _draw(axes, recording, number)
            axes.set_ylabel(f"{sole.name}\n[N]", parse_math=False)
            time_axis(axes, [recording], label=number == len(soles) - 1)
        _name_phases(panels[0], recording)
        headline(figure, recording)
        figure.legend(handles=_handles(recording), loc="outside lower center", ncols=5)
    return figure


def _draw(axes: Axes, recording: Recording, sole: int) -> None:
    assert recording.bearing is not None
    time, bearing = recording.time, recording.bearing[:, sole]
    measured, commanded = recording.contact_wrenches[:, sole, 2], recording.wrenches[:, sole, 2]
    axes.plot(time, measured, color=AXIS_COLOURS[2], zorder=3)
    axes.plot(time, commanded, **COMMANDED, zorder=4)
    for value, colour in ((0.0, OFF_COLOUR), (0.5, BETWEEN_COLOUR)):
        where = bearing == value
        axes.fill_between(
            time,
            0.0,
            1.0,
            where=where.tolist(),
            step="post",
            transform=axes.get_xaxis_transform(),
            color=colour,
            lw=0.0,
            zorder=0.3,
        )
    gravity = float(np.linalg.norm(recording.robot.model.gravity.linear))
    weight = recording.robot.mass * gravity
    meant = measured[bearing > 0.0]
    top = 1.1 * float(meant.max(initial=0.0))
    axes.set_ylim(-0.02 * weight, min(max(top, LEAST_WEIGHTS * weight), MOST_WEIGHTS * weight))
    few_ticks(axes, 3)
    for span in phase_spans(recording)[1:]:
        axes.axvline(span.start_s, color="black", lw=0.5, zorder=2)
    mark_pushes(axes, [recording])


def _name_phases(axes: Axes, recording: Recording) -> None:
    end = end_time(recording)
    for span in phase_spans(recording):
        axes.annotate(
            span.name,
            (0.5 * (span.start_s + min(span.end_s, end)), 1.0),
            (0.0, 3.0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            rotation=35,
            rotation_mode="anchor",
            fontsize="x-small",
            ha="left",
            va="bottom",
            parse_math=False,
            annotation_clip=False,
            gid="phase",
        )


def _handles(recording: Recording) -> list[Line2D | Patch]:
    return [
        Line2D([], [], color=AXIS_COLOURS[2], label="measured"),
        Line2D([], [], **COMMANDED, label="commanded"),
        Patch(color=BETWEEN_COLOUR, label="load changes"),
        Patch(color=OFF_COLOUR, label="meant to be off"),
        *push_handles([recording]),
    ]
