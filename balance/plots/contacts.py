"""Contacts of each sole: forces, friction use, and the centre of pressure in the rectangle."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from balance.control.parts.output import ControlStatus
from balance.plots.footsteps import (
    draw_footsteps,
    draw_strategy,
    footstep_handles,
    strategy_handles,
)
from balance.plots.marks import (
    axis_handles,
    cap,
    end_time,
    headline,
    label_limits,
    mark_pushes,
    push_handles,
    shade,
    shade_handle,
    time_axis,
)
from balance.plots.style import AXIS_COLOURS, NARROW, QUIET_COLOUR, few_ticks, new_figure, styled
from balance.recordings.demand import friction_use
from balance.recordings.footsteps import strategy_spans
from balance.recordings.recording import Recording

Array = NDArray[np.float64]
SoleShape = tuple[float, float, float, tuple[tuple[float, float], ...]]

MAX_WEIGHTS = 2.0  # normal forces beyond this many weights of the robot are impacts
LEAST_REACH_M = 0.02  # of what is drawn around a contact's centre
FOOTSTEPS_HEIGHT = 2.6  # inches
COP_PIECES = 200  # colours along a path of the centre of pressure
X, Y, Z = range(3)
COMMANDED: dict[str, Any] = {"color": "#222222", "lw": 0.8, "ls": (0, (3, 2))}
NOT_GIVEN = ControlStatus.WRENCH_LIMITED | ControlStatus.QP_FAILED | ControlStatus.BAD_STATE
LABELS = (
    "normal force\n[N]",
    "tangential force\n[N]",
    "friction use\n$|f_t|\\,/\\,\\mu f_n$ [–]",
    "CoP y [mm]",
)


def contacts_figure(recording: Recording) -> Figure:
    """A column for each sole: normal force, tangential force, friction use, CoP in the sole."""
    soles = recording.robot.soles
    with styled():
        steps = recording.step is not None
        figure = new_figure(max(NARROW, 2.4 * len(soles)), 6.6 + steps * FOOTSTEPS_HEIGHT)
        rows = [1.0, 1.0, 0.8, 1.0, *([1.6] if steps else [])]
        panels = figure.subplots(
            len(rows), len(soles), sharey="row", squeeze=False, height_ratios=rows
        )
        use = friction_use(recording)
        for column, sole in enumerate(soles):
            normal, tangential, friction, cop = panels[:4, column]
            normal.set_title(sole.name.capitalize(), loc="left")
            draw_forces(normal, recording, column, (Z,))
            draw_forces(tangential, recording, column, (X, Y))
            friction.plot(recording.time, use[:, column], color=QUIET_COLOUR, zorder=3)
            mark_friction_limit(friction, use)
            path = draw_cop(cop, recording, column)
            for axes in (normal, tangential, friction):
                mark_pushes(axes, [recording])
                shade(axes, recording, wrench_limited(recording))
                time_axis(axes, [recording], label=axes is friction)
            label_limits(normal, recording, sole.name)
            draw_strategy(normal, recording)
        for axes, label in zip(panels[:4, 0], LABELS, strict=True):
            axes.set_ylabel(label)
        figure.align_ylabels(panels[:4, 0])
        if steps:
            _footsteps(figure, panels[4], recording)
        headline(figure, recording)
        figure.legend(handles=axis_handles(), loc="outside upper right", ncols=3)
        figure.legend(handles=_handles(recording), loc="outside lower center", ncols=3)
        figure.colorbar(
            path, ax=panels[3, :], label="time [s]", location="bottom", aspect=40, shrink=0.7
        )
    return figure


def _footsteps(figure: Figure, row: NDArray[Any], recording: Recording) -> None:
    """One panel over the whole width, in place of a row of them."""
    place = row[0].get_gridspec()[4, :]
    for axes in row:
        axes.remove()
    draw_footsteps(figure.add_subplot(place), recording)


def wrench_limited(recording: Recording) -> NDArray[np.bool_]:
    """Rows in which the contacts could not produce what the law asked for, or it had no answer."""
    return (recording.status & int(NOT_GIVEN)) != 0


def usual_force(recording: Recording) -> tuple[float, float]:
    """Normal and tangential force (N) that only impacts exceed."""
    gravity = float(np.linalg.norm(recording.robot.model.gravity.linear))
    weight = recording.robot.mass * gravity
    return MAX_WEIGHTS * weight, recording.config.plant.friction * weight


def draw_forces(axes: Axes, recording: Recording, sole: int, components: tuple[int, ...]) -> None:
    """Measured and commanded components of the force on a sole, in its axes."""
    measured, commanded = recording.contact_wrenches[:, sole], recording.wrenches[:, sole]
    for i in components:
        axes.plot(recording.time, measured[:, i], color=AXIS_COLOURS[i], zorder=3)
        axes.plot(recording.time, commanded[:, i], **COMMANDED, zorder=4)
    few_ticks(axes)
    normal, tangential = usual_force(recording)
    drawn = np.stack([measured[:, components], commanded[:, components]])
    cap(axes, drawn, normal if Z in components else tangential)


def mark_friction_limit(axes: Axes, use: Array) -> None:
    """A dashed line at the edge of the friction cone, which welded contacts may leave."""
    axes.axhline(1.0, color="black", lw=0.8, ls=(0, (4, 3)), zorder=2, gid="friction limit")
    largest = float(np.max(use, where=np.isfinite(use), initial=0.0))
    axes.set_ylim(0.0, min(max(1.1, 1.05 * largest), 2.0))


def draw_sole(axes: Axes, shape: SoleShape, colour: str = QUIET_COLOUR) -> None:
    """A sole's rectangle in mm and, dashed, the margin that the law keeps from its edges.

    Of a sole that touches with points, those.
    """
    half_length, half_width, margin, points = shape
    if points:
        axes.plot(*1e3 * np.array(points).T, "o", color=colour, ms=3.0, zorder=2, gid="points")
    for inset, dashes in () if points else ((0.0, "-"), (margin, "--")):
        x, y = 1e3 * (half_length - inset), 1e3 * (half_width - inset)
        axes.add_patch(Rectangle((-x, -y), 2 * x, 2 * y, fill=False, ec=colour, lw=0.8, ls=dashes))
    axes.set_aspect("equal")
    axes.set_xlabel("CoP x [mm]")


def sole_shape(recording: Recording, sole: int) -> SoleShape:
    """Half length, half width and CoP margin of a sole, and its points if it has any, m."""
    surface, contacts = recording.robot.soles[sole], recording.config.controller.contacts
    return surface.half_length, surface.half_width, contacts.cop_margin_m, surface.points


def draw_cop(axes: Axes, recording: Recording, sole: int) -> LineCollection:
    """Path of the measured centre of pressure in a sole, coloured by time."""
    shape = sole_shape(recording, sole)
    draw_sole(axes, shape)
    cop = 1e3 * recording.cop[:, sole]
    # Pieces overlap by a row, so that the path has no gaps.
    edges = np.unique(np.linspace(0, max(len(cop) - 1, 0), COP_PIECES + 1).astype(int))
    pieces = [cop[a : b + 1] for a, b in pairwise(edges)]
    path = LineCollection(pieces, cmap="viridis", lw=1.2, zorder=3, capstyle="round")
    path.set_array(recording.time[edges[:-1]] if pieces else np.empty(0))
    path.set_clim(0.0, end_time(recording))
    axes.add_collection(path, autolim=False)
    x, y = (1e3 * max(1.15 * half, LEAST_REACH_M) for half in shape[:2])
    # The soles share the axis y, which is to show all of the widest.
    y = max(y, axes.get_ylim()[1]) if sole > 0 else y
    axes.set(xlim=(-x, x), ylim=(-y, y))
    return path


def _handles(recording: Recording) -> list[Any]:
    handles = [Line2D([], [], **COMMANDED, label="commanded"), *push_handles([recording])]
    if wrench_limited(recording).any():
        handles.append(shade_handle("wanted wrench not given"))
    if recording.step is not None:
        handles += footstep_handles()
        handles += strategy_handles([words for words, _, _ in strategy_spans(recording)])
    return handles
