"""The layers on top of the robot, on the ground and as arrows; each can be switched on and off."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray

from balance.app.live.colours import ALARM, ASKED, CAPTURE, GROUND, MASS, NEUTRAL, PUSH, SPIN
from balance.app.live.footstep_layers import (
    Footsteps,
    PlannedFootstep,
    SoleOutlines,
    sole_ring,
)
from balance.app.live.layer import LIFT_M, ROOT, Layer, Scale, place, show, turn
from balance.app.live.observer import Instant, Observer
from balance.app.live.pendulum_layer import PendulumBall
from balance.robots import Robot
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

PLUMB_DOTS = 9
TRAIL_S, TRAIL_STEP_S = 3.0, 0.1
GAP = 0.08  # of the robot's height, between the tip and the point pushed, which is inside a link
SHOWN_PUSH_S = 0.6  # for which a short push is shown


class Soles(Layer):
    """The rectangles of the contact surfaces."""

    colour = NEUTRAL
    symbol = "▭"
    meaning = "contact surfaces"

    def make(self) -> None:
        self._edges: list[Any] = []

    def use(self, robot: Robot) -> None:
        """Take the corners of a robot's soles."""
        for index, sole in enumerate(robot.soles):
            self._edges.append(self.lines(f"sole {index}", sole_ring(sole), 3.0))

    def draw(self, now: Instant) -> None:
        for edges, pose in zip(self._edges, now.soles, strict=True):
            place(edges, pose.translation)
            turn(edges, pose.rotation)


class CentreOfMass(Layer):
    """The CoM, its projection on the ground, and a dotted line between them."""

    colour = MASS
    meaning = "and its projection"

    def make(self) -> None:
        self._ball = self.scene.add_icosphere(
            f"{self.path}/ball", radius=0.024 * self.scale.height, color=self.colour
        )
        self._spot = self.disc("spot", 0.012)
        self._dots = [self.dot(f"dot {i}") for i in range(PLUMB_DOTS)]

    def draw(self, now: Instant) -> None:
        place(self._ball, now.com)
        place(self._spot, now.com, 2.0 * LIFT_M)
        for index, dot in enumerate(self._dots, start=1):
            place(dot, now.com, now.com[2] * index / (PLUMB_DOTS + 1))


class Trail(Layer):
    """Where the CoM's projection was during the last seconds, a dot for each moment."""

    colour = MASS
    symbol = "⋯"
    meaning = "last 3 s, on the ground"

    def make(self) -> None:
        self._dots = [self.dot(f"dot {i}") for i in range(round(TRAIL_S / TRAIL_STEP_S))]
        self._left: deque[float] = deque()
        self._next = 0
        for dot in self._dots:
            show(dot, False)

    def draw(self, now: Instant) -> None:
        if self._left and now.time < self._left[-1]:
            self._left.clear()
        while self._left and now.time - self._left[0] > TRAIL_S:
            self._left.popleft()
        if not self._left or now.time - self._left[-1] >= TRAIL_STEP_S:
            self._left.append(now.time)
            place(self._dots[self._next], now.com, LIFT_M)
            self._next = (self._next + 1) % len(self._dots)
        for age in range(1, len(self._dots) + 1):  # in the order in which they were left
            show(self._dots[self._next - age], age <= len(self._left))


class CentreOfPressure(Layer):
    """The measured CoP of each sole, small, and of all together."""

    colour = GROUND
    meaning = "of each sole and of all"

    def make(self) -> None:
        self._spots = [self.disc(f"sole {i}", 0.007) for i in range(4)]
        self._total = self.disc("total", 0.011)

    def draw(self, now: Instant) -> None:
        for index, spot in enumerate(self._spots):
            inside = index < len(now.cops)
            place(spot, now.cops[index] + [0, 0, LIFT_M] if inside else np.full(3, np.nan))
        place(self._total, now.total_cop, 1.5 * LIFT_M)


