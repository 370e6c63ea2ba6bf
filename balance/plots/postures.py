"""Postures side by side, from the side, from the front and from above: those of a sequence, or of a
run at the ends of its phases.
"""

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
from balance.recordings.phase_rows import PhaseSpan, phase_spans
from balance.recordings.recording import Recording
from balance.robots import Robot
from balance.robots.contacts import ContactSurface
from balance.robots.objects import WorldObject
from balance.robots.sequence import PlannedPhase
from balance.robots.shapes.shape import Shape

Array = NDArray[np.float64]

COLUMN_IN, HEIGHT_IN = 1.45, 5.4
MOST_IN_A_ROW = 8
ROUND = 12  # points around a circle
MARGIN_M = 0.08
LOAD_COLOUR, IDLE_COLOUR, GOAL_COLOUR = AXIS_COLOURS[1], "0.55", AXIS_COLOURS[0]
FORCE_M = 8e-4  # length of the arrow of a newton
LEAST_SHOWN_N = 20.0  # a smaller force would be a mere tip
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


class Contact(NamedTuple):
    """A surface that touches: its corners (n, 3), whether it bears, its CoP and force; world, N."""

    corners: Array
    bears: bool
    cop: Array
    force: Array


class Way(NamedTuple):
    """Where a limb goes: places (3,) of start and goal, and corners (n, 3) there; world."""

    start: Array
    goal: Array
    corners: Array


class Posture(NamedTuple):
    """A robot in a configuration, with its contacts and the ways of its limbs."""

    name: str
    robot: Robot
    q: Array
    contacts: Sequence[Contact]
    ways: Sequence[Way] = ()


def postures_figure(phases: Sequence[PlannedPhase], objects: Mapping[str, WorldObject]) -> Figure:
    """One column for each phase: its posture, what bears (green), where limbs go (orange), CoM."""
    return side_by_side([_planned(phase) for phase in phases], objects, VIEWS)


def run_figure(recording: Recording, objects: Mapping[str, WorldObject]) -> Figure:
    """One column for the end of each phase of a run: posture, what bore, and measured forces."""
    spans = phase_spans(recording)
    return side_by_side([_seen(recording, span) for span in spans], objects, VIEWS[:2])


def side_by_side(
    postures: Sequence[Posture], objects: Mapping[str, WorldObject], views: Sequence[View]
) -> Figure:
    """One column for each posture, one row for each view."""
    rows, n = -(-len(postures) // MOST_IN_A_ROW), len(views)
    columns = min(len(postures), MOST_IN_A_ROW)
    heights = [1.0 if view.up == 1 else 1.6 for view in views]
    with styled():
        height = rows * HEIGHT_IN * sum(heights) / 4.2
        figure = new_figure(max(3, columns) * COLUMN_IN + 0.4, height)
        grid = figure.subplots(n * rows, columns, squeeze=False, height_ratios=heights * rows)
        limits = [_limits(postures, view) for view in views]
        for axes in grid.flat:
            axes.set_visible(False)
        for index, posture in enumerate(postures):
            row, column = divmod(index, MOST_IN_A_ROW)
            for k, view in enumerate(views):
                axes = grid[n * row + k, column]
                axes.set_visible(True)
                _draw(axes, posture, objects, view)
                _frame(axes, view, limits[k], column == 0)
            grid[n * row, column].set_title(f"{index + 1}. {posture.name}", parse_math=False)
    return figure


def _planned(phase: PlannedPhase) -> Posture:
    """The static posture of a phase, with its static forces."""
    contacts, known = [], {surface.name: surface for surface in phase.robot.surfaces}
    for sole in phase.robot.soles:
        pose, bears = phase.placements[sole.name], sole.name in phase.kept
        wrench = phase.wrenches[sole.name] if bears else np.zeros(6)
        contacts.append(_contact(pose, pose, sole.corners, bears, wrench))
    ways = [
        Way(move.start.translation, move.goal.translation, _at(move.goal, known[move.surface]))
        for move in phase.moves
    ]
    return Posture(phase.name, phase.robot, phase.robot.q_nominal, contacts, ways)


def _seen(recording: Recording, span: PhaseSpan) -> Posture:
    """The last moment of a phase as it was recorded, with measured forces."""
    assert recording.bearing is not None
    robot, row = recording.robot, span.rows.stop - 1
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, recording.q[row])
    contacts = [
        _contact(sole.pose(data), sole.wrench_pose(data), sole.corners, True, wrench)
        for sole, meant, wrench in zip(
            robot.soles, recording.bearing[row], recording.contact_wrenches[row], strict=True
        )
        if meant > 0.0
    ]
    return Posture(span.name, robot, recording.q[row], contacts)


