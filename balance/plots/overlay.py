"""Several runs in one figure, a colour for each; the axes x, y, z get columns of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from balance.plots.com_momentum import QUANTITIES
from balance.plots.contacts import (
    LABELS,
    MAX_WEIGHTS,
    draw_sole,
    friction_use,
    mark_friction_limit,
    weight,
)
from balance.plots.limbs import limbs
from balance.plots.marks import cap, mark_pushes, outcome, push_handles, time_axis
from balance.plots.style import AXIS_NAMES, NARROW, WIDE, new_figure, run_style, styled
from balance.plots.torques import limb_panels, mark_torque_limits, torque_share
from balance.recording import Recording

Array = NDArray[np.float64]
Runs = Sequence[tuple[str, Recording]]


def com_momentum_overlay(runs: Runs) -> Figure:
    """Rows: CoM error, hip rotation, linear and angular momentum; columns: x, y, z."""
    recordings = [recording for _, recording in runs]
    with styled():
        figure = new_figure(WIDE, 6.4)
        panels = figure.subplots(len(QUANTITIES), 3, sharex=True, sharey="row")
        for row, quantity in zip(panels, QUANTITIES, strict=True):
            row[0].set_ylabel(f"{quantity.label}\n[{quantity.unit}]")
            row[0].yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
            for i, axes in enumerate(row):
                axes.axhline(0.0, color="0.7", lw=0.6, zorder=1)
                axes.update_datalim([(0.0, -quantity.floor), (0.0, quantity.floor)])
                mark_pushes(axes, recordings)
                for index, recording in enumerate(recordings):
                    values = quantity.series(recording)[:, i]
                    axes.plot(recording.time, values, **run_style(index), zorder=3)
        for i, name in enumerate(AXIS_NAMES):
            panels[0, i].set_title(name)
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
    normal, tangential, friction, cop = column
    drawn: tuple[list[Array], list[Array], list[Array]] = ([], [], [])
    for index, recording in enumerate(recordings):
        names = [sole.name for sole in recording.robot.soles]
        if name not in names:
            continue
        sole, style = names.index(name), run_style(index)
        force = recording.contact_wrenches[:, sole, :3]
        use = friction_use(recording)[:, sole]
        series = force[:, 2], np.hypot(force[:, 0], force[:, 1]), use
        for axes, values, kept in zip(column[:3], series, drawn, strict=True):
            axes.plot(recording.time, values, **style, zorder=3)
            kept.append(values)
        draw_sole(cop, recording, sole, style["color"])
        cop.plot(*(1e3 * recording.cop[:, sole].T), **style, lw=1.0, zorder=3)
    most = MAX_WEIGHTS * max(weight(recording) for recording in recordings)
    for axes, force_values in ((normal, drawn[0]), (tangential, drawn[1])):
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        cap(axes, np.concatenate(force_values), -most, most)
    mark_friction_limit(friction, np.concatenate(drawn[2]))
    cop.margins(0.06)


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
            for index, (recording, group) in enumerate(zip(recordings, groups, strict=True)):
                share = np.abs(torque_share(recording)[:, group.get(limb, [])])
                largest = np.max(share, axis=1, initial=0.0)
                if limb in group:
                    axes.plot(recording.time, 100 * largest, **run_style(index), zorder=3)
            axes.update_datalim([(0.0, 0.0), (0.0, 10.0)])
        for axes in panels.values():
            mark_torque_limits(axes)
            axes.set_ylim(bottom=0.0)
        time_axis(list(panels.values())[-1], recordings)
        figure.supylabel("largest |torque| / limit [%]", fontsize="medium")
        _legends(figure, runs)
    return figure


def _legends(figure: Figure, runs: Runs) -> None:
    """Runs above the panels, pushes below."""
    lines = [
        Line2D([], [], **run_style(index), label=f"{label}: {outcome(recording)}")
        for index, (label, recording) in enumerate(runs)
    ]
    columns = 1 if figure.get_figwidth() < WIDE else 2
    figure.legend(handles=lines, loc="outside upper left", ncols=columns)
    pushes = push_handles([recording for _, recording in runs])
    if pushes:
        figure.legend(handles=pushes, loc="outside lower center")
