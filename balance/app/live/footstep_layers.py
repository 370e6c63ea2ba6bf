"""Footsteps on the ground, planned and taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from balance.app.live.colours import ASKED, NEUTRAL
from balance.app.live.layer import LIFT_M, Layer, place, show, turn
from balance.app.live.observer import Instant
from balance.app.live.steps import REMEMBERED
from balance.robots import Robot
from balance.robots.contacts import ContactSurface

Array = NDArray[np.float64]


def sole_ring(sole: ContactSurface) -> Array:
    """The edges of a sole, in its axes, a little above the ground."""
    raised = sole.corners + np.array([0.0, 0.0, LIFT_M])
    return np.stack([raised, np.roll(raised, -1, axis=0)], axis=1).astype(np.float32)


class SoleOutlines(Layer):
    """Outlines of soles on the ground."""

    symbol = "▭"
    most = 1
    """Of each sole, at once."""

    def make(self) -> None:
        self._edges: list[list[Any]] = []

    def use(self, robot: Robot) -> None:
        """Take the corners of a robot's soles."""
        for index, sole in enumerate(robot.soles):
            ring = sole_ring(sole)
            names = [f"sole {index} {number}" for number in range(self.most)]
            self._edges.append([self.lines(name, ring, 3.0) for name in names])
        self.draw_outlines(())

    def draw_outlines(self, outlines: tuple[tuple[int, pin.SE3], ...]) -> None:
        """Show these, and no others."""
        for index, edges in enumerate(self._edges):
            poses = [pose for sole, pose in outlines if sole == index]
            for number, node in enumerate(edges):
                show(node, number < len(poses))
                if number < len(poses):
                    place(node, poses[number].translation)
                    turn(node, poses[number].rotation)


class Footsteps(SoleOutlines):
    """Where feet stood before the steps that they took."""

    colour = NEUTRAL
    meaning = "where feet stood before their steps"
    most = REMEMBERED

    def draw(self, now: Instant) -> None:
        self.draw_outlines(() if now.steps is None else now.steps.left)


class PlannedFootstep(SoleOutlines):
    """Where the foot in the air is to land."""

    colour = ASKED
    meaning = "where the foot in the air is to land"

    def draw(self, now: Instant) -> None:
        landing = None if now.steps is None else now.steps.landing
        self.draw_outlines(() if landing is None else (landing,))
