"""Small things that several tests of the live lab need."""

from __future__ import annotations

from pathlib import Path

import balance
from balance.app.live.running import Snapshot
from balance.app.live.session import Session, repeatable
from balance.config import PushConfig
from balance.experiment import Experiment
from balance.recordings.log import Log
from balance.recordings.verdict import RunEnd


def short_recording(duration_s: float = 0.35) -> balance.Recording:
    """The paper's push, hit at 0.05 s."""
    overrides = {"duration_s": duration_s, "pushes.0.time_s": 0.05}
    return balance.run(balance.load_config("toro_side", overrides))


def snapshot(rows: int = 60) -> Snapshot:
    """A session that has just begun, pushed at 0.02 s."""
    overrides = {"duration_s": 0.5, "pushes.0.time_s": 0.02}
    config = balance.load_config("toro_side", overrides)
    experiment = Experiment(config)
    log = Log(config, experiment.robot)
    while log.rows < rows:
        experiment.advance(log)
    config = repeatable(config, rows)
    return Snapshot(config, log, rows, RunEnd(), 0.1, (), experiment.conflict)


class Scratch:
    """A session and a small log, without the process and the page around them."""

    def __init__(self, session: Session, seconds: float = 1.0) -> None:
        self.session = session
        short = session.config.model_copy(update={"duration_s": seconds})
        self.log = Log(short, session.experiment.robot)

    def advance(self, rows: int) -> Scratch:
        """Simulate some control periods."""
        for _ in range(rows):
            self.session.advance(self.log)
        return self

    def push(self, item: PushConfig) -> None:
        """Push from the next control period on."""
        self.session.push(item, self.log)

    def snapshot(self) -> Snapshot:
        """The session so far, as the page saves it."""
        config, rows = repeatable(self.session.config, self.log.rows), self.log.rows
        experiment = self.session.experiment
        return Snapshot(config, self.log, rows, experiment.end, 0.1, (), experiment.conflict)


def names_below(folder: Path) -> set[str]:
    """Names of everything right below a folder."""
    return {path.name for path in folder.iterdir()}
