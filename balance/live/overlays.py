"""Layers on top of the robot, one for each quantity; each can be switched on and off."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from balance.live.observer import Instant, Observer
from balance.pushes import Push
from balance.robots import Robot

Array = NDArray[np.float64]
Colour = tuple[int, int, int]

# Okabe and Ito's palette, as in the figures.
ORANGE, SKY, GREEN = (230, 159, 0), (86, 180, 233), (0, 158, 115)
BLUE, VERMILION, PURPLE = (0, 114, 178), (213, 94, 0), (204, 121, 167)
GREY = (120, 130, 142)

LIFT_M = 0.004  # of what lies on the floor, to be seen above it
SHOWN_PUSH_S = 0.35  # for which a short push is shown
TRAIL_S = 3.0
MIN_ARROW_M = 0.004


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

    def __init__(self, server: viser.ViserServer, name: str, scale: Scale) -> None:
        self._scene, self._scale = server.scene, scale
        self._root = self._scene.add_frame(f"/overlay/{name}", show_axes=False)
        self._path = f"/overlay/{name}"
        self.make()

    @property
    def visible(self) -> bool:
        """Whether the layer is drawn."""
        return bool(self._root.visible)

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible

    def forget(self) -> None:
        """Drop what was gathered over time."""

    @abstractmethod
    def make(self) -> None:
        """Add the nodes."""

    @abstractmethod
    def draw(self, now: Instant) -> None:
        """Move the nodes to where they are now."""

    def _disc(self, name: str, radius: float, colour: Colour, opacity: float = 1.0) -> Any:
        return self._scene.add_cylinder(
            f"{self._path}/{name}",
            radius=radius * self._scale.height,
            height=0.003,
            color=colour,
            opacity=opacity,
            cast_shadow=False,
        )

    def _arrows(self, name: str, count: int, width: float = 0.006) -> Any:
        width *= self._scale.height
        return self._scene.add_arrows(
            f"{self._path}/{name}",
            np.zeros((count, 2, 3)) + [[[0.0], [1e-3]]],
            np.zeros((count, 3), dtype=np.uint8),
            shaft_radius=width,
            head_radius=2.3 * width,
            head_length=5.0 * width,
        )


def _place(node: Any, point: Array, height: float | None = None) -> None:
    """Move a node; one without a place is hidden."""
    node.visible = bool(np.isfinite(point).all())
    if node.visible:
        node.position = point if height is None else np.array([point[0], point[1], height])


def _set_arrows(node: Any, starts: Array, vectors: Array, colours: Array) -> None:
    """Show the arrows that are long enough to be seen."""
    keep = np.isfinite(starts).all(axis=1) & (np.linalg.norm(vectors, axis=1) > MIN_ARROW_M)
    node.visible = bool(keep.any())
    if node.visible:
        points = np.stack([starts, starts + vectors], axis=1)[keep]
        node.points, node.colors = points.astype(np.float32), colours[keep].astype(np.uint8)


class Soles(Layer):
    """The rectangles of the contact surfaces."""

    def make(self) -> None:
        self._lines = self._scene.add_line_segments(
            f"{self._path}/edges", np.zeros((1, 2, 3)), colors=ORANGE, line_width=3.0
        )

    def use(self, robot: Robot) -> None:
        """Take the corners of a robot's soles."""
        self._corners = [sole.corners for sole in robot.soles]

    def draw(self, now: Instant) -> None:
        segments = []
        for corners, pose in zip(self._corners, now.soles, strict=True):
            world = corners @ pose.rotation.T + pose.translation + [0.0, 0.0, LIFT_M]
            segments.append(np.stack([world, np.roll(world, -1, axis=0)], axis=1))
        self._lines.points = np.concatenate(segments).astype(np.float32)


