"""Joint torques by limb, as a share of each joint's limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from balance.control.parts.output import ControlStatus
from balance.plots.limbs import limbs, short_name
from balance.plots.marks import (
    headline,
    label_limits,
    mark_pushes,
    push_handles,
    shade,
    shade_handle,
    time_axis,
)
from balance.plots.style import DASHES, JOINT_COLOURS, NARROW, few_ticks, new_figure, styled
from balance.recordings.recording import Recording

Array = NDArray[np.float64]

SATURATED = 1.0 - 1e-6  # share of the limit from which on a torque counts as cut
FLOOR = 5.0  # percent to either side of zero that a panel shows at least


def torques_figure(recording: Recording) -> Figure:
    """A panel for each limb; thick where a joint is at its limit, peaks and limits beside it."""
    groups = limbs(recording.robot.joint_names)
    share = torque_share(recording)
    with styled():
        heights = [max(4, len(joints) + 1) for joints in groups.values()]
        figure = new_figure(NARROW, 0.9 + 0.165 * sum(heights))
        panels = limb_panels(figure, list(groups), heights)
        for limb, joints in groups.items():
            mark_pushes(panels[limb], [recording])
            shade(panels[limb], recording, torque_limited(recording))
            for place, joint in enumerate(joints):
                _joint(panels[limb], recording, joint, share[:, joint], place)
            names = [recording.robot.joint_names[joint].replace("_", " ") for joint in joints]
            label_limits(panels[limb], recording, *names)
            panels[limb].update_datalim([(0.0, -FLOOR), (0.0, FLOOR)])
            _legend(panels[limb])
        for axes in panels.values():
            mark_torque_limits(axes)
        time_axis(list(panels.values())[-1], [recording])
        figure.supylabel("torque / limit [%]", fontsize="medium")
        headline(figure, recording)
        handles = _handles(recording, share)
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles) or 1)
    return figure


def limb_panels(figure: Figure, names: list[str], heights: list[int]) -> dict[str, Axes]:
    """A panel for each limb over the same time; left and right have the same scale."""
    column = figure.subplots(len(names), 1, sharex=True, squeeze=False, height_ratios=heights)
    panels = dict(zip(names, column[:, 0], strict=True))
    for name, axes in panels.items():
        axes.set_title(name.capitalize(), loc="left")
        few_ticks(axes, 4)
        twin = panels.get(name.replace("right", "left"), axes)
        if twin is not axes:
            axes.sharey(twin)
    return panels


def torque_share(recording: Recording) -> Array:
    """Torque of each joint as a share of its limit, (n, nj)."""
    return np.asarray(recording.torques / recording.robot.effort_limits)


def torque_limited(recording: Recording) -> NDArray[np.bool_]:
    """Rows in which at least one torque was cut at its limit."""
    return (recording.status & int(ControlStatus.TORQUE_LIMITED)) != 0


def mark_torque_limits(axes: Axes) -> None:
    """Dashed lines at the limits, for panels that reach them."""
    axes.autoscale_view()
    shown = axes.get_ylim()
    for side in (-100.0, 100.0):
        axes.axhline(side, color="black", lw=0.8, ls=(0, (4, 3)), zorder=2, gid="torque limit")
    axes.set_ylim(shown)


def _joint(axes: Axes, recording: Recording, joint: int, share: Array, place: int) -> None:
    style: dict[str, Any] = {
        "color": JOINT_COLOURS[place % len(JOINT_COLOURS)],
        "ls": DASHES[(place // len(JOINT_COLOURS)) % len(DASHES)],
    }
    limit = recording.robot.effort_limits[joint]
    peak = np.max(np.abs(share), initial=0.0) * limit
    name = short_name(recording.robot.joint_names[joint])
    digits = 1 if limit >= 10.0 else 2
    label = f"{name}: {peak:.{digits}f} of {limit:.3g}"
    axes.plot(recording.time, 100 * share, **style, lw=1.1, label=label)
    saturated = np.where(np.abs(share) >= SATURATED, 100 * share, np.nan)
    if np.isfinite(saturated).any():
        axes.plot(
            recording.time, saturated, color=style["color"], lw=3.0, marker=".", ms=3.0,
            gid="saturated", label="_saturated",
        )  # fmt: skip


def _legend(axes: Axes) -> None:
    """The joints beside their panel."""
    axes.legend(
        loc="center left", bbox_to_anchor=(1.01, 0.5), title="peak of limit [N m]",
        alignment="left", fontsize=7.0, title_fontsize=7.0, labelspacing=0.3, handlelength=1.2,
    )  # fmt: skip


def _handles(recording: Recording, share: Array) -> list[Any]:
    handles: list[Any] = [*push_handles([recording])]
    if (np.abs(share) >= SATURATED).any():
        handles.append(Line2D([], [], color="black", lw=3.0, label="joint at its limit"))
    if torque_limited(recording).any():
        handles.append(shade_handle("some torque cut"))
    return handles