def _contact(pose: pin.SE3, axes: pin.SE3, corners: Array, bears: bool, wrench: Array) -> Contact:
    """``wrench`` (6,) is in ``axes``."""
    normal = max(float(wrench[2]), 1e-9)
    cop = axes.act(np.array([-wrench[4] / normal, wrench[3] / normal, 0.0]))
    points = corners @ pose.rotation.T + pose.translation
    return Contact(points, bears, cop, axes.rotation @ wrench[:3])


def _at(pose: pin.SE3, surface: ContactSurface) -> Array:
    return np.asarray(surface.corners @ pose.rotation.T + pose.translation)


def _draw(axes: Axes, posture: Posture, objects: Mapping[str, WorldObject], view: View) -> None:
    robot = posture.robot
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, posture.q)
    for one in objects.values():
        _fill(axes, _outline(one.shape(), pin.SE3.Identity()), view, "#EFE3C8", 0.0)
    for shape in sorted(robot.shapes, key=lambda s: view.sign * _depth(s, data, view)):
        colour = next(c for side, c in SIDES if side in shape.body.lower())
        _fill(axes, _outline(shape, data.oMi[shape.joint]), view, colour, 1.0)
    if view.up == 2 and view.across != view.up:
        axes.axhline(0.0, color=QUIET_COLOUR, linewidth=0.6)
    for contact in posture.contacts:
        _patch(axes, contact.corners, view, LOAD_COLOUR if contact.bears else IDLE_COLOUR)
        if contact.bears and view.up == 2:
            _force(axes, contact, view)
    bearing = [contact.corners for contact in posture.contacts if contact.bears]
    if view.up == 1 and bearing:
        _fill_polygon(axes, np.concatenate(bearing), view)
    for way in posture.ways:
        _patch(axes, way.corners, view, GOAL_COLOUR)
        ends = np.array([way.start, way.goal])
        axes.plot(ends[:, view.across], ends[:, view.up], ":", color=GOAL_COLOUR, linewidth=0.9)
    com = robot.com(posture.q)
    axes.plot(com[view.across], com[view.up], "o", color="black", markersize=3.5, zorder=5)
    if view.up == 2:
        axes.plot([com[view.across]] * 2, [0.0, com[2]], color="black", linewidth=0.5, zorder=5)


def _force(axes: Axes, contact: Contact, view: View) -> None:
    """An arrow of the force at a contact, from its centre of pressure."""
    foot, tip = contact.cop, contact.cop + FORCE_M * contact.force
    if np.linalg.norm(contact.force) < LEAST_SHOWN_N:
        return
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


def _limits(postures: Sequence[Posture], view: View) -> tuple[Array, Array]:
    """The least and largest coordinates of all postures in a view."""
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for posture in postures:
        for points in _bodies(posture):
            flat = points[:, [view.across, view.up]]
            low, high = np.minimum(low, flat.min(axis=0)), np.maximum(high, flat.max(axis=0))
    return low - MARGIN_M, high + MARGIN_M


def _bodies(posture: Posture) -> list[Array]:
    robot, data = posture.robot, posture.robot.model.createData()
    pin.forwardKinematics(robot.model, data, posture.q)
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
