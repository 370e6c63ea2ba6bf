"""Several runs in one figure, a colour for each; the axes x, y, z get columns of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from balance.plots.com_momentum import CURVES
from balance.plots.contacts import (
    LABELS,
    SoleShape,
    draw_sole,
    mark_friction_limit,
    sole_shape,
    usual_force,
)
from balance.plots.limbs import limbs
from balance.plots.marks import cap, mark_pushes, outcome, push_handles, time_axis
from balance.plots.style import (
    AXIS_COLOURS,
    AXIS_NAMES,
    NARROW,
    QUIET_COLOUR,
    WIDE,
    few_ticks,
    new_figure,
    styled,
    styles,
)
from balance.plots.torques import limb_panels, mark_torque_limits, torque_share
from balance.recordings.demand import friction_use
from balance.recordings.recording import Recording

Array = NDArray[np.float64]
Runs = Sequence[tuple[str, Recording]]

LETTER_IN = 0.07  # width of a letter in a legend, inches


def com_momentum_overlay(runs: Runs) -> Figure:
    """Rows: CoM error, hip rotation, linear and angular momentum; columns: x, y, z."""
    recordings = [recording for _, recording in runs]
    with styled():
        figure = new_figure(WIDE, 6.4)
        panels = figure.subplots(len(CURVES), 3, sharex=True, sharey="row")
        for row, curve in zip(panels, CURVES, strict=True):
            row[0].set_ylabel(f"{curve.label}\n[{curve.unit}]")
            few_ticks(row[0])
            for i, axes in enumerate(row):
                axes.axhline(0.0, color="0.7", lw=0.6, zorder=1)
                axes.update_datalim([(0.0, -curve.floor), (0.0, curve.floor)])
                mark_pushes(axes, recordings)
                for recording, style in zip(recordings, _styles(recordings), strict=True):
                    values = curve.series(recording)[:, i]
                    axes.plot(recording.time, values, **style, zorder=3)
        for i, name in enumerate(AXIS_NAMES):
            panels[0, i].set_title(name, color=AXIS_COLOURS[i])
            time_axis(panels[-1, i], recordings)
        figure.align_ylabels(panels[:, 0])
        _legends(figure, runs)
    return figure


def contacts_overlay(runs: Runs) -> Figure:
    """A column for each sole: measured normal and tangential force, friction use, CoP."""
    recordings = [recording for _, recording in runs]
    names = list(dict.fromkeys(sole.name for r in recordings for sole in r.robot.soles))
    with styled():
        figure = new_figure(max(NARROW, 2.4 * len(names)), 6.4)
        panels = figure.subplots(
            4, len(names), sharey="row", squeeze=False, height_ratios=[1.0, 1.0, 0.8, 1.0]
        )
        for column, name in zip(panels.T, names, strict=True):
            column[0].set_title(name.capitalize(), loc="left")
            for axes in column[:3]:
                mark_pushes(axes, recordings)
                time_axis(axes, recordings, label=axes is column[2])
            _contacts(column, recordings, name)
        for axes, label in zip(panels[:, 0], LABELS, strict=True):
            axes.set_ylabel(label)
        figure.align_ylabels(panels[:, 0])
        _legends(figure, runs)
    return figure


def _contacts(column: Sequence[Axes], recordings: Sequence[Recording], name: str) -> None:
    """One sole of every robot that has it."""
    drawn: tuple[list[Array], ...] = ([], [], [])
    shapes: dict[SoleShape, str] = {}
    for recording, style in zip(recordings, _styles(recordings), strict=True):
        names = [sole.name for sole in recording.robot.soles]
        if name not in names:
            continue
        sole = names.index(name)
        shapes.setdefault(sole_shape(recording, sole), style["color"])
        force = recording.contact_wrenches[:, sole, :3]
        use = friction_use(recording)[:, sole]
        series = force[:, 2], np.hypot(force[:, 0], force[:, 1]), use
        for axes, values, kept in zip(column[:3], series, drawn, strict=True):
            axes.plot(recording.time, values, **style, zorder=3)
            kept.append(values)
        column[3].plot(*(1e3 * recording.cop[:, sole].T), **style, lw=1.0, zorder=3)
    usual = np.max([usual_force(recording) for recording in recordings], axis=0)
    for axes, forces, most in zip(column[:2], drawn[:2], usual, strict=True):
        few_ticks(axes)
        cap(axes, np.concatenate(forces), most)
    mark_friction_limit(column[2], np.concatenate(drawn[2]))
    for shape, colour in shapes.items():
        draw_sole(column[3], shape, colour if len(shapes) > 1 else QUIET_COLOUR)
    column[3].margins(0.06)


def torques_overlay(runs: Runs) -> Figure:
    """For each limb, the torque that is nearest to its limit."""
    recordings = [recording for _, recording in runs]
    groups = [limbs(recording.robot.joint_names) for recording in recordings]
    names = list(dict.fromkeys(limb for group in groups for limb in group))
    with styled():
        figure = new_figure(NARROW, 0.9 + 1.15 * len(names))
        panels = limb_panels(figure, names, [1] * len(names))
        for limb, axes in panels.items():
            mark_pushes(axes, recordings)
            looks = _styles(recordings)
            for recording, group, style in zip(recordings, groups, looks, strict=True):
                share = np.abs(torque_share(recording)[:, group.get(limb, [])])
                largest = np.max(share, axis=1, initial=0.0)
                if limb in group:
                    axes.plot(recording.time, 100 * largest, **style, zorder=3)
            axes.update_datalim([(0.0, 0.0), (0.0, 10.0)])
        for axes in panels.values():
            mark_torque_limits(axes)
            axes.set_ylim(bottom=0.0)
        time_axis(list(panels.values())[-1], recordings)
        figure.supylabel("largest |torque| / limit [%]", fontsize="medium")
        _legends(figure, runs)
    return figure


def _styles(recordings: Sequence[Recording]) -> list[dict[str, Any]]:
    """The look of each run."""
    return styles([recording.config.controller.law for recording in recordings])


def _legends(figure: Figure, runs: Runs) -> None:
    """Runs above the panels, pushes below."""
    labels = [f"{label}: {outcome(recording)}" for label, recording in runs]
    looks = _styles([recording for _, recording in runs])
    lines = [Line2D([], [], **style, label=str(index)) for index, style in enumerate(looks)]
    room = 0.5 + LETTER_IN * max(len(label) for label in labels)
    columns = min(len(runs), max(1, int(figure.get_figwidth() / room)))
    legend = figure.legend(handles=lines, loc="outside upper left", ncols=columns)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        # A user's label may start with _ or hold $, which mean something to matplotlib.
        text.set_text(label)
        text.set_parse_math(False)
    pushes = push_handles([recording for _, recording in runs])
    if pushes:
        figure.legend(handles=pushes, loc="outside lower center")