class SupportPolygon(Layer):
    """The convex hull of the feet that bear load."""

    colour = GROUND
    symbol = "▱"
    meaning = "around loaded feet"

    def make(self) -> None:
        self._edges = self.lines("edges", np.zeros((1, 2, 3)), 2.0)
        self._area = self.scene.add_mesh_simple(
            f"{self.path}/area",
            np.zeros((3, 3), dtype=np.float32),
            np.array([[0, 1, 2]], dtype=np.uint32),
            color=self.colour,
            opacity=0.16,
            side="double",
            cast_shadow=False,
            receive_shadow=False,
        )
        self._shown = np.empty((0, 3))

    def draw(self, now: Instant) -> None:
        hull = now.support
        for node in (self._edges, self._area):
            show(node, len(hull) > 2)
        same = hull.shape == self._shown.shape and np.allclose(hull, self._shown, atol=1e-3)
        if same or len(hull) < 3:
            return
        self._shown = hull
        raised = (hull + np.array([0.0, 0.0, 0.5 * LIFT_M])).astype(np.float32)
        self._edges.points = np.stack([raised, np.roll(raised, -1, axis=0)], axis=1)
        self._area.vertices = raised
        fan = np.array([[0, i, i + 1] for i in range(1, len(hull) - 1)], dtype=np.uint32)
        if fan.shape != self._area.faces.shape:
            self._area.faces = fan


class CapturePoint(Layer):
    """The instantaneous capture point, x + v / omega."""

    colour = CAPTURE
    meaning = "x + v / ω"

    def make(self) -> None:
        self._spot = self.disc("spot", 0.013, 0.9)

    def draw(self, now: Instant) -> None:
        place(self._spot, now.capture_point, 1.8 * LIFT_M)


class Arrows(Layer):
    """A layer that is made of arrows only."""

    symbol = "↑"

    def make(self) -> None:
        """They are made when there are any to be drawn."""


class ContactForces(Arrows):
    """Contact wrenches, as force at the CoP and torsion about the sole's normal."""

    colour = GROUND
    meaning = "of the ground on each sole"
    offset = 0.0

    def _wrenches(self, now: Instant) -> tuple[Array, Array, Array]:
        return now.cops, now.forces, now.torsions

    def draw(self, now: Instant) -> None:
        cops, forces, torsions = self._wrenches(now)
        starts = cops + np.array([0.0, self.offset, 0.0])
        self.draw_arrows("force", starts, self.scale.force * forces)
        self.draw_arrows("torsion", starts, self.scale.torsion * torsions, 0.003)


class CommandedForces(ContactForces):
    """The wrenches that the law asks for."""

    colour = ASKED
    meaning = "that the law asks for"
    offset = 0.03  # m, beside the measured ones

    def _wrenches(self, now: Instant) -> tuple[Array, Array, Array]:
        return now.commanded_cops, now.commanded, now.commanded_torsions


class Touches(Arrows):
    """Forces where bodies touch the ground or each other."""

    colour = ALARM
    meaning = "of what bodies touch besides the soles"

    def draw(self, now: Instant) -> None:
        self.draw_arrows("force", now.touches[:, 0], self.scale.force * now.touches[:, 1])


class AngularMomentum(Arrows):
    """The angular momentum about the CoM."""

    colour = SPIN
    meaning = "about the centre of mass, as long as half the robot at most"

    def draw(self, now: Instant) -> None:
        arrow = self.scale.spin * now.momentum[3:]
        longest = 0.5 * self.scale.height  # a swing of arms and legs would leave the picture
        arrow *= min(1.0, longest / max(float(np.linalg.norm(arrow)), 1e-9))
        self.draw_arrows("arrow", now.com[None], arrow[None], 0.008)


class PushArrow(Arrows):
    """Pushes, as arrows that end where they act."""

    colour = PUSH
    symbol = "→"
    meaning = "where it acts"
    pushes: Sequence[Push] = ()

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
        rows = (-1, 3)
        self.draw_arrows(
            "arrow", np.array(starts).reshape(rows), np.array(vectors).reshape(rows), 0.012
        )


LAYERS: dict[str, tuple[type[Layer], bool]] = {
    "Push": (PushArrow, True),
    "Pendulum": (PendulumBall, True),
    "Centre of mass": (CentreOfMass, True),
    "CoM trail": (Trail, True),
    "Capture point": (CapturePoint, True),
    "Centre of pressure": (CentreOfPressure, True),
    "Support polygon": (SupportPolygon, True),
    "Sole rectangles": (Soles, True),
    "Footsteps": (Footsteps, True),
    "Planned footstep": (PlannedFootstep, True),
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
        self._root = server.scene.add_frame(ROOT, show_axes=False)
        scale = Scale.of(observer.robot)
        self.layers = {name: cls(server, name, scale) for name, (cls, _) in LAYERS.items()}
        self._observer = observer
        for layer in self.layers.values():
            if isinstance(layer, Soles | SoleOutlines):
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
