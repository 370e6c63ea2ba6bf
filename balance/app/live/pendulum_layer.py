"""The layer with the pendulum behind a push of that kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from balance.app.live.colours import NEUTRAL, PUSH
from balance.app.live.layer import Layer, place, set_points, show
from balance.app.live.observer import Instant, Observer
from balance.simulation.pendulum import Pendulums, Swing
from balance.simulation.pushes import PendulumPush, Push


class PendulumBall(Layer):
    """The ball and its ropes: swinging in, at the hit, and away; one at a time."""

    colour = PUSH
    meaning = "that hits, on two ropes"

    def make(self) -> None:
        self._place = self.frame("place")
        self._ball = self.scene.add_icosphere(
            f"{self._place.name}/ball", radius=1.0, color=self.colour, visible=False
        )
        self._ropes = self.lines("place/ropes", np.zeros((2, 2, 3)), 2.0, NEUTRAL)
        self._ropes.visible = False
        self._pushes: list[Push] = []
        self._observer: Observer | None = None
        self._seen: dict[float, Swing] = {}

    def use(self, observer: Observer, pushes: Sequence[Push]) -> None:
        """Take the pushes of a session or recording."""
        if observer is not self._observer:
            self._observer, self._pendulums = observer, Pendulums(observer.robot)
        self._pushes = [push for push in pushes if isinstance(push.profile, PendulumPush)]

    def draw(self, now: Instant) -> None:
        swing = self._current(now.time)
        show(self._ropes, swing is not None)
        show(self._ball, swing is not None)
        if swing is not None:
            ball = swing.ball(now.time)
            if self._ball.scale != swing.radius:
                self._ball.scale = swing.radius
            place(self._place, ball)
            set_points(
                self._ropes, np.array([[end - ball, np.zeros(3)] for end in swing.rope_ends])
            )

    def _current(self, time: float) -> Swing | None:
        """The first pendulum that has not swung away yet.

        Until the hit it aims at where the body is, then it stays with where that was; at the
        nominal posture if nobody looked before.
        """
        assert self._observer is not None  # there are no pushes before there is one
        for push in self._pushes:
            if time < push.start or push.start not in self._seen:
                data = self._observer.placements(nominal=time >= push.start)
                swing = self._pendulums.swing(push, data)
                assert swing is not None  # others were left out
                self._seen[push.start] = swing
            if self._seen[push.start].shown(time):
                return self._seen[push.start]
        return None
