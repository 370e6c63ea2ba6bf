"""Root map: the eigenvalues of a linearised loop in the plane of continuous time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from balance.plots.style import AXIS_COLOURS, CAPTION, QUIET_COLOUR, WIDE, new_figure, styled

if TYPE_CHECKING:
    from balance.analysis.linear.explain import Explanation

Complex = NDArray[np.complex128]

RATIOS = (0.1, 0.3, 0.5, 0.7, 0.9)
MARKS = ("o", "s")  # CoM, rotation
SLOW = 15.0  # 1/s: the panel of the slow modes, which people see


def root_map(found: Explanation, title: str) -> Figure:
    """Two panels: all roots, and the slow ones; the modes of the axes are marked in both."""
    with styled():
        figure = new_figure(WIDE, 3.8)
        everything, slow = figure.subplots(1, 2)
        for axes in (everything, slow):
            axes.axvspan(0.0, 1e6, color=AXIS_COLOURS[0], alpha=0.08, lw=0)
            axes.axhline(0.0, color="0.7", lw=0.6)
            axes.axvline(0.0, color="0.4", lw=0.8)
            _roots(axes, found.continuous_roots, found.roots)
            axes.set_xlabel("real part [1/s]")
        everything.set_ylabel("imaginary part [rad/s]")
        everything.set_title("all modes", loc="left", **CAPTION)
        _limits(everything, np.concatenate([found.roots, found.continuous_roots]))
        everything.set_xscale("symlog", linthresh=1.0)
        everything.set_yscale("symlog", linthresh=1.0)
        _mark_modes(everything, found, size=6)
        _slow(slow, found)
        beyond = _mark_modes(slow, found, size=8)
        caption = "slow modes; dashed: equal damping ratio"
        if beyond:
            caption += f"\nfaster, on the left only: {', '.join(beyond)}"
        slow.set_title(caption, loc="left", **CAPTION)
        rate = f"{1.0 / found.period_s:g} Hz"
        state = "stable" if found.stable else "UNSTABLE"
        text = f"{title}: {found.robot}, {found.law} law at {rate}, {state}"
        figure.suptitle(text, x=0.01, ha="left", parse_math=False)
        figure.legend(handles=_handles(found, rate), loc="outside lower left", ncols=4)
    return figure


def _roots(axes: Axes, continuous: Complex, discrete: Complex) -> None:
    axes.plot(continuous.real, continuous.imag, "o", ms=6, mfc="none", mew=0.7, color="0.55")
    axes.plot(discrete.real, discrete.imag, "x", ms=4, mew=0.9, color="#222222", zorder=3)


def _limits(axes: Axes, roots: Complex) -> None:
    right = max(1.0, 1.5 * float(roots.real.max()))
    axes.set_xlim(1.5 * min(-1.0, float(roots.real.min())), right)
    top = 1.5 * max(1.0, float(np.abs(roots.imag).max()))
    axes.set_ylim(-top, top)


def _slow(axes: Axes, found: Explanation) -> None:
    size = 1.15 * max(1.0, *(min(SLOW, abs(one.mode.s)) for one in found.axes))
    right = max(0.08 * size, 1.2 * max(one.mode.s.real for one in found.axes))
    axes.set_xlim(-size, right)
    axes.set_ylim(0.0, size)
    for ratio in RATIOS:
        reach = 2.0 * size
        axes.plot(
            [0.0, -ratio * reach], [0.0, np.sqrt(1.0 - ratio**2) * reach],
            color=QUIET_COLOUR, lw=0.5, ls=(0, (4, 3)), zorder=0.5,
        )  # fmt: skip
        x, y = -ratio * 0.93 * size, np.sqrt(1.0 - ratio**2) * 0.93 * size
        axes.annotate(
            f"{ratio:g}", (x, y), color=QUIET_COLOUR, fontsize=6.5, ha="center", va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5}, zorder=0.6,
        )  # fmt: skip


def _mark_modes(axes: Axes, found: Explanation, size: float) -> list[str]:
    """Mark the modes of the axes; the names of those that lie beyond the panel, and are not drawn.

    A mark at the edge is drawn whole.  One beyond it would stand on another panel, whose numbers
    are not its own.
    """
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    beyond = []
    for i, one in enumerate(found.axes):
        x, y = one.mode.s.real, abs(one.mode.s.imag)
        if not (left <= x <= right and bottom <= y <= top):
            beyond.append(one.name)
            continue
        axes.plot(
            x, y, MARKS[i // 3], ms=size, mfc="none", mew=1.4, color=AXIS_COLOURS[i % 3], zorder=4,
            clip_on=False,
        )  # fmt: skip
    return beyond


def _handles(found: Explanation, rate: str) -> list[Line2D]:
    quiet: dict[str, Any] = {"ls": "", "mfc": "none"}
    handles = [
        Line2D([], [], marker="x", color="#222222", ms=4, ls="", label=f"discrete loop, {rate}"),
        Line2D([], [], marker="o", color="0.55", ms=6, **quiet, label="continuous time"),
    ]
    for i, one in enumerate(found.axes):
        handles.append(
            Line2D([], [], marker=MARKS[i // 3], color=AXIS_COLOURS[i % 3], ms=7, **quiet,
                   label=one.name)
        )  # fmt: skip
    return handles
