"""Figures on integrability: the three-link mechanism of Saccon2017 and the curvature map."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Patch
from matplotlib.transforms import Affine2D
from numpy.typing import NDArray

Array = NDArray[np.float64]

BASE_COLOUR, DISTAL_COLOURS = "#f2c14e", ("#3fb8c4", "#c75ba1")
X_COLOUR, Y_COLOUR = "#c0392b", "#2e8b57"
AXIS_LENGTH = 1.1
LINK_LENGTH = 2.0


@dataclass(frozen=True)
class ThreeLinkMotion:
    """The mechanism with one offset ``d`` (m) and its centroidal frame along a motion."""

    d: float
    time: Array
    """(n,) as a fraction of the period."""
    s: Array
    """(n, 2) joint angles, rad."""
    origin: Array
    """(n, 2) origin of the centroidal frame in the base frame, m."""
    angle: Array
    """(n,) orientation of the centroidal frame in the base frame, rad, without jumps."""

    @property
    def orientation_error(self) -> float:
        """Angle between the first and the last frame, rad, in [-pi, pi]."""
        turn = self.angle[-1] - self.angle[0]
        return float(np.arctan2(np.sin(turn), np.cos(turn)))


def draw_three_link(axes: Axes, motion: ThreeLinkMotion, k: int) -> None:
    """The mechanism and its centroidal frame in base axes at sample ``k``; grey: at the start."""
    axes.clear()
    axes.set(xlim=(-3.4, 3.4), ylim=(-2.6, 2.6), aspect="equal", xticks=[], yticks=[])
    _link(axes, (0.0, 0.0), 0.0, (2.6, 0.7), BASE_COLOUR)
    for side, angle, colour in zip((-1.0, 1.0), motion.s[k], DISTAL_COLOURS, strict=True):
        # The link's body is centred at its CoM, a distance d below the joint at s = 0.
        centre = side + motion.d * np.sin(angle), -motion.d * np.cos(angle)
        _link(axes, centre, angle, (0.5, LINK_LENGTH + 0.5), colour)
        axes.plot(*centre, "o", ms=5, mfc="white", mec="black", mew=0.8, zorder=4)
        axes.plot(side, 0.0, "o", ms=2.5, color="black", zorder=5)
    for x, angle, colours, width in (
        (motion.origin[0], motion.angle[0], ("0.55", "0.55"), 1.2),
        (motion.origin[k], motion.angle[k], (X_COLOUR, Y_COLOUR), 2.0),
    ):
        _frame(axes, x, angle, colours, width)


def _new_figure(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, drawn by Agg, independent of pyplot."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def snapshot_figure(motions: list[ThreeLinkMotion], count: int = 7) -> Figure:
    """``count`` snapshots over one period, a row per motion, and the frame's angle in time."""
    figure = _new_figure(12.0, 6.4)
    rows = len(motions)
    grid = figure.add_gridspec(rows + 1, count, height_ratios=[1.0] * rows + [1.5])
    for row, motion in enumerate(motions):
        for column, k in enumerate(_evenly(len(motion.time), count)):
            axes = figure.add_subplot(grid[row, column])
            draw_three_link(axes, motion, k)
            if row == 0:
                axes.set_title(f"t = {motion.time[k]:.2f} T", fontsize=10)
            if column == 0:
                axes.set_ylabel(f"d = {motion.d:g} m\n{_verdict(motion)}", fontsize=10)
                axes.plot([-3.1, -2.1], [-2.2, -2.2], color="black", lw=1.5)
                axes.text(-2.6, -2.1, "1 m", ha="center", va="bottom", fontsize=8)
            if column == count - 1:
                axes.set_xlabel(f"error {_degrees(motion.orientation_error)}", fontsize=10)
    angles = figure.add_subplot(grid[rows, :])
    for motion, style in zip(motions, ("-", "--"), strict=False):
        label = f"d = {motion.d:g} m: final error {_degrees(motion.orientation_error)}"
        angles.plot(motion.time, np.rad2deg(motion.angle), style, color="black", label=label)
    angles.axhline(0.0, color="0.8", lw=0.8, zorder=0)
    angles.set(xlabel="time, t / T", ylabel="angle of centroidal\nframe to base [deg]", xlim=(0, 1))
    angles.legend(frameon=False, loc="upper center")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    return figure


def animate(motions: list[ThreeLinkMotion], path: Path, fps: int = 20, hold: int = 20) -> None:
    """One period as an animated GIF, the motions side by side; the last frame holds."""
    figure = _new_figure(7.6, 3.6)
    all_axes = figure.subplots(1, len(motions))
    last = len(motions[0].time) - 1

    def draw(frame: int) -> list[Axes]:
        k = min(frame, last)
        for axes, motion in zip(np.atleast_1d(all_axes), motions, strict=True):
            draw_three_link(axes, motion, k)
            axes.set_title(f"d = {motion.d:g} m, {_verdict(motion)}", fontsize=10)
            turned = np.rad2deg(motion.angle[k] - motion.angle[0])
            axes.set_xlabel(f"t = {motion.time[k]:.2f} T, frame turned by {turned:+.1f}°")
        return list(np.atleast_1d(all_axes))

    draw(0)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # the layout of the first frame serves for all
    animation = FuncAnimation(figure, draw, frames=last + 1 + hold, blit=False)
    animation.save(path, writer=PillowWriter(fps=fps), dpi=90)


