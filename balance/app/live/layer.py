"""What all layers on top of the robot have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pinocchio as pin
import viser
from numpy.typing import NDArray

from balance.app.live.colours import Colour
from balance.app.live.follow import ROOT as WORLD
from balance.app.live.observer import Instant
from balance.robots import Robot

Array = NDArray[np.float64]

ROOT = f"{WORLD}/overlay"
UP = np.array([0.0, 0.0, 1.0])
LIFT_M = 0.004  # of what lies on the floor, to be seen above it
GLOSS = 0.5
MIN_ARROW_M = 0.004
MOVED_M = 4e-4  # less cannot be seen, and a page that stands still costs nothing


@dataclass(frozen=True)
class Scale:
    """Lengths of arrows that suit a robot, whatever its size."""

    height: float
    force: float
    """m/N: the robot's weight is half its height."""
    torsion: float
    """m/(N m)"""
    spin: float
    """m/(kg m^2/s)"""

    @classmethod
    def of(cls, robot: Robot) -> Scale:
        z = float(robot.com()[2])
        gravity = float(np.linalg.norm(robot.model.gravity.linear))
        weight = robot.mass * gravity
        spin = 60.0 / (robot.mass * np.sqrt(gravity * z))
        return cls(1.85 * z, 0.9 * z / weight, 18.0 / weight, spin)


class Layer(ABC):
    """Some nodes of the scene below ``ROOT/NAME``.

    A page moves a node in the very frame in which it moves the robot, but draws new points of one
    only in the next: so whatever hangs on the robot is a node that is moved.  A player that begins
    anew forgets the pose of a node whose points have changed: so these hang on a frame of theirs.
    """

    colour: ClassVar[Colour]
    symbol: ClassVar[str] = "●"
    meaning: ClassVar[str]

    def __init__(self, server: viser.ViserServer, name: str, scale: Scale) -> None:
        self.scene, self.scale = server.scene, scale
        self.path = f"{ROOT}/{name}"
        self._root = self.scene.add_frame(self.path, show_axes=False)
        self._arrows: dict[str, list[tuple[Any, Any]]] = {}
        self.make()

    @property
    def visible(self) -> bool:
        """Whether the layer is drawn."""
        return bool(self._root.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible

    @abstractmethod
    def make(self) -> None:
        """Add the nodes."""

    @abstractmethod
    def draw(self, now: Instant) -> None:
        """Move the nodes to where they are now."""

    def disc(self, name: str, radius: float, opacity: float = 1.0) -> Any:
        return self.scene.add_cylinder(
            f"{self.path}/{name}",
            radius=radius * self.scale.height,
            height=0.003,
            color=self.colour,
            opacity=opacity,
            cast_shadow=False,
        )

    def dot(self, name: str) -> Any:
        return self.scene.add_icosphere(
            f"{self.path}/{name}",
            radius=0.003 * self.scale.height,
            color=self.colour,
            subdivisions=1,
            cast_shadow=False,
            receive_shadow=False,
        )

    def lines(
        self, name: str, points: Array, thickness: float, colour: Colour | None = None
    ) -> Any:
        return at_home(
            self.scene.add_line_segments(
                f"{self.path}/{name}",
                points,
                colors=self.colour if colour is None else colour,
                thickness=thickness,
                thickness_units="screen",
            )
        )

    def draw_arrows(self, name: str, starts: Array, vectors: Array, width: float = 0.006) -> None:
        """Show those that are long enough to be seen, each in a frame of its own at its start."""
        nodes = self._arrows.setdefault(name, [])
        keep = np.isfinite(starts).all(axis=1) & (np.linalg.norm(vectors, axis=1) > MIN_ARROW_M)
        while len(nodes) < len(starts) and keep[len(nodes) :].any():
            nodes.append(self._arrow(f"{name} {len(nodes)}", width * self.scale.height))
        for index, (frame, node) in enumerate(nodes):
            shown = index < len(starts) and bool(keep[index])
            show(node, shown)
            if shown:
                length = float(np.linalg.norm(vectors[index]))
                place(frame, starts[index])
                turn(frame, pin.Quaternion.FromTwoVectors(UP, vectors[index] / length).matrix())
                set_points(node, np.array([[np.zeros(3), length * UP]]))

    def frame(self, name: str) -> Any:
        return at_home(self.scene.add_frame(f"{self.path}/{name}", show_axes=False))

    def _arrow(self, name: str, width: float) -> tuple[Any, Any]:
        # The page takes colours of arrows for intensities of light, and adds a gloss: unlike those
        # of meshes they would come out pale.
        colour = (255.0 * GLOSS * (np.array(self.colour) / 255.0) ** 2.2).astype(np.uint8)
        frame = self.frame(name)
        return frame, self.scene.add_arrows(
            f"{frame.name}/arrow",
            np.array([[np.zeros(3), np.full(3, 1e-3)]]),
            colour[None],
            shaft_radius=width,
            head_radius=2.3 * width,
            head_length=5.0 * width,
            visible=False,
        )


def at_home(node: Any) -> Any:
    """A new node, of which pages are told that it has no pose yet.

    Where a node of the same name has just gone, as when a session begins anew, a page keeps that
    one's pose, and a pose is sent only if it differs from the last one.
    """
    node.wxyz, node.position = (0.0, 0.0, 0.0, 1.0), (1.0, 1.0, 1.0)
    node.wxyz, node.position = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    return node


def show(node: Any, visible: bool) -> None:
    """Show or hide a node; nothing is sent if it is so already."""
    if node.visible != visible:
        node.visible = visible


def place(node: Any, point: Array, height: float | None = None) -> None:
    """Move a node, if that can be seen; one without a place is hidden."""
    show(node, bool(np.isfinite(point).all()))
    if node.visible:
        target = np.array([point[0], point[1], point[2] if height is None else height])
        if np.abs(target - node.position).max() > MOVED_M:
            node.position = target


def turn(node: Any, rotation: Array) -> None:
    """Turn a node, if that can be seen."""
    wxyz = pin.Quaternion(rotation).coeffs()[[3, 0, 1, 2]]
    if np.abs(wxyz - node.wxyz).max() > MOVED_M:
        node.wxyz = wxyz


def set_points(node: Any, points: Array) -> None:
    """Give a node other points, if that can be seen."""
    points = points.astype(np.float32)
    if points.shape != node.points.shape or np.abs(points - node.points).max() > MOVED_M:
        node.points = points