class CentreOfMass(Layer):
    """The CoM, its projection on the ground, and the line between them."""

    def make(self) -> None:
        self._ball = self._scene.add_icosphere(
            f"{self._path}/ball", radius=0.024 * self._scale.height, color=VERMILION
        )
        self._spot = self._disc("spot", 0.012, VERMILION)
        self._line = self._scene.add_line_segments(
            f"{self._path}/line", np.zeros((1, 2, 3)), colors=VERMILION, line_width=1.5
        )

    def draw(self, now: Instant) -> None:
        _place(self._ball, now.com)
        _place(self._spot, now.com, 2.0 * LIFT_M)
        down = np.array([now.com[0], now.com[1], 0.0])
        self._line.points = np.array([[now.com, down]], dtype=np.float32)


class Trail(Layer):
    """Where the CoM's projection was during the last seconds."""

    def make(self) -> None:
        self._points: deque[tuple[float, Array]] = deque()
        self._line = self._scene.add_line_segments(
            f"{self._path}/line", np.zeros((1, 2, 3)), colors=VERMILION, line_width=2.5
        )

    def forget(self) -> None:
        self._points.clear()

    def draw(self, now: Instant) -> None:
        if self._points and now.time < self._points[-1][0]:
            self._points.clear()
        self._points.append((now.time, np.array([now.com[0], now.com[1], LIFT_M])))
        while now.time - self._points[0][0] > TRAIL_S:
            self._points.popleft()
        path = np.array([point for _, point in self._points])
        self._line.visible = len(path) > 1
        if len(path) > 1:
            self._line.points = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)


class CentreOfPressure(Layer):
    """The measured CoP of each sole, small, and of all together."""

    def make(self) -> None:
        self._spots = [self._disc(f"sole {i}", 0.007, GREEN) for i in range(4)]
        self._total = self._disc("total", 0.011, GREEN)

    def draw(self, now: Instant) -> None:
        for index, spot in enumerate(self._spots):
            inside = index < len(now.cops)
            _place(spot, now.cops[index] + [0, 0, LIFT_M] if inside else np.full(3, np.nan))
        _place(self._total, now.total_cop, 1.5 * LIFT_M)


class SupportPolygon(Layer):
    """The convex hull of the soles that bear load."""

    def make(self) -> None:
        self._edges = self._scene.add_line_segments(
            f"{self._path}/edges", np.zeros((1, 2, 3)), colors=GREEN, line_width=2.0
        )
        self._area: Any = None
        self._shown = np.empty((0, 3))

    def draw(self, now: Instant) -> None:
        hull = now.support
        same = hull.shape == self._shown.shape and np.allclose(hull, self._shown, atol=5e-4)
        if same:
            return
        self._shown = hull
        self._edges.visible = len(hull) > 2
        if self._area is not None:
            self._area.remove()
            self._area = None
        if len(hull) > 2:
            raised = hull + [0.0, 0.0, 0.5 * LIFT_M]
            ring = np.stack([raised, np.roll(raised, -1, axis=0)], axis=1)
            self._edges.points = ring.astype(np.float32)
            fan = np.array([[0, i, i + 1] for i in range(1, len(hull) - 1)], dtype=np.uint32)
            self._area = self._scene.add_mesh_simple(
                f"{self._path}/area",
                raised.astype(np.float32),
                fan,
                color=GREEN,
                opacity=0.16,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )


class CapturePoint(Layer):
    """The instantaneous capture point, x + v / omega."""

    def make(self) -> None:
        self._spot = self._disc("spot", 0.013, SKY, 0.9)

    def draw(self, now: Instant) -> None:
        _place(self._spot, now.capture_point, 1.8 * LIFT_M)


class ContactForces(Layer):
    """Contact wrenches, as force at the CoP and torsion about the sole's normal."""

    colour: Colour = GREEN
    offset = 0.0

    def make(self) -> None:
        self._forces = self._arrows("forces", 1)
        self._torsions = self._arrows("torsions", 1, 0.003)

    def _wrenches(self, now: Instant) -> tuple[Array, Array, Array]:
        return now.cops, now.forces, now.torsions

    def draw(self, now: Instant) -> None:
        cops, forces, torsions = self._wrenches(now)
        colours = np.tile(self.colour, (len(cops), 1))
        starts = cops + [0.0, self.offset, 0.0]
        _set_arrows(self._forces, starts, self._scale.force * forces, colours)
        _set_arrows(self._torsions, starts, self._scale.torsion * torsions, colours)


