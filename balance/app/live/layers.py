"""The layers on top of the robot, on the ground and as arrows; each can be switched on and off."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from balance.app.live.layer import (
    BLUE,
    GREEN,
    LIFT_M,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Layer,
    Scale,
    place,
    set_arrows,
    set_points,
    show,
)
from balance.app.live.observer import Instant, Observer
from balance.app.live.pendulum_layer import PendulumBall
from balance.robots import Robot
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

TRAIL_S = 3.0
TRAIL_STEP_M = 5e-4
GAP = 0.08  # of the robot's height, between the tip and the point pushed, which is inside a link
SHOWN_PUSH_S = 0.6  # for which a short push is shown


class Soles(Layer):
    """The rectangles of the contact surfaces."""

    colour = ORANGE
    symbol = "▭"
    meaning = "contact surfaces"

    def make(self) -> None:
        self._lines = self.scene.add_line_segments(
            f"{self.path}/edges",
            np.zeros((1, 2, 3)),
            colors=self.colour,
            thickness=3.0,
            thickness_units="screen",
        )

    def use(self, robot: Robot) -> None:
        """Take the corners of a robot's soles."""
        self._corners = [sole.corners for sole in robot.soles]

    def draw(self, now: Instant) -> None:
        segments = []
        for corners, pose in zip(self._corners, now.soles, strict=True):
            world = corners @ pose.rotation.T + pose.translation + [0.0, 0.0, LIFT_M]
            segments.append(np.stack([world, np.roll(world, -1, axis=0)], axis=1))
        set_points(self._lines, np.concatenate(segments))


class CentreOfMass(Layer):
    """The CoM, its projection on the ground, and the line between them."""

    colour = VERMILION
    meaning = "and its projection"

    def make(self) -> None:
        self._ball = self.scene.add_icosphere(
            f"{self.path}/ball", radius=0.024 * self.scale.height, color=self.colour
        )
        self._spot = self.disc("spot", 0.012, self.colour)
        self._line = self.scene.add_line_segments(
            f"{self.path}/line",
            np.zeros((1, 2, 3)),
            colors=self.colour,
            thickness=1.5,
            thickness_units="screen",
        )

    def draw(self, now: Instant) -> None:
        place(self._ball, now.com)
        place(self._spot, now.com, 2.0 * LIFT_M)
        down = np.array([now.com[0], now.com[1], 0.0])
        set_points(self._line, np.array([[now.com, down]]))


class Trail(Layer):
    """Where the CoM's projection was during the last seconds."""

    colour = VERMILION
    symbol = "∿"
    meaning = "last 3 s, on the ground"

    def make(self) -> None:
        self._points: deque[tuple[float, Array]] = deque()
        self._line = self.scene.add_line_segments(
            f"{self.path}/line",
            np.zeros((1, 2, 3)),
            colors=self.colour,
            thickness=2.5,
            thickness_units="screen",
        )

    def draw(self, now: Instant) -> None:
        if self._points and now.time < self._points[-1][0]:
            self._points.clear()
        point = np.array([now.com[0], now.com[1], LIFT_M])
        if not self._points or np.linalg.norm(point - self._points[-1][1]) > TRAIL_STEP_M:
            self._points.append((now.time, point))
        while self._points and now.time - self._points[0][0] > TRAIL_S:
            self._points.popleft()
        path = np.array([point for _, point in self._points])
        show(self._line, len(path) > 1)
        if len(path) > 1:
            set_points(self._line, np.stack([path[:-1], path[1:]], axis=1))


class CentreOfPressure(Layer):
    """The measured CoP of each sole, small, and of all together."""

    colour = GREEN
    meaning = "of each sole and of all"

    def make(self) -> None:
        self._spots = [self.disc(f"sole {i}", 0.007, self.colour) for i in range(4)]
        self._total = self.disc("total", 0.011, self.colour)

    def draw(self, now: Instant) -> None:
        for index, spot in enumerate(self._spots):
            inside = index < len(now.cops)
            place(spot, now.cops[index] + [0, 0, LIFT_M] if inside else np.full(3, np.nan))
        place(self._total, now.total_cop, 1.5 * LIFT_M)