def curvature_map_figure(
    names: list[str], limbs: list[int], standing: Array, sampled: Array, title: str, postures: int
) -> Figure:
    """Strength of the curvature of every joint pair, and the strongest pairs by name.

    ``standing`` and ``sampled`` (nj, nj) are |angular part of B_ij| in rad/rad^2 in one posture
    and averaged over ``postures`` many; ``limbs`` are the indices at which a new limb starts.
    """
    figure = _new_figure(13.5, 7.4)
    grid, bars = figure.subplots(1, 2, width_ratios=[1.7, 1.0])
    both = np.tril(standing) + np.triu(sampled, 1)
    np.fill_diagonal(both, np.nan)
    # The square root keeps weak pairs visible next to the strongest.
    norm = PowerNorm(0.5, vmin=0.0, vmax=float(np.nanmax(both)))
    image = grid.imshow(both, cmap="magma_r", norm=norm)
    figure.colorbar(image, ax=grid, label="|angular part of $B_{ij}$| [rad/rad²]", shrink=0.75)
    labels = [name.replace("_", " ") for name in names]
    ticks = np.arange(len(names))
    grid.set_xticks(ticks, labels, rotation=90, fontsize=8)
    grid.set_yticks(ticks, labels, fontsize=8)
    for start in limbs[1:]:
        grid.axhline(start - 0.5, color="0.6", lw=0.6)
        grid.axvline(start - 0.5, color="0.6", lw=0.6)
    grid.plot([-0.5, len(names) - 0.5], [-0.5, len(names) - 0.5], color="0.6", lw=0.6)
    halves = f"below the diagonal: standing; above: mean over {postures} random postures"
    grid.set_title(f"{title}\n{halves}", fontsize=11)

    rows, columns = np.tril_indices(len(names), -1)
    order = np.argsort(standing[rows, columns])[::-1][:16]
    pairs = [f"{labels[columns[k]]} × {labels[rows[k]]}" for k in order]
    height = 0.4
    places = np.arange(len(order))
    for values, shift, colour, label in (
        (standing, -height / 2, "#3b0f70", "standing"),
        (sampled, height / 2, "#fe9f6d", "mean over random postures"),
    ):
        lengths = values[rows[order], columns[order]]
        bars.barh(places + shift, lengths, height, color=colour, label=label)
    bars.set_yticks(places, pairs, fontsize=8)
    bars.invert_yaxis()
    bars.set_xlabel("|angular part of $B_{ij}$| [rad/rad²]")
    bars.set_title("Strongest pairs when standing", fontsize=11)
    bars.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.22), fontsize=9)
    bars.spines[["top", "right"]].set_visible(False)
    return figure


def _link(
    axes: Axes, centre: tuple[float, float], angle: float, size: tuple[float, float], colour: str
) -> None:
    """A rounded box around ``centre``, turned by ``angle``."""
    width, height = size
    box = FancyBboxPatch(
        (-width / 2, -height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.22",
        facecolor=colour,
        edgecolor="black",
        linewidth=0.8,
        alpha=0.85,
    )
    box.set_transform(Affine2D().rotate(angle).translate(*centre) + axes.transData)
    axes.add_patch(box)


def _frame(axes: Axes, x: Array, angle: float, colours: tuple[str, str], width: float) -> None:
    """The two axes of a frame as arrows."""
    for turn, colour in zip((0.0, np.pi / 2), colours, strict=True):
        tip = x + AXIS_LENGTH * np.array([np.cos(angle + turn), np.sin(angle + turn)])
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", xy=tuple(tip), xytext=tuple(x), arrowprops=arrow, zorder=6)


def _legend() -> list[Patch | Line2D]:
    return [
        Patch(fc=BASE_COLOUR, ec="black", label="base link"),
        Patch(fc=DISTAL_COLOURS[0], ec="black", label="link 1"),
        Patch(fc=DISTAL_COLOURS[1], ec="black", label="link 2"),
        Line2D([], [], ls="", marker="o", mfc="white", mec="black", ms=5, label="CoM of a link"),
        Line2D([], [], color=X_COLOUR, lw=2, label="centroidal frame, x (red) and y (green)"),
        Line2D([], [], color="0.55", lw=1.2, label="its start"),
    ]


def _evenly(length: int, count: int) -> list[int]:
    """``count`` indices from the first to the last of ``length`` samples."""
    return [int(k) for k in np.linspace(0, length - 1, count).round()]


def _verdict(motion: ThreeLinkMotion) -> str:
    return "not integrable" if motion.d else "integrable"


def _degrees(angle: float) -> str:
    degrees = np.rad2deg(angle)
    return f"{degrees:.1f}°" if abs(degrees) > 0.05 else f"{abs(degrees):.0e}°"
