"""What all layers on top of the robot have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import viser
from numpy.typing import NDArray

from balance.app.live.observer import Instant
from balance.robots import Robot

Array = NDArray[np.float64]
Colour = tuple[int, int, int]

# Okabe and Ito's palette, as in the figures.
ORANGE, SKY, GREEN = (230, 159, 0), (86, 180, 233), (0, 158, 115)
BLUE, VERMILION, PURPLE = (0, 114, 178), (213, 94, 0), (204, 121, 167)
GREY = (120, 130, 142)

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
    """Some nodes of the scene below ``/overlay/NAME``."""

    colour: ClassVar[Colour]
    symbol: ClassVar[str] = "●"
    meaning: ClassVar[str]

    def __init__(self, server: viser.ViserServer, name: str, scale: Scale) -> None:
        self.scene, self.scale = server.scene, scale
        self._root = self.scene.add_frame(f"/overlay/{name}", show_axes=False)
        self.path = f"/overlay/{name}"
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

    def disc(self, name: str, radius: float, colour: Colour, opacity: float = 1.0) -> Any:
        return self.scene.add_cylinder(
            f"{self.path}/{name}",
            radius=radius * self.scale.height,
            height=0.003,
            color=colour,
            opacity=opacity,
            cast_shadow=False,
        )

    def arrows(self, name: str, count: int, width: float = 0.006) -> Any:
        width *= self.scale.height
        return self.scene.add_arrows(
            f"{self.path}/{name}",
            np.array([[np.zeros(3), np.full(3, 1e-3)]] * count),
            np.zeros((count, 3), dtype=np.uint8),
            shaft_radius=width,
            head_radius=2.3 * width,
            head_length=5.0 * width,
        )


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


def set_points(node: Any, points: Array) -> None:
    """Give a node other points, if that can be seen."""
    points = points.astype(np.float32)
    if points.shape != node.points.shape or np.abs(points - node.points).max() > MOVED_M:
        node.points = points


def set_arrows(node: Any, starts: Array, vectors: Array, colours: Array) -> None:
    """Show the arrows that are long enough to be seen."""
    # The page takes colours of arrows for intensities of light, and adds a gloss: unlike those of
    # meshes they would come out pale.
    colours = (255.0 * GLOSS * (colours / 255.0) ** 2.2).astype(np.uint8)
    keep = np.isfinite(starts).all(axis=1) & (np.linalg.norm(vectors, axis=1) > MIN_ARROW_M)
    show(node, bool(keep.any()))
    if node.visible:
        set_points(node, np.stack([starts, starts + vectors], axis=1)[keep])
        if node.colors.shape != colours[keep].shape or (node.colors != colours[keep]).any():
            node.colors = colours[keep]
