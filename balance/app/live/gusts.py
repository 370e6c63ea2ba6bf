"""Random gusts: small pushes from all sides at random times."""

from __future__ import annotations

import numpy as np

from balance.app.live.desk import Desk
from balance.config import PushConfig
from balance.config.sections import push_config
from balance.robots import Robot

DURATION_S = 0.1


class Gusts:
    """Pushes with random direction and size; the pauses are exponentially distributed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._next = np.inf
        self._on = False

    @property
    def on(self) -> bool:
        """Whether there are gusts."""
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        self._on = on
        self.begin()

    def begin(self) -> None:
        """A new session: the first gust comes after a pause."""
        self._next = -np.inf

    def due(self, time: float, desk: Desk, robot: Robot) -> PushConfig | None:
        """The gust that comes now, if one does."""
        if not self._on or time < self._next:
            return None
        first = self._next == -np.inf
        self._next = time + self._random.exponential(desk.numbers["gust_pause"])
        if first:
            return None
        angle = self._random.uniform(-np.pi, np.pi)
        return push_config(
            type="half_sine",
            body=desk.body_of(robot),
            direction=(float(np.cos(angle)), float(np.sin(angle)), 0.0),
            time_s=0.0,
            impulse_Ns=float(desk.numbers["gust_impulse"] * self._random.uniform(0.4, 1.6)),
            duration_s=DURATION_S,
        )