class CommandedForces(ContactForces):
    """The wrenches that the law asks for."""

    colour = BLUE
    offset = 0.012  # m, beside the measured ones

    def _wrenches(self, now: Instant) -> tuple[Array, Array, Array]:
        return now.commanded_cops, now.commanded, now.commanded_torsions


class AngularMomentum(Layer):
    """The angular momentum about the CoM."""

    def make(self) -> None:
        self._arrow = self._arrows("arrow", 1, 0.008)

    def draw(self, now: Instant) -> None:
        vector = self._scale.spin * now.momentum[None, 3:]
        _set_arrows(self._arrow, now.com[None], vector, np.array([PURPLE]))


class PushArrow(Layer):
    """Pushes, as arrows that end where they act."""

    def make(self) -> None:
        self._arrow = self._arrows("arrow", 1, 0.012)
        self.pushes: Sequence[Push] = ()

    def use(self, observer: Observer, pushes: Sequence[Push]) -> None:
        """Take the pushes of a session or recording."""
        self._observer, self.pushes = observer, pushes

    def draw(self, now: Instant) -> None:
        starts, vectors = [], []
        for push in self.pushes:
            if push.start <= now.time <= max(push.end, push.start + SHOWN_PUSH_S):
                pose = self._observer.body_point(push.body, push.point)
                axis = pose.rotation @ push.direction if push.in_body_axes else push.direction
                vector = 0.24 * self._scale.height * axis
                starts.append(pose.translation - vector - 0.05 * axis)
                vectors.append(vector)
        self._arrow.visible = bool(starts)
        if starts:
            colours = np.tile(ORANGE, (len(starts), 1))
            _set_arrows(self._arrow, np.array(starts), np.array(vectors), colours)


LAYERS: dict[str, tuple[type[Layer], bool]] = {
    "Push": (PushArrow, True),
    "Centre of mass": (CentreOfMass, True),
    "CoM trail": (Trail, True),
    "Capture point": (CapturePoint, True),
    "Centre of pressure": (CentreOfPressure, True),
    "Support polygon": (SupportPolygon, True),
    "Sole rectangles": (Soles, True),
    "Measured wrenches": (ContactForces, True),
    "Commanded wrenches": (CommandedForces, False),
    "Angular momentum": (AngularMomentum, True),
}
"""Name of each layer, its class, and whether it is shown at first."""


class Overlays:
    """All layers of one robot."""

    def __init__(
        self, server: viser.ViserServer, observer: Observer, shown: dict[str, bool]
    ) -> None:
        self._root = server.scene.add_frame("/overlay", show_axes=False)
        scale = Scale.of(observer.robot)
        self.layers = {name: cls(server, name, scale) for name, (cls, _) in LAYERS.items()}
        self._observer = observer
        for layer in self.layers.values():
            if isinstance(layer, Soles):
                layer.use(observer.robot)
        self.show(shown)
        self.set_pushes(())

    def show(self, shown: dict[str, bool]) -> None:
        """Switch layers on and off."""
        for name, layer in self.layers.items():
            layer.visible = shown.get(name, LAYERS[name][1])

    def set_pushes(self, pushes: Sequence[Push]) -> None:
        """Say which pushes there are."""
        for layer in self.layers.values():
            if isinstance(layer, PushArrow):
                layer.use(self._observer, pushes)

    def draw(self, now: Instant) -> None:
        """Draw the layers that are on."""
        for layer in self.layers.values():
            if layer.visible:
                layer.draw(now)

    def remove(self) -> None:
        """Take all layers off the scene."""
        self._root.remove()
