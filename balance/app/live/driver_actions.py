"""What the driver does to the robot: pushes, gusts, gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import viser

from balance.app.live.gain_terms import GainTerms
from balance.app.live.messages import ChangeGains, ChangeKeys, Push
from balance.app.live.panel_settings import PanelSettings
from balance.app.live.push_limits import Limits, PushLimits
from balance.config import BalancingLawConfig, PushConfig
from balance.config.sections import push_config
from balance.robots import Robot

if TYPE_CHECKING:
    from balance.app.live.lab import Lab
    from balance.app.live.running import Running

GUST_S = 0.1


class DriverActions:
    """Sends to the physics what the settings say; all in the lab's own thread."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.gusts, self.limits = Gusts(), PushLimits()
        self.gains: GainTerms | None = None
        self.push_on_click = False
        self.from_camera = False

    def begin(self, running: Running) -> None:
        """A new session: the gains that act in it, and no gust for a while."""
        law = running.config.controller
        self.gains = None
        if isinstance(law, BalancingLawConfig):
            self.gains = GainTerms.of(law.gains, running.modelled_robot)
        self.gusts.begin()

    def push(self, client: viser.ClientHandle, pendulum: bool = False) -> None:
        """Push as the settings say."""
        lab = self._lab
        if lab.running is not None:
            make = lab.settings.pendulum if pendulum else lab.settings.push
            lab.send(Push(make(lab.running.robot, self.direction(client))))

    def paper_push(self) -> None:
        """The push of the config, or that of the paper."""
        self._lab.send(Push(self._lab.settings.paper_push))

    def blow(self, running: Running) -> None:
        """Send the gust that is due, if one is."""
        time = running.shared.rows * running.config.control_period_s
        item = self.gusts.due(time, self._lab.settings, running.robot)
        if item is not None and not self._lab.alarm:
            self._lab.send(Push(item))

    def clicked(self, body: str, client: viser.ClientHandle) -> None:
        """A page has clicked a link; only the driver's clicks count."""
        lab = self._lab
        if client is not lab.drivers.client or lab.running is None or lab.replay is not None:
            return
        lab.settings.choose_body(lab.running.robot, body)
        if (panel := lab.drivers.panel) is not None:
            panel.show_body(body)
        if self.push_on_click:
            self.push(client)

    def direction(self, client: viser.ClientHandle | None) -> Any:
        """Where a push goes: away from the camera, or as the dial says."""
        dial = self._lab.settings.dial()
        if not self.from_camera or client is None:
            return dial
        view = np.array(client.camera.look_at) - np.array(client.camera.position)
        view[2] = 0.0
        length = float(np.linalg.norm(view))
        return tuple(view / length) if np.isfinite(length) and length > 1e-6 else dial

    def chosen(self, running: Running) -> tuple[float, Limits]:
        """The chosen impulse (N s), and what could be caught in its direction."""
        direction = np.array(self.direction(self._lab.drivers.client))
        steps = running.config.controller.takes_steps
        limits = self.limits.at(running.robot, direction, steps)
        return self._lab.settings.numbers["impulse"], limits

    def set_gains(self, terms: GainTerms) -> None:
        """Use other gains at once, and from the next reset on."""
        self.gains = terms
        self._lab.settings.set_gains(terms.gains())
        self._lab.send(ChangeGains(terms.gains()))

    def set_key(self, key: str, value: float) -> None:
        """Use another value of a key of the user's own law, likewise."""
        self._lab.settings.set_law_keys({key: value})
        self._lab.send(ChangeKeys({key: value}))


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

    def due(self, time: float, settings: PanelSettings, robot: Robot) -> PushConfig | None:
        """The gust that comes now, if one does."""
        if not self._on or time < self._next:
            return None
        first = self._next == -np.inf
        self._next = time + self._random.exponential(settings.numbers["gust_pause"])
        if first:
            return None
        angle = self._random.uniform(-np.pi, np.pi)
        return push_config(
            type="half_sine",
            body=settings.body_of(robot),
            direction=(float(np.cos(angle)), float(np.sin(angle)), 0.0),
            time_s=0.0,
            impulse_Ns=float(settings.numbers["gust_impulse"] * self._random.uniform(0.4, 1.6)),
            duration_s=GUST_S,
        )
