"""The static postures of a sequence side by side: from the side, from the front, and from above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from balance.plots.style import AXIS_COLOURS, QUIET_COLOUR, new_figure, styled
from balance.robots import Robot
from balance.robots.objects import WorldObject
from balance.robots.sequence import PlannedPhase
from balance.robots.shapes.shape import Shape

Array = NDArray[np.float64]

COLUMN_IN, HEIGHT_IN = 1.45, 5.4
MOST_IN_A_ROW = 8
ROUND = 12  # points around a circle
MARGIN_M = 0.08
LOAD_COLOUR, IDLE_COLOUR, GOAL_COLOUR = AXIS_COLOURS[1], "0.55", AXIS_COLOURS[0]
FORCE_M = 4e-4  # length of the arrow of a newton
SIDES = (("left", "#9DB7CF"), ("right", "#C9B79C"), ("", "#D4D4D4"))


class View(NamedTuple):
    """Which world axes are drawn across and upwards, and which points to the reader (its sign)."""

    name: str
    across: int
    up: int
    towards: int
    sign: float


VIEWS = (
    View("from the right", 0, 2, 1, -1.0),
    View("from the front", 1, 2, 0, 1.0),
    View("from above", 0, 1, 2, 1.0),
)


def postures_figure(phases: Sequence[PlannedPhase], objects: Mapping[str, WorldObject]) -> Figure:
    """One column for each phase: its posture, what bears (green), where limbs go (orange), CoM."""
    rows = -(-len(phases) // MOST_IN_A_ROW)
    columns = min(len(phases), MOST_IN_A_ROW)
    with styled():
        figure = new_figure(max(3, columns) * COLUMN_IN + 0.4, rows * HEIGHT_IN)
        grid = figure.subplots(
            3 * rows, columns, squeeze=False, height_ratios=[1.6, 1.6, 1.0] * rows
        )
        limits = [_limits(phases, view) for view in VIEWS]
        for axes in grid.flat:
            axes.set_visible(False)
        for index, phase in enumerate(phases):
            row, column = divmod(index, MOST_IN_A_ROW)
            for k, view in enumerate(VIEWS):
                axes = grid[3 * row + k, column]
                axes.set_visible(True)
                _draw(axes, phase, objects, view)
                _frame(axes, view, limits[k], column == 0)
            grid[3 * row, column].set_title(f"{index + 1}. {phase.name}", parse_math=False)
    return figure


def _draw(axes: Axes, phase: PlannedPhase, objects: Mapping[str, WorldObject], view: View) -> None:
    robot = phase.robot
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, robot.q_nominal)
    for one in objects.values():
        _fill(axes, _outline(one.shape(), pin.SE3.Identity()), view, "#EFE3C8", 0.0)
    for shape in sorted(robot.shapes, key=lambda s: view.sign * _depth(s, data, view)):
        colour = next(c for side, c in SIDES if side in shape.body.lower())
        _fill(axes, _outline(shape, data.oMi[shape.joint]), view, colour, 1.0)
    if view.up == 2 and view.across != view.up:
        axes.axhline(0.0, color=QUIET_COLOUR, linewidth=0.6)
    corners = []
    for sole in robot.soles:
        pose = phase.placements[sole.name]
        points = sole.corners @ pose.rotation.T + pose.translation
        loaded = sole.name in phase.kept
        if loaded:
            corners.append(points)
        _patch(axes, points, view, LOAD_COLOUR if loaded else IDLE_COLOUR)
        if loaded and view.up == 2:
            _force(axes, phase, sole.name, view)
    if view.up == 1 and corners:
        _fill_polygon(axes, np.concatenate(corners), view)
    for move in phase.moves:
        surface = next(s for s in robot.surfaces if s.name == move.surface)
        points = surface.corners @ move.goal.rotation.T + move.goal.translation
        _patch(axes, points, view, GOAL_COLOUR)
        start = move.start.translation
        way = np.array([start, move.goal.translation])
        axes.plot(way[:, view.across], way[:, view.up], ":", color=GOAL_COLOUR, linewidth=0.9)
    com = robot.com()
    axes.plot(com[view.across], com[view.up], "o", color="black", markersize=3.5, zorder=5)
    if view.up == 2:
        axes.plot([com[view.across]] * 2, [0.0, com[2]], color="black", linewidth=0.5, zorder=5)


def _force(axes: Axes, phase: PlannedPhase, name: str, view: View) -> None:
    """An arrow of the force at a contact, from its centre of pressure."""
    wrench, pose = phase.wrenches[name], phase.placements[name]
    if wrench[2] <= 0.0:
        return
    local = np.array([-wrench[4] / wrench[2], wrench[3] / wrench[2], 0.0])
    foot = pose.act(local)
    tip = foot + FORCE_M * pose.rotation @ wrench[:3]
    axes.annotate(
        "",
        (tip[view.across], tip[view.up]),
        (foot[view.across], foot[view.up]),
        arrowprops={"arrowstyle": "-|>", "color": LOAD_COLOUR, "lw": 1.0, "mutation_scale": 6},
        zorder=6,
    )


def _outline(shape: Shape, pose: pin.SE3) -> Array:
    """Points (n, 3) in the world whose convex hull is a shape, nearly."""
    X = pose * shape.placement
    points = shape.points
    turn = 2.0 * np.pi * np.arange(ROUND) / ROUND
    circle = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(ROUND)])
    if shape.kind == "cylinder":
        points = np.concatenate([p + shape.size[0] * circle for p in points])
    elif shape.radius:
        sphere = np.concatenate([circle, circle[:, [2, 0, 1]], circle[:, [1, 2, 0]]])
        points = np.concatenate([p + shape.radius * sphere for p in points])
    return np.asarray(points @ X.rotation.T + X.translation)


def _depth(shape: Shape, data: pin.Data, view: View) -> float:
    return float((data.oMi[shape.joint] * shape.placement).translation[view.towards])


def _fill(axes: Axes, points: Array, view: View, colour: str, zorder: float) -> None:
    flat = points[:, [view.across, view.up]]
    try:
        hull = ConvexHull(flat)
    except QhullError:
        return
    axes.add_patch(
        Polygon(flat[hull.vertices], facecolor=colour, edgecolor="0.3", lw=0.4, zorder=zorder)
    )


def _fill_polygon(axes: Axes, points: Array, view: View) -> None:
    """The convex hull of what bears, seen from above."""
    flat = points[:, [view.across, view.up]]
    try:
        hull = ConvexHull(flat)
    except QhullError:
        return
    axes.add_patch(
        Polygon(flat[hull.vertices], facecolor=LOAD_COLOUR, edgecolor=LOAD_COLOUR, alpha=0.25,
                lw=0.8, zorder=3)
    )  # fmt: skip


def _patch(axes: Axes, points: Array, view: View, colour: str) -> None:
    flat = points[:, [view.across, view.up]]
    closed = np.vstack([flat, flat[:1]])
    axes.plot(closed[:, 0], closed[:, 1], "-", color=colour, linewidth=1.8, zorder=4)
    if len(flat) == 1:
        axes.plot(*flat[0], "s", color=colour, markersize=3, zorder=4)


def _limits(phases: Sequence[PlannedPhase], view: View) -> tuple[Array, Array]:
    """The least and largest coordinates of all postures in a view."""
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for phase in phases:
        for points in _bodies(phase.robot):
            flat = points[:, [view.across, view.up]]
            low, high = np.minimum(low, flat.min(axis=0)), np.maximum(high, flat.max(axis=0))
    return low - MARGIN_M, high + MARGIN_M


def _bodies(robot: Robot) -> list[Array]:
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.q_nominal)
    return [_outline(shape, data.oMi[shape.joint]) for shape in robot.shapes]


def _frame(axes: Axes, view: View, limits: tuple[Array, Array], first: bool) -> None:
    axes.set_aspect("equal")
    axes.set_xlim(limits[0][0], limits[1][0])
    axes.set_ylim(limits[0][1], limits[1][1])
    axes.grid(False)
    axes.tick_params(labelsize=6)
    if not first:
        axes.set_yticklabels([])
    else:
        axes.set_ylabel(f"{view.name} [m]", fontsize=7)
