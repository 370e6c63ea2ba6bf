"""Writes what the driver wants to keep, in the background, and says where it went."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from balance.app.live import keep
from balance.errors import BalanceError

if TYPE_CHECKING:
    from balance.app.live.lab import Lab


class Keeper:
    """One thread that writes; the simulation and the page go on meanwhile."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._worker = ThreadPoolExecutor(1, "balance-keep")

    def close(self) -> None:
        """Wait for what is being written."""
        self._worker.shutdown(wait=True)

    def save_run(self, name: str) -> None:
        """Write a result folder of the session since the last reset."""
        snapshot, results = self._lab.snapshot(), self._lab.results
        if snapshot is not None:
            self._keep("Run", lambda: keep.save_run(snapshot, results, name))

    def save_config(self, name: str) -> None:
        """Write the experiment that repeats the session since the last reset."""
        snapshot, results = self._lab.snapshot(), self._lab.results
        if snapshot is not None:
            self._keep("Config", lambda: keep.save_config(snapshot, results, name))

    def export(self, kind: str) -> None:
        """Write the replay as a film or a page."""
        replay, theatre = self._lab.replay, self._lab.theatre
        if replay is not None:
            theme, shown = theatre.stage.theme, dict(theatre.shown)
            self._keep(kind, lambda: keep.export(replay, kind, theme, shown))

    def _keep(self, what: str, write: Callable[[], Path]) -> None:
        lab = self._lab

        def work() -> None:
            try:
                path = write()
            except BalanceError as error:
                self._failed(what, str(error))
            except Exception as error:  # noqa: BLE001  say so, and go on
                self._failed(what, f"{type(error).__name__}: {error}")
            else:
                lab.do(lambda: self._kept(what, path))

        lab.say(f"Saving: {what.lower()}", "This takes a moment.", "blue", 3.0)
        self._worker.submit(work)

    def _failed(self, what: str, why: str) -> None:
        self._lab.do(lambda: self._lab.say(f"{what} was not saved", why, "red"))

    def _kept(self, what: str, path: Path) -> None:
        self._lab.say(f"{what} saved", str(path), "green")
        if (panel := self._lab.drivers.panel) is not None:
            panel.show_kept(what, self._lab.public(str(path)))
