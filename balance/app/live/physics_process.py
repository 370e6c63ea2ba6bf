"""The page's end of the physics process: start it, talk to it, notice when it is gone."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from pathlib import Path

from balance.app.live.messages import Command, Event, Quit
from balance.app.live.physics import serve

PATIENCE_S = 3.0


class PhysicsProcess:
    """A fresh interpreter (not a fork, so it shares no lock and no GIL with the page)."""

    def __init__(self, robot_folders: Sequence[Path] = ()) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(
            target=serve, args=(other, tuple(robot_folders)), name="balance physics", daemon=True
        )
        self._process.start()
        other.close()  # now the process's end closes with the process

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.is_alive()

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def send(self, command: Command) -> None:
        """Give a command; in vain if the process has died, which :attr:`alive` tells."""
        try:
            self._connection.send(command)
        except OSError:
            return

    def events(self, timeout: float = 0.0) -> Iterator[Event]:
        """What it has said since the last call, waiting at most ``timeout`` s for the first."""
        try:
            while self._connection.poll(timeout):
                yield self._connection.recv()
                timeout = 0.0
        except (EOFError, OSError):
            return

    def stop(self) -> None:
        """End it, gently at first."""
        self.send(Quit())
        self._process.join(PATIENCE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(PATIENCE_S)
        self._connection.close()
