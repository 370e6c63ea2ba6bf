"""Layers that lie on the ground, and the CoM above it."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from balance.app.live.layer import (
    GREEN,
    LIFT_M,
    ORANGE,
    SKY,
    VERMILION,
    Layer,
    place,
    set_points,
    show,
)
from balance.app.live.observer import Instant
from balance.robots import Robot

Array = NDArray[np.float64]

TRAIL_S = 3.0
TRAIL_STEP_M = 5e-4


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
