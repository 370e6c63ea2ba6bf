"""Contacts of each sole: forces, friction use, and the centre of pressure in the rectangle."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from balance.contacts import ContactSurface
from balance.controllers.output import ControlStatus
from balance.plots.marks import (
    cap,
    end_time,
    headline,
    label_pushes,
    mark_pushes,
    shade,
    shade_patch,
    time_axis,
)
from balance.plots.style import (
    AXIS_COLOURS,
    COMMANDED_COLOUR,
    NARROW,
    QUIET_COLOUR,
    new_figure,
    styled,
)
from balance.recording import LOADED_N, Recording

Array = NDArray[np.float64]

MAX_WEIGHTS = 2.5  # forces beyond this many weights of the robot are impacts and leave the panel
COP_PIECES = 200  # colours along a path of the centre of pressure
X, Y, Z = range(3)


def contacts_figure(recording: Recording) -> Figure:
    """A column for each sole: normal force, tangential force, friction use, CoP in the sole."""
    soles = recording.robot.soles
    with styled():
        figure = new_figure(max(NARROW, 2.4 * len(soles)), 6.4)
        panels = figure.subplots(
            4, len(soles), sharey="row", squeeze=False, height_ratios=[1.0, 1.0, 0.8, 1.0]
        )
        for column, sole in enumerate(soles):
            normal, tangential, friction, cop = panels[:, column]
            _forces(normal, recording, column, (Z,))
            _forces(tangential, recording, column, (X, Y))
            _friction_use(friction, recording, column)
            path = draw_cop(cop, recording, column)
            for axes in (normal, tangential, friction):
                _mark_time(axes, recording)
                axes.label_outer(remove_inner_ticks=False)
            normal.set_title(sole.name.capitalize())
            time_axis(friction, [recording])
        label_pushes(panels[0, 0], [recording])
        for axes, label in zip(panels[:, 0], _LABELS, strict=True):
            axes.set_ylabel(label)
        figure.align_ylabels(panels[:, 0])
        figure.suptitle(headline(recording), x=0.01, ha="left")
        figure.legend(handles=_handles(), loc="outside lower center", ncols=4)
        figure.colorbar(path, ax=panels[3, :], label="time [s]", aspect=10, pad=0.02)
    return figure


_LABELS = ("normal force\n[N]", "tangential force\n[N]", "friction use\n[1]", "CoP y [mm]")


def friction_use(recording: Recording, sole: int) -> Array:
    """|f_t| / (mu f_n) of the measured force with the ground's mu, (n,); NaN without load."""
    force = recording.contact_wrenches[:, sole, :3]
    loaded = force[:, Z] > LOADED_N
    reach = recording.config.plant.friction * np.where(loaded, force[:, Z], np.nan)
    return np.asarray(np.hypot(force[:, X], force[:, Y]) / reach)


def wrench_limited(recording: Recording) -> NDArray[np.bool_]:
    """Rows in which the contacts could not produce what the law asked for."""
    return (recording.status & int(ControlStatus.WRENCH_LIMITED)) != 0


def weight(recording: Recording) -> float:
    """Of the robot, N."""
    robot = recording.robot
    return robot.mass * float(np.linalg.norm(robot.model.gravity.linear))


def _mark_time(axes: Axes, recording: Recording) -> None:
    axes.sharex
    mark_pushes(axes, [recording])
    shade(axes, recording.time, wrench_limited(recording))
    axes.set_xlim(0.0, end_time(recording))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))


def _forces(axes: Axes, recording: Recording, sole: int, components: tuple[int, ...]) -> None:
    """Measured and commanded components of the force on a sole, in its axes."""
    for i in components:
        measured, commanded = recording.contact_wrenches[:, sole, i], recording.wrenches[:, sole, i]
        axes.plot(recording.time, measured, color=AXIS_COLOURS[i], zorder=3)
        axes.plot(
            recording.time, commanded, color=COMMANDED_COLOUR, lw=0.8, ls=(0, (3, 2)), zorder=4
        )
    drawn = recording.contact_wrenches[:, :, components], recording.wrenches[:, :, components]
    most = MAX_WEIGHTS * weight(recording)
    cap(axes, np.stack(drawn), 0.0 if components == (Z,) else -most, most, "N")


def _friction_use(axes: Axes, recording: Recording, sole: int) -> None:
    axes.plot(recording.time, friction_use(recording, sole), color=QUIET_COLOUR, zorder=3)
    axes.axhline(1.0, color="black", lw=0.8, ls=(0, (4, 3)), zorder=2, gid="friction limit")
    axes.set_ylim(0.0, 1.1)


def draw_sole(axes: Axes, sole: ContactSurface, margin: float) -> None:
    """The sole's rectangle and, dashed, the margin that the law keeps; in mm."""
    for inset, style in ((0.0, "-"), (margin, "--")):
        x, y = 1e3 * (sole.half_length - inset), 1e3 * (sole.half_width - inset)
        axes.add_patch(
            Rectangle((-x, -y), 2 * x, 2 * y, fill=False, ec=QUIET_COLOUR, lw=0.8, ls=style)
        )


def draw_cop(axes: Axes, recording: Recording, sole: int) -> LineCollection:
    """Path of the measured centre of pressure in the sole, coloured by time."""
    surface = recording.robot.soles[sole]
    draw_sole(axes, surface, recording.config.controller.contacts.cop_margin_m)
    cop = 1e3 * recording.cop[:, sole]
    # Pieces overlap by a row, so that the path has no gaps.
    edges = np.unique(np.linspace(0, max(len(cop) - 1, 0), COP_PIECES + 1).astype(int))
    pieces = [cop[a : b + 1] for a, b in zip(edges[:-1], edges[1:], strict=True)]
    path = LineCollection(pieces, cmap="viridis", lw=1.2, zorder=3, capstyle="round")
    path.set_array(recording.time[edges[:-1]] if pieces else np.empty(0))
    path.set_clim(0.0, end_time(recording))
    axes.add_collection(path, autolim=False)
    x, y = 1.1e3 * surface.half_length, 1.15e3 * surface.half_width
    axes.set(xlim=(-x, x), ylim=(-y, y), aspect="equal", xlabel="CoP x [mm]")
    return path


def _handles() -> list[Line2D]:
    return [
        *(Line2D([], [], color=c, label=n) for n, c in zip("xyz", AXIS_COLOURS, strict=True)),
        Line2D([], [], color=COMMANDED_COLOUR, lw=0.8, ls=(0, (3, 2)), label="commanded"),
        shade_patch("wrench limited"),
    ]
