"""A live session without actions: pushes the robot, saves the run, begins anew, again and again.

Usage: live_session OUT JOURNAL PORT RUNS

Ends when RUNS runs were saved, those of earlier calls included.  What the lab calls saved goes to
JOURNAL, a line for each.  Lab, server and physics process are those of ``balance live``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import balance
from balance.app.live.lab import FRAME_S, Lab
from balance.app.live.messages import Push
from balance.app.live.server import LocalServer, open_server
from balance.errors import InputError

PUSH_AT, SAVE_AT = 200, 700  # control periods since the beginning of a session
PATIENCE_S = 30.0  # for a port that the system has not given back yet


class WatchedLab(Lab):
    """A lab that writes down what it says it has saved."""

    journal: Path
    saving = False

    def say(self, title: str, body: str, colour: Any = None, seconds: float = 8.0) -> None:
        """Note what became of a run; other notes go to the pages, of which there are none."""
        if title == "Run saved":
            with open(self.journal, "a", encoding="utf-8") as file:
                file.write(f"{Path(body).name}\n")
        if title in ("Run saved", "Run was not saved"):
            print(title, body, flush=True)
            self.saving, self.running = False, None
            self.restart()
        super().say(title, body, colour, seconds)


def drive(lab: WatchedLab, runs: int) -> None:
    """Do between two frames what a driver would."""
    pushed: object = None
    while len(saved(lab.journal)) < runs:
        lab.tick()
        time.sleep(FRAME_S)
        if lab.saving:
            continue
        if lab.alarm:
            print(lab.alarm, flush=True)
            lab.running, lab.alarm = None, ""
            lab.restart()
        elif lab.running is not None and lab.running.shared.rows >= PUSH_AT:
            if pushed is not lab.running:
                pushed = lab.running
                lab.send(Push(lab.settings.paper_push))
            elif lab.running.pushes and lab.running.shared.rows >= SAVE_AT:
                lab.saving = True
                lab.saver.save_run("session")


def saved(journal: Path) -> list[str]:
    """Names of the runs that were saved so far."""
    return journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []


def serve(port: int) -> LocalServer:
    """The server, on a port that the last call may have left a moment ago."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return open_server("127.0.0.1", port)
        except InputError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def main() -> None:
    out, journal, port, runs = sys.argv[1:]
    WatchedLab.journal = Path(journal)
    server = serve(int(port))
    lab = WatchedLab(server, balance.load_config("toro_side"), Path(out))
    try:
        drive(lab, int(runs))
    finally:
        lab.close()
        server.stop()


if __name__ == "__main__":
    main()
