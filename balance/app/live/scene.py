"""Everything that all pages see: surroundings, robot, layers, status and plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import viser

from balance.app.live.history import SAMPLE_S, SPAN_S, History
from balance.app.live.layers import LAYERS, Overlays
from balance.app.live.left_panel import LeftPanel
from balance.app.live.observer import Instant, Observer, Rows
from balance.app.live.replay import Replay
from balance.app.live.robot_view import LOOKS, RobotView
from balance.app.live.running import Running
from balance.app.live.surroundings import LIGHT, Surroundings, Theme
from balance.control.parts.setpoints import Path as SetpointSource
from balance.errors import InputError
from balance.recordings.signals import sole_labels
from balance.robots import Robot
from balance.simulation.pushes import Push

MAX_SAMPLES = 12  # of the history in one frame
JUMP_S = 1.0  # between two frames: more is a jump in time
STEPS = 40  # control steps before a sample, whose durations it shows

Clicked = Callable[[str, Any], None]


class Scene:
    """One robot and what surrounds it; ``use`` shows another one."""

    def __init__(
        self, server: viser.ViserServer, theme: Theme = LIGHT, on_click: Clicked | None = None
    ) -> None:
        self.server, self._on_click = server, on_click
        self.surroundings = Surroundings(server, theme)
        self.shown = {name: shown for name, (_, shown) in LAYERS.items()}
        self.look = LOOKS[0]
        self.history = History()
        self.pushes: Sequence[Push] = ()
        self._robot: Robot | None = None
        self._soles: list[str] = []
        self._view: RobotView | None = None
        self._overlays: Overlays | None = None
        self._left = LeftPanel(server)
        self._last = 0.0

    def use(self, robot: Robot, path: SetpointSource, pushes: Sequence[Push] = ()) -> None:
        """Show a robot from now on; the plots begin anew."""
        self.observer = Observer(robot, path)
        with self.server.atomic():
            known = self._robot is not None and self._robot.name == robot.name
            if not known:
                if self._view is not None:
                    self._view.remove()
                self._view = RobotView(self.server, robot, self._on_click)
                self._view.set_look(self.look)
                self.surroundings.look_at(robot)
            self._robot = robot
            if self._overlays is not None:
                self._overlays.remove()
            self._overlays = Overlays(self.server, self.observer, self.shown)
        if sole_labels(robot) != self._soles:
            self._soles = sole_labels(robot)
            self._left.use(self._soles)
        self.surroundings.in_view.come_back()
        self.surroundings.follow.begin(robot.com(), _height(robot))
        self.history.clear()
        self.set_pushes(pushes)

    def set_pushes(self, pushes: Sequence[Push]) -> None:
        """Say which pushes there are, for arrows and marks."""
        self.pushes = pushes
        if self._overlays is not None:
            self._overlays.set_pushes(pushes)

    def draw(self, rows: Rows, row: int) -> Instant:
        """Show one row."""
        now = self.observer.at(rows, row)
        assert self._view is not None
        assert self._overlays is not None
        with self.server.atomic():
            self._view.draw(now.q)
            self._overlays.draw(now)
            jumped = not 0.0 <= now.time - self._last < JUMP_S
            self.surroundings.follow.draw(now.com, again=jumped)
        self._last = now.time
        return now

    def take_in(self) -> None:
        """Have the whole robot in the picture, now that it lies."""
        if self._view is not None and self._robot is not None and self.surroundings.follow.on:
            points = self._view.joints() + self.surroundings.follow.shift
            self.surroundings.in_view.take_in(points, _height(self._robot))

    def plot(self) -> None:
        """Show the history."""
        self._left.plot(self.history)

    def show_layer(self, name: str, on: bool) -> None:
        """Switch a layer on or off."""
        self.shown[name] = on
        if self._overlays is not None:
            self._overlays.show(self.shown)

    def set_look(self, look: object) -> None:
        """Make the robot solid, transparent or invisible."""
        if look not in LOOKS:
            raise InputError(f"a robot cannot look '{look}'")
        self.look = str(look)
        if self._view is not None:
            self._view.set_look(self.look)

    def tell(self, cells: Sequence[tuple[str, str]], alarm: str = "") -> None:
        """Figures (label and value), and what is wrong, if anything."""
        self._left.show(cells, alarm)


def _height(robot: Robot) -> float:
    return 1.9 * float(robot.com()[2])


def draw_session(scene: Scene, running: Running) -> None:
    """Show the newest row, and take samples of those since the last frame."""
    log, history = running.shared.view(), scene.history
    if log.rows == 0:
        return
    period = running.config.control_period_s
    for _ in range(MAX_SAMPLES):
        row = round(history.next_time / period)
        if row >= log.rows:
            break
        now = scene.observer.at(log, row)
        steps = log.control_time[max(0, row + 1 - STEPS) : row + 1]
        history.add(now, scene.pushes, steps, period)
    else:  # too far behind to catch up
        history.next_time = log.rows * period
    scene.draw(log, log.rows - 1)


def draw_replay(scene: Scene, replay: Replay) -> None:
    """Move on with the clock, and show where the replay is."""
    before, history = replay.time, scene.history
    row = replay.advance()
    if replay.time < before:
        history.clear()
    if not len(history):
        _fill(scene, replay, row)
    now = scene.draw(replay.recording, row)
    if now.time > history.next_time:
        history.add(now, scene.pushes)


def _fill(scene: Scene, replay: Replay, row: int) -> None:
    """Samples of the seconds before a row, after a jump in time."""
    time = replay.recording.time
    for moment in np.arange(max(0.0, time[row] - SPAN_S), time[row], SAMPLE_S):
        now = scene.observer.at(replay.recording, int(np.searchsorted(time, moment)))
        scene.history.add(now, scene.pushes)
