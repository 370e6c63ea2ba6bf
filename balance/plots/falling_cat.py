"""The falling cat: snapshots and an animation of its turn, and what turns it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.typing import NDArray

from balance.plots.style import QUIET_COLOUR

Array = NDArray[np.float64]

FRONT_COLOUR, REAR_COLOUR, LEG_COLOUR = "#f2c14e", "#3fb8c4", "0.25"
_SIDES = 14
_REACH = 0.33


@dataclass(frozen=True)
class CatMotion:
    """A righting motion, n samples; poses (n, 4, 4) of the halves in the world, CoM at rest."""

    time: Array
    """(n,) s."""
    front: Array
    """(n, 4, 4) poses of the front half, its centre as origin, x forwards along the body."""
    rear: Array
    """(n, 4, 4) the same of the rear half."""
    s: Array
    """(n, 2) joint angles, rad."""
    roll: Array
    """(n,) roll of the front half against its start, rad, without jumps."""
    momenta: Array
    """(n, 2, 3) angular momenta of front and rear half about the CoM, world axes, kg m^2/s."""
    length: float
    """Length of a half, m."""
    radius: float
    """Radius of the body, m."""
    roll_by_curvature: float
    """Roll after the loop, from the curvature inside it, rad."""


def snapshot_figure(motion: CatMotion, count: int = 7) -> Figure:
    """``count`` snapshots, the loop in the plane of the joints, the roll, and the momentum."""
    figure = Figure(figsize=(11.0, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    cats, curves = np.asarray(figure.subfigures(2, 1, height_ratios=[0.8, 1.0]))
    for column, k in enumerate(_evenly_along_the_loop(motion, count)):
        axes = cats.add_subplot(1, count, column + 1, projection="3d")
        draw_cat(axes, motion, k)
        axes.set_title(f"t = {motion.time[k]:.2f} s", fontsize=9, y=1.0)

    loop, roll, momentum = curves.subplots(1, 3)
    degrees = np.rad2deg(motion.s)
    loop.plot(degrees[:, 0], degrees[:, 1], color="black", lw=1.2)
    loop.fill(degrees[:, 0], degrees[:, 1], color="0.9")
    loop.plot(0.0, 0.0, "o", color="black", ms=4)
    loop.set(xlabel="bend to the side [deg]", ylabel="arch [deg]", aspect="equal")
    loop.set_title("loop of the spine", fontsize=9)
    roll.plot(motion.time, np.rad2deg(motion.roll), color="black")
    expected = np.rad2deg(motion.roll_by_curvature)
    roll.axhline(expected, color=QUIET_COLOUR, ls="--")
    label = f"from the curvature\ninside the loop: {expected:.1f}°"
    roll.annotate(label, (0.0, expected), (4, -4), fontsize=8, va="top", textcoords="offset points")
    roll.set(xlabel="time [s]", ylabel="roll of the front half [deg]")
    roll.set_title("the cat turns, simulated", fontsize=9)
    for half, name, colour in ((0, "front half", FRONT_COLOUR), (1, "rear half", REAR_COLOUR)):
        momentum.plot(motion.time, motion.momenta[:, half, 0], color=colour, label=name)
    total = motion.momenta.sum(axis=1)
    momentum.plot(motion.time, total[:, 0], color="black", lw=1.0, label="both")
    size = float(np.abs(total).max())
    momentum.set(xlabel="time [s]", ylabel="angular momentum\nabout x [kg m²/s]")
    momentum.set_title(f"together at most {size:.0e} about any axis", fontsize=9)
    momentum.legend(frameon=False, fontsize=8)
    for axes in (loop, roll, momentum):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
    return figure


def animate(motion: CatMotion, path: Path, fps: int = 20, hold: int = 14, stride: int = 2) -> None:
    """Every ``stride``-th sample as an animated GIF, slower than life; the last frame holds."""
    figure = Figure(figsize=(4.2, 4.2))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 0.95), projection="3d")
    last = len(motion.time) - 1

    def draw(frame: int) -> list[Axes3D]:
        k = min(stride * frame, last)
        draw_cat(axes, motion, k)
        axes.set_title(
            f"t = {motion.time[k]:.2f} s, rolled by {np.rad2deg(motion.roll[k]):.0f}°", fontsize=11
        )
        return [axes]

    animation = FuncAnimation(figure, draw, frames=last // stride + 1 + hold, blit=False)
    animation.save(path, writer=PillowWriter(fps=fps), dpi=80)


def draw_cat(axes: Axes3D, motion: CatMotion, k: int) -> None:
    """The two halves with legs, head and tail at sample ``k``, seen with the CoM in the middle."""
    axes.clear()
    axes.set(xlim=(-_REACH, _REACH), ylim=(-_REACH, _REACH), zlim=(-_REACH, _REACH))
    axes.set_box_aspect((1, 1, 1), zoom=1.7)
    axes.set_axis_off()
    axes.view_init(elev=12, azim=-60)
    half, r = 0.5 * motion.length, motion.radius
    for pose, colour, outwards in (
        (motion.front[k], FRONT_COLOUR, 1.0),
        (motion.rear[k], REAR_COLOUR, -1.0),
    ):
        axes.add_collection3d(_tube(pose, half, r, colour))
        for side in (-1.0, 1.0):
            hip = np.array([0.5 * outwards * half, 0.6 * side * r, -0.7 * r])
            _line(axes, pose, [hip, _shifted(hip, 0.0, 0.0, -1.1 * r)], LEG_COLOUR, 3.0)
        end = np.array([outwards * half, 0.0, 0.0])
        if outwards > 0.0:
            _line(axes, pose, [end, _shifted(end, 0.35 * half, 0.0, 0.55 * r)], FRONT_COLOUR, 11.0)
            for ear in (-1.0, 1.0):
                tip = _shifted(end, 0.3 * half, 0.3 * ear * r, 1.25 * r)
                _line(axes, pose, [_shifted(end, 0.35 * half, 0.0, 0.6 * r), tip], LEG_COLOUR, 2.5)
        else:
            _line(axes, pose, [end, _shifted(end, -0.6 * half, 0.0, 0.9 * r)], REAR_COLOUR, 4.0)


def _evenly_along_the_loop(motion: CatMotion, count: int) -> list[int]:
    """``count`` samples with equal lengths of the joints' loop between them."""
    way = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(motion.s, axis=0), axis=1)))
    return [int(np.argmin(np.abs(way - goal))) for goal in np.linspace(0.0, way[-1], count)]


