"""The live lab: physics, theatre, and the one page that drives."""

from __future__ import annotations

import queue
import time as clock
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import viser

from balance.config import ExperimentConfig
from balance.errors import BalanceError
from balance.experiment import Experiment
from balance.live import keep
from balance.live.desk import Desk
from balance.live.drivers import Drivers
from balance.live.gain_terms import GainTerms
from balance.live.gusts import Gusts
from balance.live.messages import (
    Changed,
    ChangeGains,
    Command,
    Ended,
    Push,
    Refused,
    Start,
    Started,
)
from balance.live.panel import Panel
from balance.live.physics_process import PhysicsProcess
from balance.live.replay import Replay
from balance.live.running import Running
from balance.live.stage import DARK, LIGHT
from balance.live.theatre import Theatre
from balance.metrics import ankle_limit

FRAME_S = 0.04
PLOT_S = 0.33
SETTLE_S = 0.5  # after the last touch of a slider, before the world is made anew
MAX_SAMPLES = 12  # of the history in one frame


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
        self.desk = Desk(config, robot_folders)
        self.theatre = Theatre(server, on_click=self._clicked)
        self.running: Running | None = None
        self.replay: Replay | None = None
        self.physics: PhysicsProcess | None = None
        self.gains: GainTerms | None = None
        self.gusts = Gusts()
        self.alarm = ""
        self.push_on_click = False
        self.from_camera = False
        self._scene = ""
        self._todo: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._workers = ThreadPoolExecutor(1, "balance-keep")
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
        self._workers.shutdown(wait=True)

    def tick(self) -> None:
        """One frame."""
        while not self._todo.empty():
            self._guarded(self._todo.get())
        self._hear()
        if clock.perf_counter() >= self._restart_at:
            self._restart_at = np.inf
            self._guarded(self.restart)
        if self.replay is not None:
            self._draw_replay(self.replay)
        elif self.running is not None:
            self._draw_live(self.running)
        if clock.perf_counter() >= self._next_plot:
            self._next_plot = clock.perf_counter() + PLOT_S
            self.theatre.plot()
            self._tell()

    def _guarded(self, action: Callable[[], None]) -> None:
        """Whatever a page asks for cannot end the lab; it is told what was wrong."""
        try:
            action()
        except BalanceError as error:
            self.say("That does not work", str(error), "red")
        except Exception as error:  # noqa: BLE001  a bug in one action must not end the others
            self.say("Error", f"{type(error).__name__}: {error}", "red")

    def _hear(self) -> None:
        if self.physics is None:
            return
        for event in self.physics.events():
            match event:
                case Started():
                    self._guarded(lambda event=event: self._started(event))  # type: ignore[misc]
                case Changed() if self.running is not None:
                    self.running.update(event.config)
                    self.theatre.set_pushes(self.running.pushes)
                case Ended() if self.running is not None:
                    self._ended(event.end)
                case Refused():
                    self.say("That does not work", event.message, "red")
        if not self.physics.alive and not self.alarm:
            self.alarm = "The physics process has ended; Reset starts a new one."

    def _started(self, event: Started) -> None:
        self.running = Running(event, self.robot_folders)
        self.gains = GainTerms.of(event.config.controller.gains, self.running.modelled_robot)
        self.alarm = ""
        self.theatre.use(self.running.robot, self.running.path)
        self.gusts.begin()
        scene = f"live {self.running.robot.name}"
        if self.drivers.panel is None or scene != self._scene:  # else the open tab stays open
            self._scene = scene
            self.drivers.refresh()
        if (panel := self.drivers.panel) is not None:
            panel.show_begin()

    def _ended(self, end: str) -> None:
        assert self.running is not None
        self.running.end = end
        self.alarm = self.running.verdict()
        if (panel := self.drivers.panel) is not None:
            panel.show_end(self.alarm)

    def _draw_live(self, running: Running) -> None:
        log = running.shared.view()
        if log.rows == 0:
            return
        period = running.config.control_period_s
        for _ in range(MAX_SAMPLES):
            row = round(self.theatre.history.next_time / period)
            if row >= log.rows:
                break
            now = self.theatre.observer.at(log, row)
            steps = log.control_time[max(0, row - 39) : row + 1]
            self.theatre.history.add(now, float(steps.max()), self.theatre.pushes)
        else:
            self.theatre.history.next_time = log.rows * period
        self.theatre.draw(log, log.rows - 1)
        item = self.gusts.due(log.rows * period, self.desk, running.robot)
        if item is not None and not self.alarm:
            self.send(Push(item))

    def _draw_replay(self, replay: Replay) -> None:
        before = replay.time
        row = replay.advance()
        if replay.time < before:
            self.theatre.history.clear()
        now = self.theatre.draw(replay.recording, row)
        if not len(self.theatre.history) or now.time > self.theatre.history.next_time:
            self.theatre.history.add(now, 0.0, self.theatre.pushes)
        if (panel := self.drivers.panel) is not None:
            panel.show_replay_time(replay)

    def _tell(self) -> None:
        if self.replay is not None:
            self.theatre.tell(
                [
                    ("replay", self.replay.folder.name),
                    ("time", f"{self.replay.time:.2f} s"),
                    ("of", f"{self.replay.duration:.2f} s"),
                ]
            )
            return
        if self.running is None:
            self.theatre.tell([("simulation", "starting")], self.alarm)
            return
        self.theatre.tell(self.running.figures(), self.alarm)
        if (panel := self.drivers.panel) is not None:
            panel.show_bar(self.ankle_share())

    # What the driver can do.

    def restart(self) -> None:
        """Begin anew with what the desk says, with a new process if the old one is gone."""
        config = self.desk.config()
        self.replay = None
        if self.physics is None or not self.physics.alive:
            if self.physics is not None:
                self.physics.stop()
            self.physics = PhysicsProcess(self.robot_folders)
            self.alarm = ""
        self.send(Start(config))

    def restart_soon(self) -> None:
        """Begin anew once the sliders rest."""
        self._restart_at = clock.perf_counter() + SETTLE_S

    def push(self, client: viser.ClientHandle, pendulum: bool = False) -> None:
        """Push as the desk says."""
        if self.running is None:
            return
        robot, direction = self.running.robot, self.direction(client)
        make = self.desk.pendulum if pendulum else self.desk.push
        self.send(Push(make(robot, direction)))

    def paper_push(self) -> None:
        """The push of the config, or that of the paper."""
        self.send(Push(self.desk.paper_push))

    def direction(self, client: viser.ClientHandle | None) -> Any:
        """Where a push goes: away from the camera, or as the dial says."""
        if not self.from_camera or client is None:
            return self.desk.dial()
        view = np.array(client.camera.look_at) - np.array(client.camera.position)
        view[2] = 0.0
        length = float(np.linalg.norm(view))
        return tuple(view / length) if np.isfinite(length) and length > 1e-6 else self.desk.dial()

    def ankle_share(self) -> tuple[float, float]:
        """The chosen impulse over the ankle limit in its direction, and that limit in N s."""
        assert self.running is not None
        direction = np.array(self.direction(self.drivers.client))
        limit = ankle_limit(self.running.robot, direction)
        return self.desk.numbers["impulse"] / limit, limit

    def set_gains(self, terms: GainTerms) -> None:
        """Use other gains at once, and from the next reset on."""
        self.gains = terms
        law = self.desk.base.controller.model_copy(update={"gains": terms.gains()})
        self.desk.base = self.desk.base.model_copy(update={"controller": law})
        self.send(ChangeGains(terms.gains()))

    def set_dark(self, dark: bool) -> None:
        """Dark or light."""
        self.theatre.stage.set_theme(DARK if dark else LIGHT)

    def show_replay(self, replay: Replay) -> None:
        """Show a recording in place of the simulation."""
        recording = replay.recording
        path = Experiment(recording.config, self.robot_folders).controller.path
        self.replay, self._scene = replay, f"replay {replay.folder}"
        self.theatre.use(recording.robot, path, recording.pushes)
        self.drivers.refresh()

    def live_again(self) -> None:
        """Back from a replay to the simulation."""
        self.restart()

    def keep(self, what: str, action: Callable[[], Path]) -> None:
        """Write something in the background and say where it went."""

        def work() -> None:
            try:
                path = action()
            except BalanceError as error:
                message = str(error)
                self.do(lambda: self.say(f"{what} was not saved", message, "red"))
            except Exception as error:  # noqa: BLE001  say so, and go on
                text = f"{type(error).__name__}: {error}"
                self.do(lambda: self.say(f"{what} was not saved", text, "red"))
            else:
                self.do(lambda: self._kept(what, path))

        self.say(f"Saving: {what.lower()}", "This takes a moment.", "blue", 3.0)
        self._workers.submit(work)

    def _kept(self, what: str, path: Path) -> None:
        self.say(f"{what} saved", str(path), "green")
        if (panel := self.drivers.panel) is not None:
            panel.show_kept(what, path)

    def save_run(self, name: str) -> None:
        """Write a result folder of the session since the last reset."""
        if self.running is not None:
            snapshot = self.running.snapshot()
            self.keep("Run", lambda: keep.save_run(snapshot, self.results, name))

    def save_config(self, name: str) -> None:
        """Write the experiment that repeats the session since the last reset."""
        if self.running is not None:
            snapshot = self.running.snapshot()
            self.keep("Config", lambda: keep.save_config(snapshot, self.results, name))

    def export(self, kind: str) -> None:
        """Write the replay as a film or a page."""
        replay = self.replay
        if replay is not None:
            theme, shown = self.theatre.stage.theme, dict(self.theatre.shown)
            self.keep(kind, lambda: keep.export(replay, kind, theme, shown))

    def say(self, title: str, body: str, colour: Any = None, seconds: float = 8.0) -> None:
        """A note on every page."""
        for client in self.server.get_clients().values():
            client.add_notification(title, body, auto_close_seconds=seconds, color=colour)

    def make_panel(self, client: viser.ClientHandle) -> Panel | None:
        """The panel of the driver; none before there is anything to drive."""
        ready = self.running is not None or self.replay is not None
        return Panel(self, client) if ready else None

    def _clicked(self, body: str, event: Any) -> None:
        self.do(lambda: self._click(body, event.client))

    def _click(self, body: str, client: viser.ClientHandle) -> None:
        if client is not self.drivers.client or self.running is None:
            return
        self.desk.choose_body(self.running.robot, body)
        if (panel := self.drivers.panel) is not None:
            panel.show_body(body)
        if self.push_on_click:
            self.push(client)

    def send(self, command: Command) -> None:
        """Give the physics process a command."""
        if self.physics is not None:
            self.physics.send(command)
