"""Figure 1 of Saccon2017: the three-link mechanism with its frames, angles and lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Arc, FancyBboxPatch
from matplotlib.transforms import Affine2D
from numpy.typing import NDArray

from balance.dynamics.three_link import (
    BASE_INERTIA,
    DISTAL_INERTIA,
    JOINT_OFFSET,
    MASS,
)
from balance.plots.curvature import BASE_COLOUR, DISTAL_COLOURS, X_COLOUR, Y_COLOUR

Array = NDArray[np.float64]

AXIS = 0.55
"""Length of the drawn axes, m."""
TURN = 0.35
"""Angle at which the base is drawn in the inertial frame, rad."""


def three_link_figure(s: Array, d: float) -> Figure:
    """The mechanism at the joint angles ``s`` (2,) rad with the distal CoM ``d`` (m) away."""
    figure = Figure(figsize=(6.4, 4.9), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set(xlim=(-2.75, 2.75), ylim=(-2.75, 1.45), aspect="equal")
    axes.set_axis_off()
    _box(axes, np.zeros(2), TURN, (2.6, 0.5), BASE_COLOUR)
    _frame(axes, np.array([-2.4, -2.5]), 0.0, "A")
    for k, (side, angle, colour) in enumerate(zip((-1.0, 1.0), s, DISTAL_COLOURS, strict=True)):
        joint = _turned(np.array([side * JOINT_OFFSET, 0.0]), TURN)
        centre = joint + _turned(np.array([0.0, -d]), TURN + angle)
        _box(axes, centre, TURN + angle, (0.42, 2.0 * max(d, 0.5) + 0.35), colour)
        _angle(axes, joint, TURN, angle, f"$s_{k + 1}$")
        axes.plot(*joint, "o", ms=6, color="black", zorder=6)
        _frame(axes, centre, TURN + angle, str(k + 1))
        _length(axes, joint, centre, "d", -0.42 * side)
    _frame(axes, np.zeros(2), TURN, "B")
    _length(
        axes,
        np.zeros(2),
        _turned(np.array([JOINT_OFFSET, 0.0]), TURN),
        f"{JOINT_OFFSET:g} m",
        -0.95,
    )
    axes.set_title(
        f"each link {MASS:g} kg; about z: base {BASE_INERTIA:g} kg m², "
        f"distal links {DISTAL_INERTIA:g} kg m²",
        fontsize=9,
    )
    return figure


def _turned(point: Array, angle: float) -> Array:
    c, sine = np.cos(angle), np.sin(angle)
    return np.array([c * point[0] - sine * point[1], sine * point[0] + c * point[1]])


def _box(axes: Axes, centre: Array, angle: float, size: tuple[float, float], colour: str) -> None:
    width, height = size
    box = FancyBboxPatch(
        (-width / 2, -height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.16",
        facecolor=colour,
        edgecolor="black",
        linewidth=0.8,
        alpha=0.8,
    )
    box.set_transform(Affine2D().rotate(angle).translate(*centre) + axes.transData)
    axes.add_patch(box)


def _frame(axes: Axes, origin: Array, angle: float, name: str) -> None:
    """The axes x (red) and y (green) of a frame with its name beside the origin."""
    for turn, colour, label in ((0.0, X_COLOUR, "x"), (0.5 * np.pi, Y_COLOUR, "y")):
        tip = origin + _turned(np.array([AXIS, 0.0]), angle + turn)
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", xy=tuple(tip), xytext=tuple(origin), arrowprops=arrow, zorder=7)
        end = origin + _turned(np.array([AXIS + 0.1, 0.0]), angle + turn)
        _label(axes, end, label, color=colour, fontsize=8)
    axes.plot(*origin, "o", ms=4.5, mfc="white", mec="black", mew=0.9, zorder=8)
    place = origin + _turned(np.array([-0.17, -0.17]), angle)
    _label(axes, place, name, fontsize=11, weight="bold")


def _angle(axes: Axes, joint: Array, base: float, angle: float, label: str) -> None:
    """The arc of ``angle`` from where the link hangs at zero."""
    zero = base - 0.5 * np.pi
    end = joint + _turned(np.array([1.75, 0.0]), zero)
    axes.plot(*np.stack([joint, end], axis=1), color="0.35", lw=0.9, ls=(0, (5, 3)), zorder=5)
    first, second = sorted((zero, zero + angle))
    degrees = np.rad2deg([first, second])
    radius = 1.55
    arc = Arc(tuple(joint), 2 * radius, 2 * radius, theta1=degrees[0], theta2=degrees[1], zorder=6)
    axes.add_patch(arc)
    tip = joint + _turned(np.array([radius, 0.0]), zero + angle)
    before = joint + _turned(np.array([radius, 0.0]), zero + angle - 0.12 * np.sign(angle))
    arrow = {"arrowstyle": "-|>", "color": "black", "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tuple(tip), xytext=tuple(before), arrowprops=arrow, zorder=7)
    middle = joint + _turned(np.array([radius + 0.2, 0.0]), zero + 0.5 * angle)
    _label(axes, middle, label, fontsize=12)


def _length(axes: Axes, start: Array, end: Array, label: str, aside: float) -> None:
    """A dimension line beside the way from ``start`` to ``end``."""
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    shift = aside * np.array([along[1], -along[0]])
    arrow = {"arrowstyle": "<->", "color": "0.2", "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    first, second = start + shift, end + shift
    axes.annotate("", xy=tuple(second), xytext=tuple(first), arrowprops=arrow, zorder=7)
    for point, tip in ((start, first), (end, second)):
        axes.plot(*np.stack([point, tip], axis=1), color="0.2", lw=0.5, zorder=6)
    middle = 0.5 * (first + second) + 0.14 * np.sign(aside) * np.array([along[1], -along[0]])
    _label(axes, middle, label, fontsize=10)


def _label(axes: Axes, point: Array, text: str, **style: Any) -> None:
    """Words centred at a point, above everything."""
    axes.text(float(point[0]), float(point[1]), text, ha="center", va="center", zorder=8, **style)
