"""The live lab: physics, scene, and the one page that drives."""

from __future__ import annotations

import queue
import time as clock
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import viser

from balance.app.live.driver_actions import DriverActions
from balance.app.live.drivers import Drivers
from balance.app.live.messages import (
    Changed,
    Command,
    Conflict,
    Ended,
    Event,
    Refused,
    Speed,
    Start,
    Started,
)
from balance.app.live.panel import Panel
from balance.app.live.panel_settings import PanelSettings
from balance.app.live.physics_process import PhysicsProcess
from balance.app.live.replay import Replay
from balance.app.live.running import Running, Snapshot
from balance.app.live.saving import Saver, safe_child, without_folders
from balance.app.live.scene import Scene, draw_replay, draw_session
from balance.config import ExperimentConfig
from balance.control.parts.setpoints import setpoint_path
from balance.errors import BalanceError
from balance.recordings.results import load_recording
from balance.recordings.verdict import EndKind, RunEnd
from balance.robots import Robot
from balance.robots.stance import robot_of

FRAME_S = 0.04
PLOT_S = 0.33
SETTLE_S = 0.5  # after the last touch of a slider, before the world is made anew


class Lab:
    """Holds all state; only the thread of :meth:`run` touches it, all others use :meth:`do`."""

    def __init__(
        self,
        server: viser.ViserServer,
        config: ExperimentConfig,
        results: Path,
        robot_folders: Sequence[Path] = (),
        replay: Replay | None = None,
    ) -> None:
        self.server, self.results, self.robot_folders = server, results, robot_folders
        self.settings = PanelSettings(config, robot_folders)
        self.actions, self.saver = DriverActions(self), Saver(self)
        self.scene = Scene(server, on_click=self._clicked)
        self.running: Running | None = None
        self.replay: Replay | None = None
        self.physics: PhysicsProcess | None = None
        self.alarm = ""
        self._shown = ""
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._restart_at = np.inf
        self._next_plot = 0.0
        self._stopped = False
        self.drivers = Drivers(server, self)
        if replay is None:
            self.restart()
        else:
            self.show_replay(replay)

    # What other threads may call.

    def do(self, action: Callable[[], None]) -> None:
        """Have something done between two frames."""
        self._todo.put(action)

    def stop(self) -> None:
        """End :meth:`run` soon."""
        self._stopped = True

    def _clicked(self, body: str, event: Any) -> None:
        self.do(lambda: self.actions.clicked(body, event.client))

    # The loop.

    def run(self) -> None:
        """Draw frames until stopped."""
        while not self._stopped:
            began = clock.perf_counter()
            self.tick()
            clock.sleep(max(0.002, FRAME_S - (clock.perf_counter() - began)))

    def close(self) -> None:
        """End the physics and whatever is being written."""
        if self.physics is not None:
            self.physics.stop()
        self.saver.close()
        self.actions.limits.close()

    def tick(self) -> None:
        """One frame."""
        while not self._todo.empty():
            self._guarded(self._todo.get())
        self._listen()
        if clock.perf_counter() >= self._restart_at:
            self._restart_at = np.inf
            self._guarded(self.restart)
        if self.replay is not None:
            draw_replay(self.scene, self.replay)
        elif self.running is not None:
            draw_session(self.scene, self.running)
            self.actions.blow(self.running)
        if clock.perf_counter() >= self._next_plot:
            self._next_plot = clock.perf_counter() + PLOT_S
            self.scene.plot()
            self._tell()

    def _guarded(self, action: Callable[[], None]) -> None:
        """Whatever a page asks for cannot end the lab; it is told what was wrong."""
        try:
            action()
        except BalanceError as error:
            self.say("That does not work", str(error), "red")
        except Exception as error:  # noqa: BLE001  a bug in one action must not end the others
            self.say("Error", f"{type(error).__name__}: {error}", "red")

    def _tell(self) -> None:
        """Bring status and panel up to date."""
        panel = self.drivers.panel
        if self.replay is not None:
            self.scene.tell(self.replay.figures())
            if panel is not None:
                panel.show_replay_time()
        elif self.running is not None:
            self.scene.tell(self.running.figures(), self.alarm)
            if panel is not None:
                panel.show_bar(*self.actions.chosen(self.running))
        else:
            self.scene.tell([("simulation", "starting")], self.alarm)

    # What the physics says.

    def send(self, command: Command) -> None:
        """Give the physics process a command."""
        if self.physics is not None:
            self.physics.send(command)

    def snapshot(self) -> Snapshot | None:
        """The session so far, None if there is none.

        The physics tells of a push or change before it publishes rows that feel it: whoever counts
        rows first and listens then knows all that led to them.
        """
        running, rows = self.running, 0 if self.running is None else self.running.shared.rows
        self._listen()
        return None if running is None else running.snapshot(rows)

    def _listen(self) -> None:
        if self.physics is None:
            return
        for event in self.physics.events():
            self._guarded(lambda event=event: self._hear(event))  # type: ignore[misc]
        if not self.physics.alive and not self.alarm:
            self.alarm = "The physics process has ended; Reset starts a new one."

    def _hear(self, event: Event) -> None:
        match event:
            case Started():
                self._started(event)
            case Changed() if self.running is not None:
                self.running.update(event.config)
                self.scene.set_pushes(self.running.pushes)
            case Conflict() if self.running is not None:
                self.running.conflict = event.text
            case Ended() if self.running is not None:
                self._ended(self.running, event.end)
            case Refused():
                self.say("That does not work", event.message, "red")
                if event.start:
                    self._take_back()

    def _started(self, event: Started) -> None:
        self.running = Running(event, self.robot_folders)
        self.alarm = ""
        self.settings.accept()
        self.actions.begin(self.running)
        self.scene.use(self.running.robot, self.running.path)
        own = "" if self.actions.gains is not None else self.running.config.controller.law
        shown = f"live {self.running.robot.name} {own}"
        if self.drivers.panel is None or shown != self._shown:  # else the open tab stays open
            self._shown = shown
            self.drivers.refresh()
        if (panel := self.drivers.panel) is not None:
            panel.show_begin()

    def _ended(self, running: Running, end: RunEnd) -> None:
        running.end = end
        if end.kind is EndKind.FINISHED and running.untouched:  # nobody would miss it
            self.restart()
            return
        self.alarm = self.public(running.verdict())
        if end.kind is EndKind.FELL:
            self.scene.take_in()
        if (panel := self.drivers.panel) is not None:
            panel.show_end(running.headline())

    # What is shown.

    @property
    def shown_robot(self) -> Robot:
        """The robot of the replay or session."""
        if self.replay is not None:
            return self.replay.recording.robot
        assert self.running is not None
        return self.running.robot

    def restart(self) -> None:
        """Begin anew with what the settings say, with a new process if the old one is gone."""
        try:
            config = self.settings.config()
        except BalanceError:
            self._take_back()
            raise
        self.replay = None
        if self.physics is None or not self.physics.alive:
            if self.physics is not None:
                self.physics.stop()
            self.physics = PhysicsProcess(self.robot_folders)
            self.send(Speed(self.settings.numbers["speed"]))
            self.alarm = ""
        self.send(Start(config))

    def restart_soon(self) -> None:
        """Begin anew once the sliders rest."""
        self._restart_at = clock.perf_counter() + SETTLE_S

    def _take_back(self) -> None:
        """Go back to the choices of the session that runs."""
        self.settings.take_back()
        if (panel := self.drivers.panel) is not None:
            panel.show_settings()

    def show_replay(self, replay: Replay) -> None:
        """Show a recording in place of the simulation."""
        recording = replay.recording
        modelled = robot_of(recording.config, self.robot_folders)
        path = setpoint_path(recording.config.controller.setpoints, modelled)
        self.replay, self._shown = replay, f"replay {replay.folder}"
        self.scene.use(recording.robot, path, recording.pushes)
        self.drivers.refresh()

    def replay_result(self, name: object) -> None:
        """Replay a result folder, by its name."""
        folder = safe_child(self.results, name)
        self.show_replay(Replay(load_recording(folder, self.robot_folders), folder))

    def make_panel(self, client: viser.ClientHandle) -> Panel | None:
        """The panel of the driver; none before there is anything to drive."""
        ready = self.running is not None or self.replay is not None
        return Panel(self, client) if ready else None

    def say(self, title: str, body: str, colour: Any = None, seconds: float = 8.0) -> None:
        """A note on every page."""
        body = self.public(body)
        for client in self.server.get_clients().values():
            client.add_notification(title, body, auto_close_seconds=seconds, color=colour)

    def public(self, text: str) -> str:
        """``text`` without the folders of this machine, which are no page's business."""
        return without_folders(text, [self.results.absolute().parent])
