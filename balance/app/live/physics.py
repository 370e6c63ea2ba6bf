"""The physics process: simulates in real time, takes commands, and never waits for the page."""

from __future__ import annotations

import os
import signal
import tempfile
import time as clock
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from threadpoolctl import threadpool_limits

from balance.app.live.messages import (
    Changed,
    ChangeGains,
    ChangeKeys,
    Command,
    Conflict,
    Ended,
    Event,
    Pause,
    Push,
    Quit,
    Refused,
    Speed,
    Start,
    Started,
    Step,
)
from balance.app.live.session import Session, rehearse
from balance.app.live.shared_log import BUSY, FACTOR, MISSES, PAUSED, ROWS, SharedLog
from balance.errors import BalanceError
from balance.recordings.system_calls import raise_priority, real_time
from balance.recordings.verdict import Cause, aborted

NAP_S = 0.004  # between bursts of simulation: short for the eye, long for the scheduler
BURST_S = 0.02  # the longest time without looking for commands
LAG_S = 0.1  # a simulation further behind than this lets the lost time go
PRIORITY = -10  # before whatever draws: a browser's own is -8 if it may
WINDOW_S = 0.5  # over which the real-time factor is measured


def serve(connection: Connection, robot_folders: Sequence[Path] = ()) -> None:
    """Body of the physics process; it ends when told so, or when its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    raise_priority(PRIORITY)
    with threadpool_limits(1):
        Physics(connection, robot_folders).run()


class Physics:
    """A session, paced by the clock."""

    def __init__(self, connection: Connection, robot_folders: Sequence[Path] = ()) -> None:
        self._connection, self._robot_folders = connection, robot_folders
        self._session: Session | None = None
        self._shared: SharedLog | None = None
        self._paused, self._ended = False, False
        self._speed = 1.0
        self._steps = 0
        self._rehearsed: set[str] = set()
        self._wall, self._row = clock.perf_counter(), 0
        self._window = (self._wall, 0)

    def run(self) -> None:
        """Simulate what is due, listen, and rest, until the end."""
        try:
            while True:
                self._listen()
                self._simulate()
                self._measure()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return  # the parent is gone, or has said Quit
        finally:
            self._forget()

    def _listen(self) -> None:
        while self._connection.poll(NAP_S):
            command = self._connection.recv()
            if isinstance(command, Quit):
                raise EOFError
            self._obey(command)
            if self._session is not None and not self._paused:
                break

    def _obey(self, command: Command) -> None:
        try:
            match command:
                case Start():
                    self._start(command)
                case Pause():
                    self._paused, self._steps = command.paused, 0
                case Step():
                    self._steps += command.periods
                case Speed():
                    self._speed = command.factor
                case Push() | ChangeGains() | ChangeKeys():
                    self._change(command)
        except BalanceError as error:
            self._tell(Refused(str(error), isinstance(command, Start)))
        except Exception as error:  # noqa: BLE001  a bad experiment must not end the lab
            why = f"this cannot be set up: {type(error).__name__}: {error}"
            self._tell(Refused(why, isinstance(command, Start)))
        self._set_clock()

    def _start(self, command: Start) -> None:
        session = Session(command.config, self._robot_folders)
        if (law := session.config.controller.law) not in self._rehearsed:
            rehearse(session.config, self._robot_folders)
            self._rehearsed.add(law)
        handle, name = tempfile.mkstemp(prefix="balance-live-", suffix=".log")
        os.close(handle)
        self._forget()
        shared = SharedLog(Path(name), session.config, session.experiment.robot, writable=True)
        self._session, self._shared = session, shared
        self._ended, self._paused, self._steps = False, False, 0
        self._tell(Started(session.config, shared.path))

    def _forget(self) -> None:
        """Remove the file of the last session; who has mapped it keeps it."""
        if self._shared is not None:
            self._shared.path.unlink(missing_ok=True)

    def _change(self, command: Push | ChangeGains | ChangeKeys) -> None:
        if self._session is None or self._shared is None or self._ended:
            return
        if isinstance(command, Push):
            self._session.push(command.item, self._shared.log)
            self._tell(Changed(self._session.config))
        elif isinstance(command, ChangeKeys):
            self._session.change_keys(command.keys)
        else:
            self._session.change_gains(command.gains)

    def _simulate(self) -> None:
        if self._session is None or self._shared is None or self._ended:
            return
        log, began = self._shared.log, clock.perf_counter()
        with real_time():
            for _ in range(self._due(log.rows, began)):
                self._advance()
                self._steps -= self._paused
                if self._ended or clock.perf_counter() - began > BURST_S:
                    break
        self._shared.header[BUSY] += clock.perf_counter() - began

    def _due(self, rows: int, now: float) -> int:
        """Control periods to simulate now."""
        assert self._session is not None
        if self._paused:
            return self._steps
        period = self._session.config.control_period_s
        lag = (now - self._wall) * self._speed - (rows - self._row) * period
        if lag > LAG_S * self._speed + period:
            self._wall, self._row = now, rows
        return max(0, int(lag / period))

    def _advance(self) -> None:
        assert self._session is not None
        assert self._shared is not None
        log, before = self._shared.log, self._session.config
        experiment, row = self._session.experiment, log.rows
        conflict = experiment.conflict
        try:
            over = self._session.advance(log)
            end = experiment.end
        except Exception as error:  # noqa: BLE001  whatever a law raises must not end the lab
            over, end = True, aborted(Cause.ERROR, f"{type(error).__name__}: {error}")
        if self._session.config is not before:  # told before any row that feels it is published
            self._tell(Changed(self._session.config))
        if experiment.conflict != conflict:
            self._tell(Conflict(experiment.conflict))
        if log.rows > row:
            header = self._shared.header
            header[MISSES] += log.control_time[row] > self._session.config.control_period_s
            header[ROWS] = log.rows
        if over:
            self._ended = True
            self._tell(Ended(end))

    def _measure(self) -> None:
        if self._shared is None or self._session is None:
            return
        still = self._paused or self._ended
        self._shared.header[PAUSED] = still
        now, rows = clock.perf_counter(), self._shared.log.rows
        if now - self._window[0] >= WINDOW_S:
            simulated = (rows - self._window[1]) * self._session.config.control_period_s
            self._shared.header[FACTOR] = simulated / (now - self._window[0])
            self._window = (now, rows)

    def _set_clock(self) -> None:
        """Count from now on."""
        self._wall = clock.perf_counter()
        self._row = self._shared.log.rows if self._shared else 0
        self._window = (self._wall, self._row)

    def _tell(self, event: Event) -> None:
        self._connection.send(event)
