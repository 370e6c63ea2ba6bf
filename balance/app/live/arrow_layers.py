"""Layers of arrows: contact wrenches, angular momentum, pushes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from balance.app.live.layer import BLUE, GREEN, ORANGE, PURPLE, Layer, set_arrows, show
from balance.app.live.observer import Instant, Observer
from balance.simulation.pushes import Push

Array = NDArray[np.float64]

GAP = 0.08  # of the robot's height, between the tip and the point pushed, which is inside a link
SHOWN_PUSH_S = 0.6  # for which a short push is shown


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