def _tube(pose: Array, half: float, radius: float, colour: str) -> Poly3DCollection:
    """A cylinder along x; its belly is darker, so that the roll shows."""
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    ring = radius * np.stack([np.zeros_like(angles), np.cos(angles), np.sin(angles)], axis=1)
    ends = [_placed(pose, _shifted(ring, x, 0.0, 0.0)) for x in (-half, half)]
    faces = [
        np.array([ends[0][i], ends[0][i + 1], ends[1][i + 1], ends[1][i]]) for i in range(_SIDES)
    ]
    middle = 0.5 * (angles[:-1] + angles[1:])
    colours = [QUIET_COLOUR if np.sin(angle) < -0.5 else colour for angle in middle]
    return Poly3DCollection(
        [*faces, *ends], facecolors=[*colours, colour, colour], edgecolors="0.2", linewidths=0.2
    )


def _line(axes: Axes3D, pose: Array, points: list[Array], colour: str, width: float) -> None:
    axes.plot(*_placed(pose, np.array(points)).T, color=colour, lw=width, solid_capstyle="round")


def _shifted(points: Array, x: float, y: float, z: float) -> Array:
    return np.asarray(points + np.array([x, y, z]))


def _placed(pose: Array, points: Array) -> Array:
    """``points`` (n, 3) of a half in the world."""
    placed: Array = points @ pose[:3, :3].T + pose[:3, 3]
    return placed
