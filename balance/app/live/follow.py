"""Keeps a robot that falls or walks in view.

The world is moved under the cameras, not the cameras: so every page keeps the angle and zoom that
its user has chosen, also while the mouse is dragged, the lamp stays with the robot, and a replay
file follows like the page.
"""

from __future__ import annotations

import numpy as np
import viser
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROOT = "/world"
LEASH = 0.06  # of the robot's height, by which it may sway before it is followed
SHARE = 0.25  # of what is left to go, in each frame
MOVED_M = 1e-3


class Follow:
    """The frame below which everything lies that moves against the cameras."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._frame = server.scene.add_frame(ROOT, show_axes=False)
        self._on = True
        self._home: Array
        self.begin(np.zeros(3), 1.0)

    @property
    def on(self) -> bool:
        """Whether the robot is followed."""
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        self._on = on
        self._at = self._home

    @property
    def shift(self) -> Array:
        """By how much the world is moved."""
        return self._home - self._at

    def begin(self, home: Array, height: float) -> None:
        """A robot that stands with its CoM at ``home``."""
        self._home = self._at = np.array(home, dtype=np.float64)
        self._leash = LEASH * height

    def draw(self, com: Array, again: bool = False) -> None:
        """Follow the CoM; ``again`` after a jump in time, which is no motion to be smoothed."""
        if not np.isfinite(com).all():
            return
        if self._on:
            away = com - self._at
            distance = float(np.linalg.norm(away))
            if again:
                self._at = com if distance > self._leash else self._at
            elif distance > self._leash:
                self._at = self._at + SHARE * (1.0 - self._leash / distance) * away
        if np.abs(self.shift - self._frame.position).max() > MOVED_M:
            self._frame.position = self.shift