class SupportPolygon(Layer):
    """The convex hull of the feet that bear load."""

    colour = GREEN
    symbol = "▱"
    meaning = "around loaded feet"

    def make(self) -> None:
        self._edges = self.scene.add_line_segments(
            f"{self.path}/edges",
            np.zeros((1, 2, 3)),
            colors=self.colour,
            thickness=2.0,
            thickness_units="screen",
        )
        self._area: Any = None
        self._shown = np.empty((0, 3))

    def draw(self, now: Instant) -> None:
        hull = now.support
        same = hull.shape == self._shown.shape and np.allclose(hull, self._shown, atol=1e-3)
        if same:
            return
        self._shown = hull
        show(self._edges, len(hull) > 2)
        if self._area is not None:
            self._area.remove()
            self._area = None
        if len(hull) > 2:
            raised = hull + np.array([0.0, 0.0, 0.5 * LIFT_M])
            ring = np.stack([raised, np.roll(raised, -1, axis=0)], axis=1)
            self._edges.points = ring.astype(np.float32)
            fan = np.array([[0, i, i + 1] for i in range(1, len(hull) - 1)], dtype=np.uint32)
            self._area = self.scene.add_mesh_simple(
                f"{self.path}/area",
                raised.astype(np.float32),
                fan,
                color=self.colour,
                opacity=0.16,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )


class CapturePoint(Layer):
    """The instantaneous capture point, x + v / omega."""

    colour = SKY
    meaning = "x + v / ω"

    def make(self) -> None:
        self._spot = self.disc("spot", 0.013, self.colour, 0.9)

    def draw(self, now: Instant) -> None:
        place(self._spot, now.capture_point, 1.8 * LIFT_M)


class ContactForces(Layer):
    """Contact wrenches, as force at the CoP and torsion about the sole's normal."""

    colour = GREEN
    symbol = "↑"
    meaning = "of the ground on each sole"
    offset = 0.0

    def make(self) -> None:
        self._forces = self.arrows("forces", 1)
        self._torsions = self.arrows("torsions", 1, 0.003)

    def _wrenches(self, now: Instant) -> tuple[Array, Array, Array]:
        return now.cops, now.forces, now.torsions

    def draw(self, now: Instant) -> None:
        cops, forces, torsions = self._wrenches(now)
        colours = np.tile(self.colour, (len(cops), 1))
        starts = cops + np.array([0.0, self.offset, 0.0])
        set_arrows(self._forces, starts, self.scale.force * forces, colours)
        set_arrows(self._torsions, starts, self.scale.torsion * torsions, colours)


class CommandedForces(ContactForces):
    """The wrenches that the law asks for."""

    colour = BLUE
    meaning = "that the law asks for"
    offset = 0.03  # m, beside the measured ones

    def _wrenches(self, now: Instant) -> tuple[Array, Array, Array]:
        return now.commanded_cops, now.commanded, now.commanded_torsions


class Touches(Layer):
    """Forces where bodies touch the ground or each other."""

    colour = VERMILION
    symbol = "↑"
    meaning = "of what bodies touch besides the soles"

    def make(self) -> None:
        self._forces = self.arrows("forces", 1)

    def draw(self, now: Instant) -> None:
        points, forces = now.touches[:, 0], now.touches[:, 1]
        colours = np.tile(self.colour, (len(points), 1))
        set_arrows(self._forces, points, self.scale.force * forces, colours)


class AngularMomentum(Layer):
    """The angular momentum about the CoM."""

    colour = PURPLE
    symbol = "↑"
    meaning = "about the centre of mass"

    def make(self) -> None:
        self._arrow = self.arrows("arrow", 1, 0.008)

    def draw(self, now: Instant) -> None:
        vector = self.scale.spin * now.momentum[None, 3:]
        set_arrows(self._arrow, now.com[None], vector, np.array([self.colour]))


class PushArrow(Layer):
    """Pushes, as arrows that end where they act."""

    colour = ORANGE
    symbol = "→"
    meaning = "where it acts"

    def make(self) -> None:
        self._arrow = self.arrows("arrow", 1, 0.012)
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
                vector = 0.24 * self.scale.height * axis
                starts.append(pose.translation - vector - GAP * self.scale.height * axis)
                vectors.append(vector)
        show(self._arrow, bool(starts))
        if starts:
            colours = np.tile(self.colour, (len(starts), 1))
            set_arrows(self._arrow, np.array(starts), np.array(vectors), colours)


LAYERS: dict[str, tuple[type[Layer], bool]] = {
    "Push": (PushArrow, True),
    "Pendulum": (PendulumBall, True),
    "Centre of mass": (CentreOfMass, True),
    "CoM trail": (Trail, True),
    "Capture point": (CapturePoint, True),
    "Centre of pressure": (CentreOfPressure, True),
    "Support polygon": (SupportPolygon, True),
    "Sole rectangles": (Soles, True),
    "Measured wrenches": (ContactForces, True),
    "Commanded wrenches": (CommandedForces, False),
    "Touches": (Touches, True),
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
            if isinstance(layer, PushArrow | PendulumBall):
                layer.use(self._observer, pushes)

    def draw(self, now: Instant) -> None:
        """Draw the layers that are on."""
        for layer in self.layers.values():
            if layer.visible:
                layer.draw(now)

    def remove(self) -> None:
        """Take all layers off the scene."""
        self._root.remove()
