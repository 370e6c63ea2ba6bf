"""Footsteps seen from above, planned and taken, and what held the robot when."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from numpy.typing import NDArray

from balance.plots.marks import end_time
from balance.plots.style import QUIET_COLOUR
from balance.recordings.footsteps import com_path, footsteps, strategy_spans
from balance.recordings.recording import Recording

Array = NDArray[np.float64]

STRATEGY_COLOURS = {
    "ankles": "#C8C8C8",
    "hips": "#88CCEE",
    "1 step": "#DDAA33",
    "2 steps": "#CC6677",
    "3 steps": "#882255",
    "more steps": "#332288",
}
"""What holds a robot, from the weakest means to the strongest."""
BAND = 0.07  # of a panel's height, at its top
MARGIN_M = 0.08  # around the feet


def strategy_colour(words: str) -> str:
    """The colour of what a run was held with at most, as ``strategy`` of a summary says it."""
    return STRATEGY_COLOURS[strategy_name(words)]


def strategy_name(words: str) -> str:
    """The entry of the legend that ``words`` belong to."""
    return words if words in STRATEGY_COLOURS else "more steps"


def strategy_handles(found: Sequence[str]) -> list[Patch]:
    """Legend entries of the strategies that occur, in their order."""
    names = {strategy_name(words) for words in found}
    return [
        Patch(color=colour, label=name)
        for name, colour in STRATEGY_COLOURS.items()
        if name in names
    ]


def draw_strategy(axes: Axes, recording: Recording) -> list[str]:
    """A band along the top of a panel over time: what held the robot; the words in it."""
    spans = strategy_spans(recording)
    for words, begin, end in spans:
        axes.axvspan(
            begin,
            min(end, end_time(recording)),
            1.0 - BAND,
            1.0,
            color=strategy_colour(words),
            lw=0.0,
            zorder=2.6,
            gid="strategy",
        )
    return [words for words, _, _ in spans]


def draw_footsteps(axes: Axes, recording: Recording) -> None:
    """Every place where a foot stood, with the number of its step, and where it was to land."""
    robot, taken = recording.robot, footsteps(recording)
    for foot in taken:
        corners = robot.soles[foot.sole].corners
        colour = QUIET_COLOUR if foot.step == 0 else strategy_colour(_steps(foot.step))
        ring = _placed(corners, foot.pose)
        axes.add_patch(Polygon(ring, fill=False, ec=colour, lw=1.2, zorder=3, gid="taken"))
        axes.annotate(
            str(foot.step or robot.soles[foot.sole].name[0].upper()),
            foot.pose.translation[:2],
            ha="center",
            va="center",
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
            zorder=4,
            parse_math=False,
        )
        if foot.planned is not None:
            ring = _placed(corners, foot.planned)
            axes.add_patch(
                Polygon(ring, fill=False, ec=colour, lw=0.8, ls=(0, (3, 2)), zorder=2, gid="plan")
            )
        if len(foot.plans):
            axes.plot(*foot.plans.T, color=colour, lw=0.6, zorder=2, gid="plans")
    com = com_path(recording)
    axes.plot(*com.T, color="black", lw=0.7, zorder=3.5, gid="com")
    axes.set_aspect("equal", adjustable="datalim")
    around = np.concatenate([com, *(_placed(robot.soles[f.sole].corners, f.pose) for f in taken)])
    # Limits that may give way (auto): the aspect does without asking, so nothing is logged.
    axes.set_xlim(around[:, 0].min() - MARGIN_M, around[:, 0].max() + MARGIN_M, auto=True)
    axes.set_ylim(around[:, 1].min() - MARGIN_M, around[:, 1].max() + MARGIN_M, auto=True)
    axes.set(xlabel="forwards, x [m]", ylabel="left, y [m]")


def footstep_handles() -> list[Line2D]:
    """Legend entries of :func:`draw_footsteps`."""
    return [
        Line2D([], [], color=QUIET_COLOUR, label="foot, number of its step"),
        Line2D([], [], color=QUIET_COLOUR, lw=0.8, ls=(0, (3, 2)), label="planned at first"),
        Line2D([], [], color="black", lw=0.7, label="CoM"),
    ]


def _steps(count: int) -> str:
    return f"{count} step" + "s" * (count != 1)


def _placed(corners: Array, pose: pin.SE3) -> Array:
    return np.array(corners @ pose.rotation.T + pose.translation)[:, :2]
